//! Which instance types each NodePool has: the input's own, or the built-in catalog's for the
//! pool's node class and region; then the user's prices and discounts.

use std::collections::{BTreeMap, BTreeSet};

use dunnage_api::NodePool;
use dunnage_api::labels::{REGION, ZONE};

use crate::catalog::prices::{Discount, apply_discounts, apply_price_file, families_of};
use crate::catalog::{
    CatalogError, NodeSettings, Provider, Region, instance_types, region_from, regions,
};
use crate::error::{ErrorCode, Origin, PlanError, Warning, quoted};
use crate::instance_type::InstanceType;
use crate::lower::TypeLists;
use crate::nearest::hint;
use crate::options::Options;
use crate::snapshot::{Snapshot, Sourced};

/// Labels that AWS uses for zone ids.
const ZONE_ID: &str = "topology.k8s.aws/zone-id";

/// The types of every pool of the Snapshot.
pub(super) fn type_lists(
    snapshot: &Snapshot,
    options: &Options,
    warnings: &mut Vec<Warning>,
) -> Result<TypeLists, Vec<PlanError>> {
    let mut lists = match &snapshot.instance_types {
        Some(types) => TypeLists::shared(types.clone(), snapshot),
        None => from_catalog(snapshot, options, warnings)?,
    };
    reprice(&mut lists.lists, options, warnings)?;
    close_zones(&mut lists.lists, &options.without_zones)?;
    Ok(lists)
}

fn from_catalog(
    snapshot: &Snapshot,
    options: &Options,
    warnings: &mut Vec<Warning>,
) -> Result<TypeLists, Vec<PlanError>> {
    let (mut lists, mut errors) = (TypeLists::default(), Vec::new());
    let mut known: BTreeMap<(String, String, String), Option<usize>> = BTreeMap::new();
    let mut regions: BTreeMap<Provider, Region> = BTreeMap::new();
    for pool in &snapshot.node_pools {
        let class = &pool.spec.template.spec.node_class_ref;
        let name = pool.metadata.name.clone().unwrap_or_default();
        let Some(provider) = Provider::of_class_kind(&class.kind) else {
            warnings.push(Warning::new(
                "NoCatalog",
                format!("NodePool {name}"),
                format!(
                    "node classes of kind `{}` are not in the catalog: give `instanceTypes`, or \
                     the pool opens no node",
                    class.kind
                ),
            ));
            continue;
        };
        let region = *regions
            .entry(provider)
            .or_insert_with(|| region(snapshot, options, provider, warnings));
        let id = (class.group.clone(), class.kind.clone(), class.name.clone());
        let list = known.entry(id).or_insert_with(|| {
            match class_types(snapshot, pool, provider, region) {
                Ok(types) => {
                    lists.lists.push(types);
                    Some(lists.lists.len() - 1)
                }
                Err(error) => {
                    errors.push(*error);
                    None
                }
            }
        });
        if let Some(list) = *list {
            lists.of_pool.insert(name, list);
        }
    }
    if errors.is_empty() { Ok(lists) } else { Err(errors) }
}

fn class_types(
    snapshot: &Snapshot,
    pool: &Sourced<NodePool>,
    provider: Provider,
    region: Region,
) -> Result<Vec<InstanceType>, Box<PlanError>> {
    let asked = &pool.spec.template.spec.node_class_ref;
    let class = snapshot.node_class(&asked.group, &asked.kind, &asked.name);
    let origin = class.map_or_else(|| pool.origin.clone(), |class| class.origin.clone());
    let refuse = |error: CatalogError| Box::new(catalog_error(error, &origin));
    let mut settings = match class {
        None => NodeSettings::default_of(provider),
        Some(class) => {
            let mut object = serde_json::to_value(&class.object).map_err(|error| {
                let text = error.to_string();
                Box::new(PlanError::new(ErrorCode::InvalidValue, origin.clone(), text))
            })?;
            if let Some(fields) = object.as_object_mut() {
                fields.insert("kind".to_owned(), class.kind().into());
            }
            NodeSettings::from_node_class(&object).map_err(refuse)?
        }
    };
    let own = &snapshot.settings;
    match &mut settings {
        NodeSettings::Aws(aws) => {
            aws.vm_memory_overhead_percent = own.vm_memory_overhead_percent.as_f64();
            aws.reserved_enis = own.reserved_enis;
        }
        NodeSettings::Azure(azure) => {
            azure.vm_memory_overhead_percent = own.vm_memory_overhead_percent.as_f64();
            azure.cluster.clone_from(&own.cluster_name);
        }
    }
    instance_types(region, &settings).map_err(refuse)
}

fn catalog_error(error: CatalogError, origin: &Origin) -> PlanError {
    match error {
        CatalogError::Class { path, value, why } => PlanError::at(
            ErrorCode::InvalidValue,
            origin.clone(),
            &path,
            format!("`{value}` {why}"),
        )
        .with_value(&value),
        other => PlanError::new(ErrorCode::InvalidValue, origin.clone(), other.to_string()),
    }
}

