//! Errors in how we were called: one line that names the thing and the remedy.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The line for an error of the command line's parser. `words` are the arguments as given.
pub fn line(error: &clap::Error, words: &[String]) -> String {
    let named = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(" ")),
        _ => None,
    };
    let what = named(ContextKind::InvalidArg).unwrap_or_default();
    let dashes = words.iter().any(|w| w == "--");
    match error.kind() {
        ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand => {
            let what = named(ContextKind::InvalidSubcommand).unwrap_or(what);
            if what.starts_with('-') {
                let near = named(ContextKind::SuggestedArg).map(|s| format!("did you mean {s}? "));
                return format!("unknown option '{what}': {}see hrx-wrap --help", near.unwrap_or_default());
            }
            if dashes {
                return format!("unexpected '{what}' before '--': the command goes behind it");
            }
            format!("'{what}' is not a command of ours: to run it, put '--' before it: hrx-wrap -- {what} …")
        }
        ErrorKind::MissingRequiredArgument if what.contains("CMD") => {
            "no command: give one behind '--', as in hrx-wrap -o RUN -- llama-bench -m M.gguf".to_owned()
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation
            if named(ContextKind::InvalidValue).as_deref() == Some("") =>
        {
            format!("{what} needs a value: see hrx-wrap --help")
        }
        _ => first_line(error),
    }
}

/// What clap says, without its label, its tips and its usage.
fn first_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
    let first = lines.next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let more = lines.next().filter(|l| l.starts_with("[possible values") || l.starts_with('-'));
    match more {
        Some(more) => format!("{first} {more}; see hrx-wrap --help"),
        None => format!("{first}; see hrx-wrap --help"),
    }
}
