//! Round values along an axis.

/// Round values from 0 up to `top`, in at most `most` steps: multiples of 1, 2 or 5 times a power of ten, and the digits
/// behind the point that tell them apart.
pub fn ticks(top: f64, most: u32) -> (Vec<f64>, usize) {
    let least = (top / f64::from(most)).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(least.log10().floor());
    // A step that is hit exactly may come out a hair too large.
    let step = [1.0, 2.0, 5.0].map(|n| n * power).into_iter().find(|s| *s >= least * 0.999_999);
    let step = step.unwrap_or(10.0 * power);
    let digits = (-step.log10().floor()).max(0.0) as usize;
    let count = (top / step * 1.000_001).floor() as u32;
    ((0..=count.min(most)).map(|n| f64::from(n) * step).collect(), digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(top: f64, most: u32) -> Vec<String> {
        let (all, digits) = ticks(top, most);
        all.into_iter().map(|n| format!("{n:.digits$}")).collect()
    }

    #[test]
    fn they_are_round_and_few() {
        assert_eq!(words(4239.0, 5), ["0", "1000", "2000", "3000", "4000"]);
        assert_eq!(words(0.63, 7), ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6"]);
        assert_eq!(words(0.000_4, 4), ["0.0000", "0.0001", "0.0002", "0.0003", "0.0004"]);
        assert_eq!(words(20_497.0, 5), ["0", "5000", "10000", "15000", "20000"]);
        assert_eq!(words(900.0, 7), ["0", "200", "400", "600", "800"]);
        assert_eq!(words(1.0, 1), ["0", "1"]);
        assert_eq!(words(0.0, 5).len(), 1, "nothing to show, and no step of nothing");
    }

    #[test]
    fn whatever_the_length_there_are_no_more_than_asked_for_and_never_one_alone() {
        for exponent in -9..12 {
            for part in 1..100 {
                let top = f64::from(part) * 0.37 * 10_f64.powi(exponent);
                let (all, _) = ticks(top, 5);
                assert!((3..=6).contains(&all.len()), "{top}: {all:?}");
                assert!(all.iter().all(|n| *n <= top * 1.001), "{top}: {all:?}");
            }
        }
    }
}