/// The provider's region: asked for, named by the objects, set, or the default.
fn region(
    snapshot: &Snapshot,
    options: &Options,
    provider: Provider,
    warnings: &mut Vec<Warning>,
) -> Region {
    let of_provider = |region: &Region| region.provider() == provider;
    if let Some(region) = options.region.filter(of_provider) {
        return region;
    }
    let set = snapshot.settings.region.as_deref();
    let set_region = set.and_then(region_from).filter(of_provider);
    let names: Vec<&str> = regions().iter().filter(|r| of_provider(r)).map(|r| r.name()).collect();
    let unknown_set = set.filter(|_| set_region.is_none());
    for (asked, name) in
        [("--catalog", options.region.map(Region::name)), ("settings.region", unknown_set)]
    {
        let Some(name) = name else { continue };
        warnings.push(Warning::new(
            "RegionUnused",
            asked,
            format!(
                "`{}` is no region of the catalog for these node classes, so it does not count: \
                 known are {}",
                quoted(name),
                names.join(", ")
            ),
        ));
    }
    let (region, is_default) = match region_of_objects(snapshot, provider, warnings) {
        Some(region) => {
            warnings.extend(set_region.filter(|set| *set != region).map(|set| {
                let message = format!(
                    "`{}` does not count, since the objects name {}: choose it with --catalog",
                    set.name(),
                    region.name()
                );
                Warning::new("RegionUnused", "settings.region", message)
            }));
            (region, false)
        }
        None => (set_region.unwrap_or(provider.default_region()), set_region.is_none()),
    };
    warnings.extend(unknown_places(snapshot, provider, region, &names.join(", ")));
    if is_default {
        warnings.push(Warning::new(
            "DefaultRegion",
            "input",
            format!(
                "the input names no region of the catalog: prices and types are those of {}; \
                 choose one with --catalog",
                region.name()
            ),
        ));
    }
    region
}

/// The region that the objects name, the surest kind of place first.
fn region_of_objects(
    snapshot: &Snapshot,
    provider: Provider,
    warnings: &mut Vec<Warning>,
) -> Option<Region> {
    let of_provider = |region: &Region| region.provider() == provider;
    for places in places(snapshot) {
        let named: BTreeSet<Region> =
            places.iter().filter_map(|place| region_from(place)).filter(of_provider).collect();
        let Some(first) = named.first() else { continue };
        if named.len() > 1 {
            let names: Vec<&str> = named.iter().map(|region| region.name()).collect();
            warnings.push(Warning::new(
                "SeveralRegions",
                "input",
                format!(
                    "the input names regions {}: prices and types are those of {}; choose one \
                     with --catalog",
                    names.join(", "),
                    first.name()
                ),
            ));
        }
        return Some(*first);
    }
    None
}

/// Most places that one warning names. LIMIT: a dump can hold nodes of every region there is.
const MAX_PLACES: usize = 5;

/// Places of the provider that the catalog does not know: their prices would be another
/// region's, and zones of theirs leave pods without a node.
fn unknown_places(
    snapshot: &Snapshot,
    provider: Provider,
    region: Region,
    known: &str,
) -> Option<Warning> {
    let all = places(snapshot);
    let named = all.iter().flatten().map(|place| match place.strip_prefix("aws:///") {
        Some(rest) => rest.split('/').next().unwrap_or_default(),
        None => place.as_str(),
    });
    let unknown: BTreeSet<&str> = named
        .filter(|place| region_from(place).is_none() && looks_like_place_of(provider, place))
        .collect();
    let mut shown: Vec<String> =
        unknown.iter().take(MAX_PLACES).map(|place| format!("`{}`", quoted(place))).collect();
    if unknown.len() > MAX_PLACES {
        shown.push(format!("{} more", unknown.len() - MAX_PLACES));
    }
    (!shown.is_empty()).then(|| {
        let message = format!(
            "the catalog does not have {}: prices and types are those of {}; known are {known}, and \
             `instanceTypes` takes those of any other region",
            shown.join(", "),
            region.name()
        );
        Warning::new("UnknownRegion", "input", message)
    })
}

/// True for a name in the form of the provider's regions, zones or zone ids: `ap-south-1b`,
/// `aps1-az1`; `eastus2`, `eastus2-1`.
fn looks_like_place_of(provider: Provider, place: &str) -> bool {
    let is_word = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase());
    match provider {
        Provider::Aws => {
            let parts: Vec<&str> = place.split('-').collect();
            let is_numbered = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
            match parts.as_slice() {
                [short, zone] => {
                    short.ends_with(|c: char| c.is_ascii_digit()) && zone.starts_with("az")
                }
                [area, side @ .., number] if !side.is_empty() => {
                    area.len() == 2 && is_word(area) && is_word(side[0]) && is_numbered(number)
                }
                _ => false,
            }
        }
        Provider::Azure => {
            let (name, zone) = place.split_once('-').unwrap_or((place, "1"));
            let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
            letters.len() > 4 && is_word(letters) && matches!(zone, "1" | "2" | "3")
        }
    }
}

