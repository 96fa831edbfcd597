//! Mean and spread of numbers that come one by one (Welford's way: no sum of squares that swallows small differences).

/// Number, mean and sum of squared differences.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Takes one number.
    pub fn add(&mut self, number: f64) {
        self.count += 1;
        let before = number - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (number - self.mean);
    }

    /// Those of some numbers.
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Moments {
        let mut moments = Moments::default();
        numbers.into_iter().for_each(|n| moments.add(n));
        moments
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; of none there is none.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// Their variance (of the population that they are a sample of); of one alone nothing is known.
    pub fn variance(&self) -> Option<f64> {
        (self.count > 1).then(|| self.squares / (self.count - 1) as f64)
    }

    /// By how much their mean is uncertain: its standard error.
    pub fn error(&self) -> Option<f64> {
        self.variance().map(|v| (v / self.count as f64).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers_have_their_mean_and_spread() {
        let m = Moments::of([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!((m.count(), m.mean()), (8, Some(5.0)));
        assert!((m.variance().unwrap() - 32.0 / 7.0).abs() < 1e-12);
        assert!((m.error().unwrap() - (4.0_f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn of_one_or_none_no_spread_is_known() {
        assert_eq!((Moments::default().mean(), Moments::default().error()), (None, None));
        assert_eq!((Moments::of([3.0]).mean(), Moments::of([3.0]).variance()), (Some(3.0), None));
    }

    #[test]
    fn small_differences_of_large_numbers_stay() {
        let m = Moments::of([1e15, 1e15 + 2.0]);
        assert_eq!(m.variance(), Some(2.0));
    }
}
