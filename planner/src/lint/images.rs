//! Images of EC2 nodes: of another family than the class says, past their end, not pinned, old.
//!
//! What an image is follows from what the input shows: an alias, a name, the path of an SSM
//! parameter, or the name that the status of the class gives for an id. A bare id tells nothing.

use dunnage_api::EC2NodeClass;
use dunnage_api::ec2_node_class::{AMISelectorTerm, family_of_alias};

use super::Findings;
use super::world::World;
use crate::snapshot::NodeClass;

/// First minor version of Kubernetes 1 for which there is no AL2 image.
const FIRST_WITHOUT_AL2: u32 = 33;

/// Age from which an image is old: fixes of a quarter are missing.
const OLD_DAYS: i64 = 90;

const DAY_SECS: i64 = 24 * 3600;

/// What the input shows of an image.
pub(super) struct Image {
    /// Where it stands: a field of the class, with what is written there.
    pub(super) shown: String,
    /// Its family.
    family: Option<&'static str>,
    /// Minor version of Kubernetes 1 that it is for.
    minor: Option<u32>,
    /// The day on which it was made, as `20260131`.
    date: Option<String>,
    /// Its architecture, as nodes are labelled.
    pub(super) arch: Option<&'static str>,
}

impl Image {
    /// Reads an alias, a name or a path.
    fn of(field: &str, text: &str, family: Option<&'static str>) -> Self {
        let parts = || text.split(['-', '/', '@']);
        let date = parts().find_map(|part| {
            let digits = part.strip_prefix('v')?;
            let is_day = digits.len() == 8 && digits.bytes().all(|b| b.is_ascii_digit());
            is_day.then(|| digits.to_owned())
        });
        let minor = parts().find_map(minor_of);
        let shown = format!("`{field}: {text}`");
        Self { shown, family, minor, date, arch: arch_of(text) }
    }
}

/// Architecture by the name of an image or the path of a parameter: AL2 names arm64 only.
fn arch_of(text: &str) -> Option<&'static str> {
    let parts: Vec<&str> = text.split(['-', '/', '@']).collect();
    let is_al2 = || family_of_name(text).or_else(|| family_of_path(text)) == Some("AL2");
    match () {
        () if parts.iter().any(|part| matches!(*part, "arm64" | "aarch64")) => Some("arm64"),
        () if parts.iter().any(|part| matches!(*part, "x86_64" | "amd64")) => Some("amd64"),
        () if is_al2() => Some("amd64"),
        () => None,
    }
}

/// `33` of `1.33`.
fn minor_of(version: &str) -> Option<u32> {
    version.strip_prefix("1.")?.parse().ok()
}

/// Family by the name of an image.
fn family_of_name(name: &str) -> Option<&'static str> {
    const AL2: [&str; 3] = ["amazon-eks-node-1.", "amazon-eks-arm64-node-", "amazon-eks-gpu-node-"];
    if AL2.iter().any(|start| name.starts_with(start)) {
        return Some("AL2");
    }
    family_of_text(
        name,
        &[("amazon-eks-node-al2023-", "AL2023"), ("bottlerocket-", "Bottlerocket")],
    )
}

/// Family by the path of an SSM parameter.
fn family_of_path(path: &str) -> Option<&'static str> {
    family_of_text(
        path,
        &[
            ("/amazon-linux-2023/", "AL2023"),
            ("/amazon-linux-2/", "AL2"),
            ("/amazon-linux-2-arm64/", "AL2"),
            ("/amazon-linux-2-gpu/", "AL2"),
            ("/bottlerocket/", "Bottlerocket"),
        ],
    )
}

