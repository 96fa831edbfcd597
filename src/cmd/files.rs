//! Files as the user names them, and how they are written.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::core::run::Run;

/// `-` stands for standard output, and so do the paths that lead there.
pub fn is_dash(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path.as_os_str() == *name)
}

/// Writes a file so that a reader sees the old content or the new, never half of it.
///
/// # Errors
/// The disk's.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    let written = std::fs::write(&new, content).and_then(|()| std::fs::rename(&new, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written
}

/// Writes to where the user said: a file, standard output (`-`), or something that is no regular file.
///
/// # Errors
/// The disk's, or that the reader is gone.
pub fn deliver(path: &Path, content: &[u8]) -> io::Result<()> {
    if is_dash(path) {
        let mut out = io::stdout().lock();
        return out.write_all(content).and_then(|()| out.flush());
    }
    match path.metadata() {
        Ok(meta) if !meta.is_file() => File::options().write(true).open(path)?.write_all(content),
        _ => replace(path, content),
    }
}

/// What tells a regular file from others: the file itself, or the place where it will be. `None` for what may be named more than
/// once: a terminal, a pipe, `/dev/null`, standard output.
fn identity(path: &Path) -> Option<(u64, u64, OsString)> {
    if is_dash(path) {
        return None;
    }
    if let Ok(meta) = path.metadata() {
        return meta.is_file().then(|| (meta.dev(), meta.ino(), OsString::new()));
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let meta = folder.metadata().ok()?;
    Some((meta.dev(), meta.ino(), path.file_name()?.to_owned()))
}

/// Whether each file that is to be written, by the name of its option, is one of its own, and none of those that are read; and at
/// most one goes to standard output.
///
/// # Errors
/// A sentence with both names.
pub fn apart(read: &[PathBuf], written: &[(&str, Option<&Path>)]) -> anyhow::Result<()> {
    let dash = written.iter().filter(|(_, path)| path.is_some_and(is_dash)).map(|(option, _)| *option);
    if let [first, second, ..] = dash.collect::<Vec<&str>>()[..] {
        bail!("{second} -: {first} goes to standard output; give one of them a file");
    }
    let read: Vec<_> = read.iter().filter_map(|path| identity(path)).collect();
    let mut before: Vec<(&str, _)> = Vec::new();
    for (option, path) in written.iter().filter_map(|(option, path)| path.map(|path| (*option, path))) {
        let Some(own) = identity(path) else { continue };
        if read.contains(&own) {
            bail!("{option} {} is a file that is read: write to another", path.display());
        }
        if let Some((other, _)) = before.iter().find(|(_, known)| *known == own) {
            bail!("{option} {}: {other} goes there; it needs a file of its own", path.display());
        }
        before.push((option, own));
    }
    Ok(())
}

/// The files that a run folder, or a file in its place, is read from.
pub fn read_of(run: &Path) -> Vec<PathBuf> {
    if run.is_dir() {
        ["run.json", "trace.log", "gtt.tsv"].map(|name| run.join(name)).into()
    } else {
        vec![run.into()]
    }
}

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
