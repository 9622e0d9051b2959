//! Images of an architecture that no pool launches.

use dunnage_api::labels::ARCH;

use super::images::{classes, images};
use super::world::{Pool, World};
use super::{Findings, listed};

pub(super) fn image_without_pool(world: &World<'_>, found: &mut Findings) {
    for (object, class) in classes(world) {
        // An alias brings the images of all architectures.
        if class.spec.ami_selector_terms.iter().any(|term| term.alias.is_some()) {
            continue;
        }
        let name = class.metadata.name.as_deref().unwrap_or_default();
        let pools: Vec<&Pool<'_>> = world
            .pools
            .iter()
            .filter(|pool| {
                let own = &pool.object.spec.template.spec.node_class_ref;
                own.kind == "EC2NodeClass" && own.name == name
            })
            .collect();
        let mut told: Vec<&str> = Vec::new();
        for image in images(class) {
            let Some(arch) = image.arch else { continue };
            let is_used = pools.is_empty() || pools.iter().any(|pool| takes(pool, arch));
            if is_used || told.contains(&arch) {
                continue;
            }
            told.push(arch);
            let names = listed(pools.iter().map(|pool| pool.name.as_str()));
            let message = format!(
                "{} is an image for {arch}, which no NodePool of this class launches ({names}): it \
                 is never used",
                image.shown
            );
            let fix = format!(
                "allow `{arch}` for `{ARCH}` in `spec.template.spec.requirements` of {names}, or \
                 remove the image from `spec.amiSelectorTerms`"
            );
            found.add(&object, message, fix);
        }
    }
}

/// The pool's requirements leave the architecture.
fn takes(pool: &Pool<'_>, arch: &str) -> bool {
    let all = pool.object.spec.template.spec.requirements.iter();
    all.filter(|r| pool.label(&r.key) == ARCH).all(|r| {
        let is_listed = r.values.iter().any(|value| value == arch);
        match r.operator.as_str() {
            "In" => is_listed,
            "NotIn" => !is_listed,
            _ => true,
        }
    })
}
