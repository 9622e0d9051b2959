//! Inputs that grow along one axis at a time: pods, kinds of pods, or machine types.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Class;
use crate::draw::Draw;

/// `classes` kinds of pods of which there are `pods` in all, each kind about as often: 50m to
/// 4 cpu with one to eight GiB each.
pub fn classes(pods: u32, classes: u32) -> Vec<Class> {
    let mut draw = Draw::seeded(11);
    let mut shapes = BTreeSet::new();
    while shapes.len() < classes as usize {
        let cpu_milli = 50 * draw.between(1, 80);
        let memory_mib = (cpu_milli * draw.between(8, 64) / 8).next_multiple_of(32);
        shapes.insert((cpu_milli, memory_mib));
    }
    let class = |(i, (cpu_milli, memory_mib)): (usize, (u32, u32))| Class {
        cpu_milli,
        memory_mib,
        gpu: 0,
        zone: None,
        group: None,
        count: pods / classes + u32::from((i as u32) < pods % classes),
    };
    shapes.into_iter().enumerate().map(class).collect()
}

/// `count` of the types, evenly over the list.
pub fn some_types(types: &[Value], count: usize) -> Vec<Value> {
    let count = count.min(types.len());
    (0..count).map(|i| types[i * types.len() / count].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_along_each_axis_alone() {
        for (pods, kinds) in [(1000, 30), (1007, 300), (100_000, 10)] {
            let classes = classes(pods, kinds);
            assert_eq!(classes.iter().map(|class| class.count).sum::<u32>(), pods);
            assert_eq!(classes.len(), kinds as usize);
        }
        let shapes = |pods| classes(pods, 30).into_iter().map(|c| (c.cpu_milli, c.memory_mib));
        assert!(shapes(1000).eq(shapes(9000)));
        let types: Vec<Value> = (0..10).map(Value::from).collect();
        assert_eq!(some_types(&types, 4), [0, 2, 5, 7].map(Value::from));
        assert_eq!(some_types(&types, 11).len(), 10);
    }
}