fn family_of_text(text: &str, marks: &[(&str, &'static str)]) -> Option<&'static str> {
    const WINDOWS: [(&str, &str); 3] = [
        ("Windows_Server-2019", "Windows2019"),
        ("Windows_Server-2022", "Windows2022"),
        ("Windows_Server-2025", "Windows2025"),
    ];
    let found = marks.iter().chain(&WINDOWS).find(|(mark, _)| text.contains(mark));
    found.map(|(_, family)| *family)
}

/// Every image that the class names, by its terms and by its status.
pub(super) fn images(class: &EC2NodeClass) -> Vec<Image> {
    let mut all = Vec::new();
    for (i, term) in class.spec.ami_selector_terms.iter().enumerate() {
        let field = |name: &str| format!("spec.amiSelectorTerms[{i}].{name}");
        if let Some(alias) = &term.alias {
            all.push(Image::of(&field("alias"), alias, family_of_alias(alias)));
        }
        if let Some(name) = &term.name {
            all.push(Image::of(&field("name"), name, family_of_name(name)));
        }
        if let Some(path) = &term.ssm_parameter {
            all.push(Image::of(&field("ssmParameter"), path, family_of_path(path)));
        }
    }
    for image in class.status.iter().flat_map(|status| &status.amis) {
        if let Some(name) = &image.name {
            let field = format!("status.amis[{}].name", image.id);
            all.push(Image::of(&field, name, family_of_name(name)));
        }
    }
    all
}

/// The classes of AWS with their names.
pub(super) fn classes<'w>(
    world: &'w World<'_>,
) -> impl Iterator<Item = (String, &'w EC2NodeClass)> {
    world.snapshot.node_classes.iter().filter_map(|class| match &class.object {
        NodeClass::Ec2(class) => {
            let name = class.metadata.name.as_deref().unwrap_or_default();
            Some((format!("EC2NodeClass {name}"), class.as_ref()))
        }
        NodeClass::Aks(_) => None,
    })
}

/// `al2023@v20260131` when the class' own images tell the day, else an example of the form.
fn pinned_alias(family: &str, class: &EC2NodeClass) -> String {
    let images = images(class);
    let days = images.iter().filter(|image| image.family == Some(family));
    match days.filter_map(|image| image.date.as_deref()).max() {
        Some(day) => format!("`{}@v{day}`", family.to_lowercase()),
        None if family == "Bottlerocket" => "a version, such as `bottlerocket@v1.20.0`".to_owned(),
        None => format!("a version that you tested, written `{}@vYYYYMMDD`", family.to_lowercase()),
    }
}

pub(super) fn image_family_mismatch(world: &World<'_>, found: &mut Findings) {
    for (object, class) in classes(world) {
        let family = class.ami_family();
        if family == "Custom" {
            continue;
        }
        let wrong = images(class).into_iter().find(|i| i.family.is_some_and(|own| own != family));
        let Some(Image { shown, family: Some(own), .. }) = wrong else { continue };
        let message = format!(
            "`spec.amiFamily` is {family} and {shown} is an image of {own}: it does not \
             understand the start-up data of {family}, so that its nodes never join"
        );
        let fix = format!(
            "set `spec.amiSelectorTerms` to one term with `alias` {}, or `spec.amiFamily` to \
             `{own}`",
            pinned_alias(family, class)
        );
        found.add(object, message, fix);
    }
}

/// Where a class asks for AL2, and the version of Kubernetes that it is for.
fn al2(world: &World<'_>, class: &EC2NodeClass) -> Option<(String, Option<u32>)> {
    let images = images(class);
    let of_al2 = images.iter().find(|image| image.family == Some("AL2"));
    let shown = match of_al2 {
        Some(image) => image.shown.clone(),
        None if class.ami_family() == "AL2" => "`spec.amiFamily: AL2`".to_owned(),
        None => return None,
    };
    let own = images.iter().filter(|image| image.family.is_none_or(|family| family == "AL2"));
    let minor = own.filter_map(|image| image.minor).max();
    Some((shown, minor.or_else(|| minor_of_nodes(world))))
}

/// The newest version that a node of the input runs.
fn minor_of_nodes(world: &World<'_>) -> Option<u32> {
    let minor = |version: &str| {
        let mut parts = version.trim_start_matches('v').split('.');
        (parts.next()? == "1").then_some(())?;
        parts.next()?.parse::<u32>().ok()
    };
    let nodes = world.snapshot.nodes.iter().filter_map(|node| node.status.as_ref());
    let versions = nodes.filter_map(|status| status.node_info.as_ref());
    versions.filter_map(|info| minor(&info.kubelet_version)).max()
}

const AL2_FIX: &str =
    "set `spec.amiFamily` to `AL2023` and `spec.amiSelectorTerms` to one term with `alias` ";

pub(super) fn image_unsupported(world: &World<'_>, found: &mut Findings) {
    for (object, class) in classes(world) {
        let Some((shown, Some(minor))) = al2(world, class) else { continue };
        if minor >= FIRST_WITHOUT_AL2 {
            let message = format!(
                "{shown} asks for AL2 with Kubernetes 1.{minor}: AL2 has images up to \
                 1.{} only",
                FIRST_WITHOUT_AL2 - 1
            );
            found.add(object, message, format!("{AL2_FIX}{}", pinned_alias("AL2023", class)));
        }
    }
}

pub(super) fn image_ends_soon(world: &World<'_>, found: &mut Findings) {
    for (object, class) in classes(world) {
        let Some((shown, None)) = al2(world, class) else { continue };
        let message = format!(
            "{shown} asks for AL2, which has no images for Kubernetes 1.{FIRST_WITHOUT_AL2} and \
             later; the input does not tell the version of the cluster"
        );
        found.add(object, message, format!("{AL2_FIX}{}", pinned_alias("AL2023", class)));
    }
}

/// What in a term lets the image change without anybody changing the class.
fn moves(term: &AMISelectorTerm) -> Option<(&'static str, String)> {
    if let Some(alias) = term.alias.as_ref().filter(|alias| alias.ends_with("@latest")) {
        return Some(("alias", alias.clone()));
    }
    if let Some(path) = &term.ssm_parameter
        && path.split('/').any(|part| part == "recommended" || part == "latest")
    {
        return Some(("ssmParameter", path.clone()));
    }
    if let Some(name) = term.name.as_ref().filter(|name| name.contains(['*', '?'])) {
        return Some(("name", name.clone()));
    }
    let tags: Vec<String> = term.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
    (!tags.is_empty()).then(|| ("tags", tags.join(",")))
}

pub(super) fn unpinned_image(world: &World<'_>, found: &mut Findings) {
    for (object, class) in classes(world) {
        let terms = class.spec.ami_selector_terms.iter().enumerate();
        for (i, (field, value)) in terms.filter_map(|(i, term)| Some((i, moves(term)?))) {
            let message = format!(
                "`spec.amiSelectorTerms[{i}].{field}: {value}` names no single image: nodes \
                 drift to a new one as soon as there is one, tested or not"
            );
            let family = class.ami_family();
            let ids: Vec<String> = class
                .status
                .iter()
                .flat_map(|status| &status.amis)
                .map(|image| format!("`{}`", image.id))
                .collect();
            let has_alias = !family.starts_with("Windows") && family != "Custom";
            let fix = match (field == "alias" && has_alias, ids.is_empty()) {
                (true, _) => format!(
                    "set `spec.amiSelectorTerms[{i}].alias` to {}",
                    pinned_alias(family, class)
                ),
                (false, false) => format!(
                    "replace `spec.amiSelectorTerms[{i}]` by a term with `id` for each image \
                     that you tested: {}",
                    super::listed(ids)
                ),
                (false, true) => format!(
                    "replace `spec.amiSelectorTerms[{i}]` by a term with the `id` of the image \
                     that you tested (`ami-…`)"
                ),
            };
            found.add(&object, message, fix);
        }
    }
}

pub(super) fn old_image(world: &World<'_>, found: &mut Findings) {
    for (object, class) in classes(world) {
        let images = images(class);
        let newest = images
            .iter()
            .filter_map(|image| Some((image.date.as_ref()?, image)))
            .max_by(|(a, x), (b, y)| a.cmp(b).then_with(|| y.shown.cmp(&x.shown)));
        let Some((day, image)) = newest else { continue };
        let Some(made) = second_of_day(day) else { continue };
        let days = (world.snapshot.now.as_second() - made) / DAY_SECS;
        if days <= OLD_DAYS {
            continue;
        }
        let message = format!("{} is {days} days old: fixes since then are missing", image.shown);
        let fix = "test a newer image in staging, then set `spec.amiSelectorTerms` to it (`alias` \
                   with its version, or `id`), and keep the old value for the way back";
        found.add(object, message, fix);
    }
}

/// The first second of a day written `20260131`.
fn second_of_day(day: &str) -> Option<i64> {
    let date = jiff::civil::Date::strptime("%Y%m%d", day).ok()?;
    let time = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(time.timestamp().as_second())
}
