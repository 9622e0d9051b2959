//! Prices that the user gives: files of prices and discounts.

use dunnage_planner::catalog::Region;
use dunnage_planner::catalog::prices::{
    Discount, MAX_PRICE_ERRORS, apply_discounts, apply_price_file,
};
use dunnage_planner::instance_type::{InstanceType, PriceSource};

use crate::default_types;

fn price(types: &[InstanceType], name: &str, zone: &str, kind: &str) -> (f64, PriceSource) {
    let one = types.iter().find(|t| t.name == name).expect("the type is sold");
    let offering = one.offerings.iter().find(|o| o.zone == zone && o.capacity_type == kind);
    let offering = offering.expect("the offering is there");
    (offering.price, offering.price_source)
}

const CSV: &str = "\
# our prices
region,instanceType,zone,capacityType,price
us-east-1,m5.large,,on-demand,0.08
us-east-1,m5.large,us-east-1b,on-demand,0.07
,m5.large,,spot,0.02
eu-west-1,m5.large,,on-demand,0.01
us-east-1,m99.large,,on-demand,1
us-east-1,m5.xlarge,us-east-1z,on-demand,1
";

const JSON: &str = r#"{"prices": [
    {"region": "us-east-1", "instanceType": "m5.large", "capacityType": "on-demand", "price": 0.08},
    {"region": "us-east-1", "instanceType": "m5.large", "zone": "us-east-1b", "capacityType": "on-demand", "price": "0.07"},
    {"instanceType": "m5.large", "zone": null, "capacityType": "spot", "price": 2e-2}
]}"#;

#[test]
fn a_price_file_sets_prices_and_marks_them() {
    let mut types = default_types(Region::UsEast1);
    let before = types.clone();
    let report = apply_price_file(&mut types, CSV).expect("a valid file");
    assert_eq!((report.offerings, report.unmatched_rows), (10, vec![6, 7, 8]));
    let user = PriceSource::User;
    assert_eq!(price(&types, "m5.large", "us-east-1a", "on-demand"), (0.08, user));
    assert_eq!(price(&types, "m5.large", "us-east-1b", "on-demand"), (0.07, user));
    assert_eq!(price(&types, "m5.large", "us-east-1b", "spot"), (0.02, user));
    assert_eq!(price(&types, "m5.xlarge", "us-east-1a", "on-demand").1, PriceSource::List);
    let from_csv = types.clone();
    let mut types = before;
    let report = apply_price_file(&mut types, JSON).expect("a valid file");
    assert_eq!((report.offerings, report.unmatched_rows.len()), (10, 0));
    assert_eq!(types, from_csv);
}

#[test]
fn a_price_makes_an_unpriced_offering_available_and_no_other() {
    let mut types = default_types(Region::UsEast1);
    let is_unpriced =
        |t: &&InstanceType| t.offerings.iter().any(|o| o.price_source == PriceSource::Missing);
    let name = types.iter().find(is_unpriced).expect("some type has no price").name.clone();
    let rows =
        format!("instanceType,capacityType,price\n{name},on-demand,5\na1.large,on-demand,0.01\n");
    let report = apply_price_file(&mut types, &rows).expect("a valid file");
    assert_eq!(report.unmatched_rows, Vec::<usize>::new());
    for one in types.iter().filter(|t| t.name == name || t.name == "a1.large") {
        for offering in one.offerings.iter().filter(|o| o.capacity_type == "on-demand") {
            assert_eq!(offering.price_source, PriceSource::User);
            assert_eq!(offering.available, one.name == name, "{}", one.name);
        }
    }
}