/// Texts that may name a region, the surest kind first: what pools ask for, what their nodes
/// are labelled, where nodes are, what pods ask for.
fn places(snapshot: &Snapshot) -> [Vec<String>; 4] {
    let is_place = |key: &str| key == ZONE || key == REGION || key == ZONE_ID;
    let mut asked = Vec::new();
    let mut labelled = Vec::new();
    for pool in &snapshot.node_pools {
        let template = &pool.spec.template;
        let needs = template.spec.requirements.iter();
        let needs = needs.filter(|r| is_place(&r.key) && r.operator == "In");
        asked.extend(needs.flat_map(|r| r.values.iter().cloned()));
        let labels = serde_json::to_value(&template.metadata).unwrap_or_default();
        let labels = labels.get("labels").and_then(serde_json::Value::as_object).cloned();
        for (key, value) in labels.into_iter().flatten() {
            if is_place(&key) {
                labelled.extend(value.as_str().map(str::to_owned));
            }
        }
    }
    let mut stood = Vec::new();
    for node in &snapshot.nodes {
        let labels = node.metadata.labels.iter().flatten();
        stood.extend(labels.filter(|(key, _)| is_place(key)).map(|(_, value)| value.clone()));
        stood.extend(node.spec.as_ref().and_then(|spec| spec.provider_id.clone()));
    }
    for claim in &snapshot.node_claims {
        let labels = claim.metadata.labels.iter().flatten();
        stood.extend(labels.filter(|(key, _)| is_place(key)).map(|(_, value)| value.clone()));
    }
    let mut wanted = Vec::new();
    for pod in &snapshot.pods {
        let selector = pod.spec.iter().filter_map(|spec| spec.node_selector.as_ref()).flatten();
        wanted.extend(selector.filter(|(key, _)| is_place(key)).map(|(_, value)| value.clone()));
    }
    [asked, labelled, stood, wanted]
}

/// Applies the price file, then the discounts.
/// Makes every offering in the zones unavailable.
fn close_zones(lists: &mut [Vec<InstanceType>], zones: &[String]) -> Result<(), Vec<PlanError>> {
    for zone in zones {
        let offerings = || lists.iter().flatten().flat_map(|ty| &ty.offerings);
        if !offerings().any(|offering| offering.zone == *zone) {
            let known: BTreeSet<&str> = offerings().map(|own| own.zone.as_str()).collect();
            let message =
                format!("no machine is sold in zone `{}`{}", quoted(zone), hint(zone, known));
            let origin = Origin { file: "without-zone".into(), ..Origin::default() };
            let error = PlanError::new(ErrorCode::UnknownName, origin, message);
            return Err(vec![error.with_value(zone)]);
        }
        let all = lists.iter_mut().flatten().flat_map(|ty| &mut ty.offerings);
        all.filter(|own| own.zone == *zone).for_each(|own| own.available = false);
    }
    Ok(())
}

fn reprice(
    lists: &mut [Vec<InstanceType>],
    options: &Options,
    warnings: &mut Vec<Warning>,
) -> Result<(), Vec<PlanError>> {
    let named = |name: &str| Origin { file: name.into(), ..Origin::default() };
    let mut priced = 0;
    for list in &mut *lists {
        if let Some(file) = &options.prices {
            let report = apply_price_file(list, &file.text).map_err(|errors| {
                let errors = errors.into_iter();
                errors
                    .map(|e| {
                        let origin = Origin { line: e.row as u32, ..named(&file.name) };
                        PlanError::new(ErrorCode::InvalidValue, origin, e.to_string())
                            .with_value(&e.value)
                    })
                    .collect::<Vec<_>>()
            })?;
            priced += report.offerings;
        }
        apply_discounts(list, &options.discounts).map_err(|e| {
            let origin = named("--discount");
            vec![
                PlanError::new(ErrorCode::InvalidValue, origin, e.to_string()).with_value(&e.value),
            ]
        })?;
    }
    if let Some(file) = options.prices.as_ref().filter(|_| priced == 0) {
        warnings.push(Warning::new(
            "PriceFileUnused",
            file.name.as_str(),
            "no row of the price file names an offering of this plan",
        ));
    }
    let is_used = |d: &&Discount| lists.iter().flatten().any(|one| d.matches(one));
    for unused in options.discounts.iter().filter(|d| !is_used(d)) {
        let families = lists.iter().flatten().flat_map(families_of);
        let hint = unused.family.as_deref().map_or_else(String::new, |own| hint(own, families));
        warnings.push(Warning::new(
            "DiscountUnused",
            format!("discount {unused}"),
            format!("no offering of this plan is of that family and capacity type{hint}"),
        ));
    }
    Ok(())
}
