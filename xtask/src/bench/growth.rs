//! How fast a cost grows: the exponent of the power of the size that it follows best.

/// The slope of the line of least squares through the logarithms; none for fewer than two
/// sizes or a cost of nothing.
pub fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    if points.len() < 2 || points.iter().any(|&(size, cost)| size <= 0.0 || cost <= 0.0) {
        return None;
    }
    let logs: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let mean = logs.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0 / n, sum.1 + p.1 / n));
    let (mut above, mut below) = (0.0, 0.0);
    for (x, y) in logs {
        above += (x - mean.0) * (y - mean.1);
        below += (x - mean.0) * (x - mean.0);
    }
    (below > 0.0).then(|| above / below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_power_is_found() {
        let square: Vec<(f64, f64)> =
            [1.0, 3.0, 10.0].iter().map(|&x: &f64| (x, 7.0 * x * x)).collect();
        let found = exponent(&square).expect("points");
        assert!((found - 2.0).abs() < 1e-9, "{found}");
        let flat = exponent(&[(10.0, 4.0), (1000.0, 4.0)]).expect("points");
        assert!(flat.abs() < 1e-9, "{flat}");
        assert_eq!(exponent(&[(1.0, 1.0)]), None);
        assert_eq!(exponent(&[(1.0, 1.0), (2.0, 0.0)]), None);
        assert_eq!(exponent(&[(2.0, 1.0), (2.0, 3.0)]), None);
    }
}
