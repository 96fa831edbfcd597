//! Paths with placeholders in them.

use std::path::{Path, PathBuf};

use crate::core::run::Run;

/// `%h %p %t %n` in a path: host, our pid, UTC time, the target's name.
pub fn expand(path: &Path, run: &Run, pid: u32) -> PathBuf {
    let program = run.command.first().map_or("", String::as_str);
    let name = Path::new(program).file_name().map_or_else(|| program.into(), |n| n.to_string_lossy());
    // 2026-11-29T18:18:22.123Z → 20261129T181822Z: no character that a file system or a shell minds.
    let time: String = run.clock.start_utc.chars().take(19).filter(|c| c.is_ascii_alphanumeric()).collect();
    let text = path.to_string_lossy();
    let (mut out, mut chars) = (String::with_capacity(text.len()), text.chars());
    while let Some(c) = chars.next() {
        match (c, if c == '%' { chars.next() } else { None }) {
            ('%', Some('h')) => out.push_str(&run.host.name),
            ('%', Some('p')) => out.push_str(&pid.to_string()),
            ('%', Some('t')) => out.push_str(&format!("{time}Z")),
            ('%', Some('n')) => out.push_str(&name),
            ('%', Some('%')) => out.push('%'),
            (c, other) => out.extend(std::iter::once(c).chain(other)),
        }
    }
    PathBuf::from(out)
}
