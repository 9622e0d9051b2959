//! Pods in words: by the workload that their names show.

use std::collections::BTreeMap;

/// Pods by what stands before the last dash of their names, in the order of the first of each,
/// with their number. A workload of one pod is called by the pod's whole name.
pub fn by_workload<'a>(pods: impl IntoIterator<Item = &'a str>) -> Vec<(&'a str, usize)> {
    let mut rows: Vec<(&str, usize)> = Vec::new();
    let mut at: BTreeMap<&str, usize> = BTreeMap::new();
    for pod in pods {
        let name = pod.rsplit_once('-').map_or(pod, |(name, _)| name);
        let row = *at.entry(name).or_insert(rows.len());
        match rows.get_mut(row) {
            None => rows.push((pod, 1)),
            Some(own) => *own = (name, own.1 + 1),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_are_named_by_their_workload() {
        assert_eq!(
            by_workload(["a/web-0", "b/one-7", "a/web-1", "default/pod"]),
            [("a/web", 2), ("b/one-7", 1), ("default/pod", 1)]
        );
    }
}
