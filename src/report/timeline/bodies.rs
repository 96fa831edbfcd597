//! What spans say, written once: the same commands come again in every run of a program, on the same tracks.

use crate::core::timeline::{Facts, Name, Stretch, Track};

/// So many are kept; a span that falls on the place of another takes it.
const PLACES: usize = 4096;

#[derive(Clone, Debug)]
struct Body {
    track: Track,
    name: Name,
    facts: Facts,
    bytes: Vec<u8>,
}

/// Bytes by what they say.
#[derive(Debug)]
pub struct Bodies(Vec<Option<Body>>);

impl Default for Bodies {
    fn default() -> Self {
        Bodies(vec![None; PLACES])
    }
}

impl Bodies {
    /// The bytes of a span, all but its times; `write` makes them where they are not at hand.
    pub fn of(&mut self, stretch: &Stretch, write: impl FnOnce(&mut Vec<u8>)) -> &[u8] {
        let Stretch { track, name, facts, .. } = *stretch;
        let place = &mut self.0[place(track, &facts)];
        let known = place.take().filter(|b| b.track == track && b.name == name && b.facts == facts);
        let body = known.unwrap_or_else(|| {
            let mut bytes = Vec::new();
            write(&mut bytes);
            Body { track, name, facts, bytes }
        });
        &place.insert(body).bytes
    }
}

/// Commands follow each other by their indices, and so do their places.
fn place(track: Track, facts: &Facts) -> usize {
    let (commands, index) = facts.place.map_or((0, 0), |(_, commands, index)| (commands, index));
    let mixed = index.wrapping_add(commands.wrapping_mul(31)).wrapping_add(track.number().wrapping_mul(1021));
    mixed as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::parse::serial::List;

    #[test]
    fn a_span_has_its_own_bytes_whoever_had_its_place_before() {
        let mut bodies = Bodies::default();
        let span = |index: u64, name: u64| Stretch {
            track: Track::Device(0),
            name: Name::Kernel(Some(name)),
            from: index,
            until: None,
            facts: Facts { place: Some((List::Main, 10, index)), ..Facts::default() },
        };
        let mut written = 0;
        for (index, name, fresh) in [
            (3, 7, true),
            (3, 7, false),
            (3, 8, true),
            (3, 7, true),
            (3 + PLACES as u64, 7, true),
            (3, 7, true),
            (4, 7, true),
            (3, 7, false),
        ] {
            let before = written;
            let bytes = bodies.of(&span(index, name), |out| {
                written += 1;
                out.extend([index as u8, name as u8]);
            });
            assert_eq!(bytes, [index as u8, name as u8]);
            assert_eq!(written > before, fresh, "{index} {name}");
        }
    }
}
