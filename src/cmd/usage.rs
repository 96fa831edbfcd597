//! Errors in how we were called: one line that names the thing and the remedy.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The commands whose words are not for `run`.
pub const OTHERS: [&str; 7] = ["parse", "compare", "mem", "kernels", "demo", "self-test", "demo-target"];

/// The line for an error of the command line's parser. `words` are the arguments as given.
pub fn line(error: &clap::Error, words: &[String]) -> String {
    let named = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(" ")),
        _ => None,
    };
    let what = named(ContextKind::InvalidArg).unwrap_or_default();
    let other = words.get(1).map(String::as_str).filter(|word| OTHERS.contains(word));
    match (error.kind(), other) {
        (ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand, _) => {
            let what = named(ContextKind::InvalidSubcommand).unwrap_or(what);
            stray(&what, named(ContextKind::SuggestedArg), other, words.iter().any(|w| w == "--"))
        }
        (ErrorKind::MissingRequiredArgument, None) if what.contains("--out") => {
            "--force goes with --out DIR: name the run folder to replace".to_owned()
        }
        (ErrorKind::MissingRequiredArgument, None) if what.contains("--profile") => {
            "--programs and --commands narrow the trace that -p (--profile) asks for: give that as well"
                .to_owned()
        }
        (ErrorKind::MissingRequiredArgument, None) if what.contains("--split") => {
            "--verbose-by says how -s (--split) asks for buffer lines: give that as well".to_owned()
        }
        (ErrorKind::MissingRequiredArgument, None) => {
            "no command: give one behind '--', as in hrx-wrap -o RUN -- llama-bench -m M.gguf".to_owned()
        }
        (ErrorKind::MissingRequiredArgument, Some(command)) => {
            format!("{command} needs {what}: see hrx-wrap {command} --help")
        }
        (ErrorKind::InvalidValue | ErrorKind::ValueValidation, _)
            if named(ContextKind::InvalidValue).as_deref() == Some("") =>
        {
            format!("{what} needs a value: see hrx-wrap --help")
        }
        _ => first_line(error),
    }
}

/// A word that is no option, no command of ours, or in the wrong place.
fn stray(what: &str, near: Option<String>, other: Option<&str>, dashes: bool) -> String {
    let near = near.map(|s| format!("did you mean {s}? ")).unwrap_or_default();
    match other {
        Some(command) => format!("{command} does not take '{what}': {near}see hrx-wrap {command} --help"),
        None if what.starts_with('-') => format!("unknown option '{what}': {near}see hrx-wrap --help"),
        None if OTHERS.contains(&what) => {
            format!("options come behind '{what}': hrx-wrap {what} [OPTIONS] …")
        }
        None if dashes => format!("unexpected '{what}' before '--': the command goes behind it"),
        None => {
            format!("'{what}' is not a command of ours: to run it, put '--' before it: hrx-wrap -- {what} …")
        }
    }
}

/// What clap says, without its label, its tips and its usage.
fn first_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
    let first = lines.next().unwrap_or_default().trim_start_matches("error: ");
    // The words of the standard library name no remedy.
    let first = first.replace("invalid digit found in string", "give a whole number, in decimal digits");
    let more = lines.next().filter(|l| l.starts_with("[possible values") || l.starts_with('-'));
    match more {
        Some(more) => format!("{first} {more}; see hrx-wrap --help"),
        None => format!("{first}; see hrx-wrap --help"),
    }
}
