//! Choices for a random problem: from a seed without end, or from the bytes of a fuzzer.

/// Where choices come from.
#[derive(Clone, Debug)]
pub struct Draw<'b> {
    source: Source<'b>,
}

#[derive(Clone, Debug)]
enum Source<'b> {
    Seed(u64),
    /// Bytes not used yet; after the last one, every choice is the first.
    Bytes(&'b [u8]),
}

impl<'b> Draw<'b> {
    /// Endless choices that `seed` determines.
    pub fn seeded(seed: u64) -> Self {
        Self { source: Source::Seed(seed) }
    }

    /// Choices that the bytes determine: one byte for most, so that a fuzzer that changes a
    /// byte changes one choice.
    pub fn bytes(bytes: &'b [u8]) -> Self {
        Self { source: Source::Bytes(bytes) }
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        match &mut self.source {
            Source::Bytes(rest) => match rest.split_first() {
                Some((first, others)) => {
                    *rest = others;
                    *first
                }
                None => 0,
            },
            Source::Seed(state) => {
                *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let x = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
                (x >> 56) as u8
            }
        }
    }

    /// A number below `end`; 0 when `end` is 0 or 1.
    pub fn below(&mut self, end: u32) -> u32 {
        if end < 2 {
            return 0;
        }
        let mut value = u32::from(self.byte());
        if end > 256 {
            value = value << 8 | u32::from(self.byte());
        }
        if end > 65_536 {
            value = value << 8 | u32::from(self.byte());
        }
        value % end
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of all cases; never once the bytes are used up.
    pub fn chance(&mut self, percent: u32) -> bool {
        u32::from(self.byte()) * 100 >= (100 - percent) * 256
    }

    /// One of the options, which are not empty.
    pub fn one_of<T: Copy>(&mut self, options: &[T]) -> T {
        options[self.below(options.len() as u32) as usize]
    }

    /// Numbers below `end`, each with the same chance, ascending; at least one unless `end`
    /// is 0.
    pub fn some_below(&mut self, end: u32, percent: u32) -> Vec<u32> {
        let mut picked: Vec<u32> = (0..end).filter(|_| self.chance(percent)).collect();
        if picked.is_empty() && end > 0 {
            picked.push(self.below(end));
        }
        picked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_choices_every_time() {
        let draw = |seed| {
            let mut draw = Draw::seeded(seed);
            (0..32).map(|_| draw.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn chances_come_about_as_often_as_they_say() {
        let mut draw = Draw::seeded(1);
        for percent in [0, 10, 50, 100] {
            let hits = (0..10_000).filter(|_| draw.chance(percent)).count() as u32;
            assert!(hits.abs_diff(percent * 100) < 300, "{percent} %: {hits}");
        }
    }

    #[test]
    fn used_up_bytes_choose_the_first() {
        let mut draw = Draw::bytes(&[3]);
        assert_eq!((draw.below(5), draw.below(5), draw.chance(99)), (3, 0, false));
        assert_eq!(draw.some_below(3, 50), [0]);
    }
}
