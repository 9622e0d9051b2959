//! Requirements of pools that say a label is there, and keep nobody away.

use dunnage_api::labels::{Provider, well_known_labels};

use super::Findings;
use super::world::{Pool, World};

pub(super) fn exists_without_taint(world: &World<'_>, found: &mut Findings) {
    for pool in &world.pools {
        let template = &pool.object.spec.template;
        let keeps_away =
            template.spec.taints.iter().any(|taint| taint.effect != "PreferNoSchedule");
        if keeps_away {
            continue;
        }
        for (i, requirement) in template.spec.requirements.iter().enumerate() {
            let key = pool.label(&requirement.key);
            let has_value = template.metadata.labels.contains_key(&requirement.key);
            if requirement.operator != "Exists" || has_value || is_everywhere(pool, key) {
                continue;
            }
            let message = format!(
                "`spec.template.spec.requirements[{i}]` says `{key} Exists` and there is no \
                 taint: pods that do not ask for the label are put on these nodes too"
            );
            let fix = format!(
                "add to `spec.template.spec.taints`: `{{key: {key}, effect: NoSchedule}}`, and \
                 the toleration to the pods that are meant"
            );
            found.add(&pool.name, message, fix);
        }
    }
}

/// Every machine of the pool's class has the label, so that it singles out nobody.
fn is_everywhere(pool: &Pool<'_>, key: &str) -> bool {
    match &pool.any {
        Some(any) => any.common_labels.contains(key),
        None => {
            let group = &pool.object.spec.template.spec.node_class_ref.group;
            well_known_labels(Provider::of_group(group)).contains(&key)
        }
    }
}
