//! The programs that are under way in a process: one for each context that works. Contexts that work at once are told apart by
//! the number of commands of their programs' main lists.

/// The most that are taken to be under way at once.
const MOST: usize = 16;

/// All of them, the last begun last, each with what is known of it.
#[derive(Clone, Debug)]
pub struct UnderWay<T> {
    all: Vec<(Option<u64>, T)>,
}

impl<T> Default for UnderWay<T> {
    fn default() -> Self {
        UnderWay { all: Vec::new() }
    }
}

impl<T> UnderWay<T> {
    /// One begins. Yields the one whose place it takes: one of as many commands, or the oldest of too many.
    pub fn begin(&mut self, main: Option<u64>, state: T) -> Option<T> {
        let before = self.end(main).or_else(|| (self.all.len() == MOST).then(|| self.all.remove(0).1));
        self.all.push((main, state));
        before
    }

    /// One ends.
    pub fn end(&mut self, main: Option<u64>) -> Option<T> {
        self.place(main).map(|place| self.all.remove(place).1)
    }

    /// The one that a line with so many commands is about. Some lines do not say: those are about the last one.
    pub fn of(&mut self, main: Option<u64>) -> Option<&mut T> {
        self.place(main).map(|place| &mut self.all[place].1)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.all.iter().map(|(_, state)| state)
    }

    /// Takes those out of which this holds.
    pub fn take_if(&mut self, holds: impl Fn(&T) -> bool) -> Vec<T> {
        self.all.extract_if(.., |(_, state)| holds(state)).map(|(_, state)| state).collect()
    }

    fn place(&self, main: Option<u64>) -> Option<usize> {
        match main {
            None => self.all.len().checked_sub(1),
            known => self.all.iter().position(|(of, _)| *of == known),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_about_the_program_of_as_many_commands_or_about_the_last_one() {
        let mut all = UnderWay::default();
        assert_eq!(all.begin(Some(10), 'a'), None);
        assert_eq!(all.begin(Some(20), 'b'), None);
        let mut of = |main| all.of(main).copied();
        assert_eq!((of(Some(10)), of(Some(30)), of(None)), (Some('a'), None, Some('b')));
        assert_eq!(all.begin(Some(10), 'c'), Some('a'), "the one before had no end of its own");
        assert_eq!(all.iter().collect::<String>(), "bc");
        assert_eq!((all.end(Some(20)), all.end(Some(20)), all.end(None)), (Some('b'), None, Some('c')));
    }

    #[test]
    fn of_too_many_the_oldest_goes() {
        let mut all = UnderWay::default();
        for n in 0..MOST as u64 {
            assert_eq!(all.begin(Some(n), n), None);
        }
        assert_eq!(all.begin(Some(100), 100), Some(0));
        assert_eq!(all.take_if(|n| *n > 10).len(), MOST - 10);
        assert_eq!(all.iter().count(), 10);
    }
}