#[test]
fn every_bad_row_is_reported_and_nothing_is_changed() {
    let mut types = default_types(Region::UsEast1);
    let before = types.clone();
    let csv = "instanceType,capacityType,price\n\
        m5.large,ondemand,0.1\n\
        ,spot,-1\n\
        m5.large,spot,1e999\n\
        m5.large,spot\n\
        m5.large,spot,abc\n";
    let errors = apply_price_file(&mut types, csv).expect_err("five bad rows");
    let shown: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(shown.len(), 6);
    for (at, want) in [
        (0, "price file row 2: capacityType `ondemand` must be on-demand, spot or reserved"),
        (1, "price file row 3: instanceType `` must name an instance type"),
        (2, "price file row 3: price `-1` is negative"),
        (3, "price file row 4: price `1e999` is too large"),
        (4, "price file row 5: row `m5.large,spot` has 2 cells, the header 3"),
        (5, "price file row 6: price `abc` is not a decimal number"),
    ] {
        assert!(shown[at].starts_with(want), "{}", shown[at]);
    }
    for (text, row, want) in [
        ("", 0, "has no rows"),
        ("a,b\n", 1, "is no column"),
        ("price,price\n", 1, "stands there twice"),
        ("[1]", 1, "must be an object"),
        ("{}", 0, "must be a list of rows"),
        ("[{", 0, "is not valid JSON"),
        (r#"[{"instanceType":"a","capacityType":"spot","price":1,"cost":2}]"#, 1, "is no field"),
        (r#"[{"instanceType":"a","capacityType":"spot","price":null}]"#, 1, "is not a decimal"),
        (r#"[{"instanceType":"a","capacityType":"spot","price":[1]}]"#, 1, "is not a decimal"),
    ] {
        let errors = apply_price_file(&mut types, text).expect_err(text);
        assert_eq!(errors[0].row, row, "{text}");
        assert!(errors[0].why.starts_with(want), "{text}: {}", errors[0]);
    }
    let many = "instanceType,capacityType,price\n".to_owned() + &"x,y,z\n".repeat(1000);
    let errors = apply_price_file(&mut types, &many).expect_err("a thousand bad rows");
    assert_eq!(errors.len(), MAX_PRICE_ERRORS);
    assert_eq!(types, before);
}

fn discount(capacity_type: Option<&str>, family: Option<&str>, factor: f64) -> Discount {
    let own = |text: Option<&str>| text.map(str::to_owned);
    Discount { capacity_type: own(capacity_type), family: own(family), factor }
}

#[test]
fn the_discount_that_says_most_applies() {
    let mut types = default_types(Region::UsEast1);
    let list =
        |name: &str| price(&default_types(Region::UsEast1), name, "us-east-1a", "on-demand").0;
    let spot = price(&types, "m5.large", "us-east-1a", "spot");
    let discounts = [
        discount(Some("on-demand"), None, 0.9),
        discount(None, Some("c5"), 0.5),
        discount(Some("on-demand"), Some("r5"), 0.25),
        discount(None, Some("r5"), 0.75),
    ];
    let changed = apply_discounts(&mut types, &discounts).expect("valid discounts");
    assert!(changed > 5000, "{changed}");
    let user = PriceSource::User;
    let now = |name: &str, kind: &str| price(&types, name, "us-east-1a", kind);
    assert_eq!(now("m5.large", "on-demand"), (0.0864, user));
    assert_eq!(now("m5.large", "spot"), spot);
    assert_eq!(now("c5.large", "on-demand"), (0.0425, user));
    assert_eq!(now("c5.large", "spot").1, user);
    assert_eq!(now("r5.large", "on-demand"), (list("r5.large") * 0.25, user));
    let unknown = types.iter().flat_map(|t| &t.offerings);
    let unknown = unknown.filter(|o| o.price_source == PriceSource::Missing);
    assert!(unknown.clone().count() > 0 && unknown.clone().all(|o| !o.available));
}

#[test]
fn azure_families_are_letters_or_series() {
    let mut types = default_types(Region::EastUs);
    let discounts = [discount(None, Some("Ds_v5"), 0.5), discount(None, Some("E"), 0.8)];
    apply_discounts(&mut types, &discounts).expect("valid discounts");
    let source = |name: &str| price(&types, name, "eastus-1", "on-demand").1;
    assert_eq!(source("Standard_D4s_v5"), PriceSource::User);
    assert_eq!(source("Standard_D4as_v5"), PriceSource::List);
    assert_eq!(source("Standard_E4as_v5"), PriceSource::User);
}

#[test]
fn bad_discounts_are_refused() {
    let mut types = default_types(Region::EuWest1);
    let before = types.clone();
    for (discounts, want) in [
        (vec![discount(None, None, 0.9), discount(None, None, 0.8)], "discounts[1].family"),
        (vec![discount(None, None, 90.0)], "discounts[0].factor: `90` must be from 0 to 10"),
        (vec![discount(None, None, f64::NAN)], "discounts[0].factor: `NaN`"),
        (vec![discount(None, None, -0.1)], "discounts[0].factor: `-0.1`"),
        (vec![discount(Some("ondemand"), None, 0.9)], "discounts[0].capacityType: `ondemand`"),
        (vec![discount(None, Some(""), 0.9)], "discounts[0].family: `` must not be empty"),
    ] {
        let error = apply_discounts(&mut types, &discounts).expect_err(want);
        assert!(error.to_string().starts_with(want), "{error}");
    }
    assert_eq!(types, before);
    let text = r#"[{"capacityType": "on-demand", "factor": 0.9}]"#;
    let read: Vec<Discount> = serde_json::from_str(text).expect("valid discounts");
    assert_eq!(read, [discount(Some("on-demand"), None, 0.9)]);
    assert!(serde_json::from_str::<Discount>(r#"{"factor": 1, "famly": "m5"}"#).is_err());
}
