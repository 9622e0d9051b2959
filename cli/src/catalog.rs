//! `catalog list` and `catalog show`: what the built-in catalog knows, and how well.

use std::fmt::Write;

use dunnage_planner::catalog::{
    NodeSettings, Note, Region, instance_types_where, notes, regions, why_absent,
};
use dunnage_planner::door::region;
use dunnage_planner::error::PlanError;
use dunnage_planner::explain::allocatable;
use dunnage_planner::instance_type::{InstanceType, Offering, PriceSource};
use serde::Serialize;

use crate::args::Form;
use crate::table::Table;
use crate::{Failed, input, output, plan_table};

/// Everything that is known of one type.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    region: &'a str,
    #[serde(flatten)]
    instance_type: &'a InstanceType,
    allocatable: std::collections::BTreeMap<String, String>,
    notes: Vec<ShownNote>,
}

/// A value that is no fact of the provider.
#[derive(Serialize)]
struct ShownNote {
    subject: &'static str,
    value: String,
    origin: String,
}

/// Types of a region, as nodes of a class that says nothing would have them.
fn types(
    region: Region,
    is_wanted: impl FnMut(&str) -> bool,
) -> Result<Vec<InstanceType>, Vec<PlanError>> {
    let settings = NodeSettings::default_of(region.provider());
    instance_types_where(region, &settings, is_wanted)
        .map_err(|error| input::usage("--region", region.name(), error.to_string()))
}

/// Prints the types of a region.
pub fn list(
    region_name: &str,
    arch: Option<&str>,
    prefix: Option<&str>,
    form: Form,
) -> Result<(), Failed> {
    let region = region(region_name, "--region")?;
    let mut types = types(region, |name| prefix.is_none_or(|prefix| name.starts_with(prefix)))?;
    if let Some(arch) = arch {
        if !["amd64", "arm64"].contains(&arch) {
            let why = format!("`{arch}` is no architecture of the catalog: use amd64 or arm64");
            return Err(input::usage("--arch", arch, why).into());
        }
        types.retain(|ty| label(ty, "kubernetes.io/arch").is_some_and(|values| values == arch));
    }
    output::print(form, &types, |width| {
        let mut table =
            Table::new(&["TYPE", "ARCH", "CPU", "MEMORY", "ON-DEMAND", "SPOT", "PRICE", "ZONES"]);
        for ty in &types {
            let best = |kind: &str| {
                cheapest(ty, kind).map_or_else(String::new, |o| plan_table::usd(o.price))
            };
            let mut zones: Vec<&str> = ty.offerings.iter().map(|o| o.zone.as_str()).collect();
            zones.sort_unstable();
            zones.dedup();
            table.row(vec![
                ty.name.clone(),
                label(ty, "kubernetes.io/arch").unwrap_or_default(),
                amount(ty, "cpu"),
                amount(ty, "memory"),
                best("on-demand"),
                best("spot"),
                cheapest(ty, "on-demand").map_or("", |o| source(o.price_source)).to_owned(),
                zones.join(" "),
            ]);
        }
        table.text(width)
    })?;
    Ok(())
}

/// Prints one type.
pub fn show(name: &str, region_name: Option<&str>, form: Form) -> Result<(), Failed> {
    let places = match region_name {
        Some(asked) => vec![region(asked, "--region")?],
        None => regions().to_vec(),
    };
    for region in places {
        let found = types(region, |known| known == name)?;
        if let Some(ty) = found.first() {
            let shown = Shown {
                region: region.name(),
                instance_type: ty,
                allocatable: allocatable(ty),
                notes: notes(region, name).into_iter().map(shown_note).collect(),
            };
            output::print(form, &shown, |width| show_text(&shown, width))?;
            return Ok(());
        }
    }
    let asked = region_name.map(|asked| region(asked, "--region")).transpose()?;
    let why = why_absent(asked, name);
    Err(input::usage("catalog show", name, format!("instance type `{name}` {why}")).into())
}

fn shown_note(note: Note) -> ShownNote {
    ShownNote { subject: note.subject, value: note.value, origin: note.origin }
}

fn show_text(shown: &Shown, width: usize) -> String {
    let ty = shown.instance_type;
    let mut out = format!("{} in {}\n\n", ty.name, shown.region);
    let mut sizes = Table::new(&["RESOURCE", "CAPACITY", "OVERHEAD", "ALLOCATABLE"]);
    for (name, quantity) in &ty.capacity {
        sizes.row(vec![
            name.clone(),
            quantity.0.clone(),
            ty.overhead.get(name).map_or_else(String::new, |q| q.0.clone()),
            shown.allocatable.get(name).cloned().unwrap_or_default(),
        ]);
    }
    let _ = writeln!(out, "{}", sizes.text(width));
    let mut offerings = Table::new(&["ZONE", "CAPACITY", "USD/H", "PRICE", "AVAILABLE"]);
    for offering in &ty.offerings {
        offerings.row(vec![
            offering.zone.clone(),
            offering.capacity_type.clone(),
            plan_table::usd(offering.price),
            source(offering.price_source).to_owned(),
            if offering.available { "yes" } else { "no" }.to_owned(),
        ]);
    }
    let _ = writeln!(out, "{}", offerings.text(width));
    let mut labels = Table::new(&["LABEL", "VALUE"]);
    for requirement in &ty.requirements {
        let value = match requirement.operator.as_str() {
            "In" => requirement.values.join(" "),
            operator => format!("{operator} {}", requirement.values.join(" ")),
        };
        labels.row(vec![requirement.key.clone(), value]);
    }
    let _ = write!(out, "{}", labels.text(width));
    if !shown.notes.is_empty() {
        let mut table = Table::new(&["NOT A FACT", "VALUE", "FROM"]);
        for note in &shown.notes {
            table.row(vec![note.subject.to_owned(), note.value.clone(), note.origin.clone()]);
        }
        let _ = write!(out, "\n{}", table.text(width));
    }
    out
}

fn cheapest<'a>(ty: &'a InstanceType, capacity_type: &str) -> Option<&'a Offering> {
    let sold = ty.offerings.iter().filter(|o| o.available && o.capacity_type == capacity_type);
    sold.min_by(|a, b| a.price.total_cmp(&b.price))
}

fn label(ty: &InstanceType, key: &str) -> Option<String> {
    ty.requirements.iter().find(|r| r.key == key).map(|r| r.values.join(" "))
}

fn amount(ty: &InstanceType, resource: &str) -> String {
    ty.capacity.get(resource).map_or_else(String::new, |q| q.0.clone())
}

fn source(source: PriceSource) -> &'static str {
    match source {
        PriceSource::List => "list",
        PriceSource::OtherRegion => "other region",
        PriceSource::EstimatedSpot => "estimated",
        PriceSource::Synthetic => "by rule",
        PriceSource::User => "yours",
        PriceSource::Missing => "none",
    }
}
