//! What a pod gave up to be placed, in the user's words.

use dunnage_engine_core::place::given_up;
use dunnage_engine_core::problem::PodClass;

use super::requirements;
use super::words::Words;

/// "preferred node affinity `zone` In [a] (weight 10); topology spread over `zone` (…)".
pub(crate) fn relaxation(w: &Words, class: &PodClass, steps: u32) -> String {
    let Ok(gone) = given_up(&w.p, class, steps) else {
        // INVARIANT: the engine would have refused the class before placing it.
        return format!("{steps} step(s)");
    };
    let mut parts = Vec::new();
    let bit = |bits: u64, at: usize| bits >> at & 1 != 0;
    for (at, term) in class.preferred.of(w.p.terms).iter().enumerate() {
        if bit(gone.preferences, at) {
            parts.push(format!(
                "gave up preferred node affinity {} (weight {})",
                set_words(w, term.set),
                term.weight
            ));
        }
    }
    for (at, link) in class.links.of(w.p.links).iter().enumerate() {
        if bit(gone.links, at) {
            parts.push(format!("gave up {}", w.group(link.group)));
        }
    }
    if gone.tolerates_preferences {
        parts.push("tolerates taints of effect PreferNoSchedule".to_owned());
    }
    if gone.term > 0 {
        let term = class.required.of(w.p.terms).get(gone.term as usize);
        parts.push(format!(
            "uses required node affinity term {} of {} ({})",
            gone.term + 1,
            class.required.len,
            term.map_or_else(String::new, |term| set_words(w, term.set))
        ));
    }
    parts.join("; ")
}

/// A whole set: "`a` In [x], `b` Exists".
fn set_words(w: &Words, set: u32) -> String {
    let words = w.dense(set);
    let keys = (0..w.layout.keys()).filter(|&key| w.layout.has(&words, key));
    let parts: Vec<String> = keys
        .map(|key| {
            let said = requirements::words(&w.p, w.names, key, w.layout.get(&words, key));
            format!("`{}` {said}", w.key(key as u32))
        })
        .collect();
    parts.join(", ")
}
