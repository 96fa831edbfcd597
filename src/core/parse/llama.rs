//! Lines of llama.cpp's own log.

use memchr::memmem;

/// llama.cpp's account of its build, from the word `build` on.
///
/// Seen from 2024 to 2026: `build: 1 (4227c9b) with cc …`, `build = 1 (1d1ccce)`,
/// `common_params_print_info: build 10605 (name) with …`, `build: name (10605)` (llama-bench).
pub fn build_line(line: &[u8]) -> Option<&[u8]> {
    let at = memmem::find(line, b"build")?;
    if at > 0 && !line[at - 1].is_ascii_whitespace() && line[at - 1] != b'm' {
        return None;
    }
    let text = line[at..].trim_ascii_end();
    let rest = text[b"build".len()..].trim_ascii_start();
    let rest = rest.strip_prefix(b":").or_else(|| rest.strip_prefix(b"=")).unwrap_or(rest).trim_ascii_start();
    let word = rest.iter().position(|b| *b == b' ').filter(|n| *n > 0)?;
    let (first, after) = (&rest[..word], rest[word + 1..].strip_prefix(b"(")?);
    let close = after.iter().position(|b| *b == b')')?;
    let number = |w: &[u8]| !w.is_empty() && w.iter().all(u8::is_ascii_digit);
    (number(first) || number(&after[..close])).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::build_line;

    #[test]
    fn every_wording_since_2024() {
        for (line, build) in [
            (
                &b"build: 1 (4227c9b) with cc 12.2.0 for x86_64"[..],
                &b"build: 1 (4227c9b) with cc 12.2.0 for x86_64"[..],
            ),
            (b"main: build = 1 (1d1ccce)", b"build = 1 (1d1ccce)"),
            (
                b"0.00.009 I cmn common_param: common_params_print_info: build 10605 (pydist) with GNU",
                b"build 10605 (pydist) with GNU",
            ),
            (b"build: pydist0940 (10605)", b"build: pydist0940 (10605)"),
        ] {
            assert_eq!(build_line(line), Some(build));
        }
    }

    #[test]
    fn other_lines_about_building_are_not_it() {
        for line in [
            &b"rebuild: 1 (abc)"[..],
            b"build the graph (slow)",
            b"build",
            b"build: ",
            b"version: 0.2 (build 10605, commit x)",
        ] {
            assert_eq!(build_line(line), None, "{}", String::from_utf8_lossy(line));
        }
    }
}
