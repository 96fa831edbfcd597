//! `--stamp`: whether lines can be stamped at the source, and what that takes.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use object::Endianness;
use object::elf::{DT_NEEDED, EM_X86_64, FileHeader64};
use object::read::ReadRef;
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _};

use crate::cli::stamp::Stamp;
use crate::core::run::Run;
use crate::core::text::printable;
use crate::live::source::Source;

/// The object that a target preloads; empty where there is none for this system (`build.rs`).
const OBJECT: &[u8] = include_bytes!(env!("HRX_WRAP_STAMP_OBJECT"));
const PRELOAD: &str = "LD_PRELOAD=";
const SETUID_OR_SETGID: u32 = 0o6000;

/// Makes what stamping at the source takes, and puts into the record where lines are stamped, what the target gets for it,
/// and why not, where it is not.
pub fn prepare(way: Stamp, program: Option<&Path>, log: Option<&Path>, run: &mut Run) -> Option<Source> {
    run.stamped = "read".to_owned();
    if way == Stamp::Read {
        return None;
    }
    match source(program, log, run) {
        Ok((source, remark)) => {
            run.stamped = "source".to_owned();
            run.stamp_note = remark;
            Some(source)
        }
        Err(why) => {
            run.stamp_note = Some(why);
            None
        }
    }
}

fn source(
    program: Option<&Path>,
    log: Option<&Path>,
    run: &mut Run,
) -> Result<(Source, Option<String>), String> {
    if OBJECT.is_empty() {
        return Err("this build has no object for its system".into());
    }
    if log.is_some_and(|log| log.metadata().is_ok_and(|m| !m.is_file())) {
        // A successor could not tell which of the two ways was first in what the reader has already.
        return Err("the log is no regular file".into());
    }
    let remark = match program.map_or(Ok(Serves::Whole), serves)? {
        Serves::Whole => None,
        Serves::Children(why) => Some(why),
    };
    let given = run.changed.env.iter().rev().find_map(|v| v.strip_prefix(PRELOAD).map(str::to_owned));
    let preloaded = match given {
        Some(given) => given,
        None => std::env::var_os("LD_PRELOAD")
            .unwrap_or_default()
            .into_string()
            .map_err(|_| "the LD_PRELOAD that is set is not text".to_owned())?,
    };
    let source = Source::create(OBJECT, &bases()).map_err(|e| format!("it cannot be set up: {e}"))?;
    run.changed.env.retain(|variable| !variable.starts_with(PRELOAD));
    run.changed.env.extend(source.variables(&preloaded));
    Ok((source, remark))
}

/// Where the object may lie: the user's own folder for such things, else the temporary one.
fn bases() -> Vec<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|p| p.is_dir());
    runtime.into_iter().chain([std::env::temp_dir()]).collect()
}

/// Whom the object serves.
enum Serves {
    /// The command itself, as far as is known.
    Whole,
    /// Not the command, but what it starts, maybe; why.
    Children(String),
}

/// Looks at a program's file. An error says why it must not be tried: the loader would refuse and complain.
fn serves(program: &Path) -> Result<Serves, String> {
    let Ok(mut file) = File::open(program) else { return Ok(Serves::Whole) };
    let mut magic = [0; 4];
    if file.read_exact(&mut magic).is_err() || magic != *b"\x7fELF" {
        // A script: its interpreter's business.
        return Ok(Serves::Whole);
    }
    if file.metadata().is_ok_and(|m| m.mode() & SETUID_OR_SETGID != 0) {
        return Ok(Serves::Children("the command is setuid or setgid, which preloads nothing".into()));
    }
    let cache = object::read::ReadCache::new(file);
    let Ok(header) = FileHeader64::<Endianness>::parse(&cache) else { return Err(foreign()) };
    let Ok(endian) = header.endian() else { return Err(foreign()) };
    if header.e_machine.get(endian) != EM_X86_64 {
        return Err(foreign());
    }
    if needs_to_be_first(header, endian, &cache) {
        return Err(
            "the command has the address sanitizer, which refuses to start behind another object".into()
        );
    }
    let headers = header.program_headers(endian, &cache).unwrap_or_default();
    let loader = headers.iter().find_map(|h| h.interpreter(endian, &cache).ok().flatten());
    match loader {
        None => Ok(Serves::Children("the command is a static program, which preloads nothing".into())),
        Some(loader) if is_glibcs(loader) => Ok(Serves::Whole),
        Some(loader) => Err(format!("the command has another C library (loader {})", printable(loader))),
    }
}

/// Whether a program loads the address sanitizer's runtime, which looks whether it is the first object of all.
fn needs_to_be_first<'a>(
    header: &FileHeader64<Endianness>,
    endian: Endianness,
    data: impl ReadRef<'a>,
) -> bool {
    let Ok(sections) = header.sections(endian, data) else { return false };
    let Ok(Some((entries, strings))) = sections.dynamic(endian, data) else { return false };
    let Ok(strings) = sections.strings(endian, data, strings) else { return false };
    let needed = entries.iter().filter(|e| e.d_tag(endian) == u64::from(DT_NEEDED));
    let names = needed.filter_map(|e| strings.get(u32::try_from(e.d_val(endian)).ok()?).ok());
    names.into_iter().any(|n| n.starts_with(b"libasan.so") || n.starts_with(b"libclang_rt.asan"))
}

fn foreign() -> String {
    "the command is no 64-bit x86 program".to_owned()
}

fn is_glibcs(loader: &[u8]) -> bool {
    let name = loader.rsplit(|b| *b == b'/').next().unwrap_or_default();
    name.starts_with(b"ld-linux-x86-64.so") || name.starts_with(b"ld.so")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_needs_no_library_and_defines_only_what_it_watches() {
        use object::{Object as _, ObjectSymbol as _};
        // Where it was put in, it may stand at any address; as a file it is read from an aligned one.
        let words: Vec<u64> =
            OBJECT.chunks(8).map(|c| c.iter().rev().fold(0, |sum, b| sum << 8 | u64::from(*b))).collect();
        let file = object::read::File::parse(object::pod::bytes_of_slice(&words)).unwrap();
        assert!(OBJECT.len() < 16 << 10, "{} bytes", OBJECT.len());
        let (mut defined, mut strong) = (Vec::new(), Vec::new());
        for symbol in file.dynamic_symbols() {
            let name = symbol.name().unwrap().to_owned();
            if symbol.is_undefined() {
                strong.extend((!symbol.is_weak()).then_some(name));
            } else {
                defined.push(name);
            }
        }
        defined.sort();
        assert_eq!(defined, ["close", "dup2", "dup3"]);
        assert_eq!(strong, [""; 0], "a process without them could not start");
        assert!(file.imports().unwrap().iter().all(|i| i.library().is_empty()));
    }

    #[test]
    fn a_loader_is_known_by_its_name() {
        assert!(is_glibcs(b"/lib64/ld-linux-x86-64.so.2"));
        assert!(!is_glibcs(b"/lib/ld-musl-x86_64.so.1"));
    }
}
