//! Random numbers that are the same everywhere: splitmix64, seeded by number.

/// A sequence of numbers.
pub struct Rng(u64);

impl Rng {
    /// The sequence of one input: far apart for neighbouring seeds and numbers.
    pub fn new(seed: u64, number: u64) -> Self {
        let mut rng = Self(
            seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number.wrapping_mul(0xd6e8_feb8_6659_fd93),
        );
        rng.next();
        rng
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub fn range(&mut self, low: usize, high: usize) -> usize {
        let span = (high - low) as u64 + 1;
        low + usize::try_from(self.next() % span).unwrap_or(0)
    }

    /// True in `percent` of a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    /// One of a list that is not empty.
    pub fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        let at = self.range(0, from.len() - 1);
        &from[at]
    }

    /// One word of a list that is not empty.
    pub fn word<'t>(&mut self, from: &[&'t str]) -> &'t str {
        let at = self.range(0, from.len() - 1);
        from[at]
    }

    /// `n` different ones of a list, in the list's order; all of them when it has fewer.
    pub fn some<T: Clone>(&mut self, from: &[T], n: usize) -> Vec<T> {
        let mut left = n.min(from.len());
        let mut out = Vec::new();
        for (i, item) in from.iter().enumerate() {
            if left > 0 && self.range(0, from.len() - i - 1) < left {
                out.push(item.clone());
                left -= 1;
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_another_does_not() {
        let numbers = |seed, n| {
            let mut rng = Rng::new(seed, n);
            (0..8).map(|_| rng.range(0, 1_000_000)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1, 2), numbers(1, 2));
        assert_ne!(numbers(1, 2), numbers(2, 1));
        assert_ne!(numbers(1, 2), numbers(1, 3));
    }

    #[test]
    fn ranges_chances_and_samples_keep_their_bounds() {
        let mut rng = Rng::new(7, 0);
        let mut seen = [0; 4];
        for _ in 0..4000 {
            let n = rng.range(3, 6);
            seen[n - 3] += 1;
        }
        assert!(seen.iter().all(|n| (800..1200).contains(n)), "{seen:?}");
        let hits = (0..10_000).filter(|_| rng.chance(20)).count();
        assert!((1800..2200).contains(&hits), "{hits}");
        let list: Vec<usize> = (0..30).collect();
        let some = rng.some(&list, 12);
        assert_eq!(some.len(), 12);
        assert!(some.windows(2).all(|w| w[0] < w[1]));
        assert_eq!(rng.some(&list, 99), list);
    }
}
