//! Why the log tells of no model: what hides it, and what to change.

use crate::core::run::Run;
use crate::core::tally::Tally;
use crate::core::text::{count, printable};

/// Options of llama-server that name a model; without one it is a router.
const MODELS: [&str; 12] = [
    "-m",
    "--model",
    "-mu",
    "--model-url",
    "-hf",
    "-hfr",
    "--hf-repo",
    "-hff",
    "--hf-file",
    "-dr",
    "--docker-repo",
    "--embd-gemma-default",
];

/// A sentence for a run whose log tells of no model's buffers.
pub fn why(run: &Run, tally: &Tally) -> String {
    let args = run.command.get(1..).unwrap_or_default();
    let has = |option: &str| {
        args.iter().any(|a| a == option || a.strip_prefix(option).is_some_and(|r| r.starts_with('=')))
    };
    let set =
        |name: &str| run.changed.env.iter().any(|v| v.strip_prefix(name).is_some_and(|v| v.starts_with('=')));
    let tool = basename(run);
    let unseen = "the log tells of no model's buffers";
    if has("--log-jsonl") || set("LLAMA_ARG_LOG_JSONL") {
        format!(
            "{unseen}: with --log-jsonl it goes to stdout, which is the target's alone. Leave the option out"
        )
    } else if has("--log-disable") {
        format!("{unseen}: --log-disable is given. Leave it out")
    } else if let Some(level) = level(args).filter(|level| *level < 4) {
        format!(
            "{unseen}: the command line asks for level {level}, and the buffers' is 4. Leave -lv out, or make it 4"
        )
    } else if tool == "llama-server" && !MODELS.iter().any(|option| has(option)) && !set("LLAMA_ARG_MODEL") {
        format!(
            "{unseen}: a llama-server without a model is a router, which prints its children's logs on stdout. Name the \
             model (-m), or start the child itself behind hrx-wrap"
        )
    } else if !run.split && !run.tool.name.is_empty() {
        format!("{unseen}: -s asks llama.cpp for them")
    } else if tool == "llama-bench" && !has("-v") && !has("--verbose") && run.changed.args.is_empty() {
        format!(
            "{unseen}: llama-bench prints them with -v alone. Leave --verbose-by at its default, or give -v"
        )
    } else if tally.lines == 0 {
        format!(
            "{unseen}: the target printed nothing on stderr. Does its log go elsewhere (2>, --log-file, a container)?"
        )
    } else {
        format!(
            "{unseen} in {}: did it load a model, and is it llama.cpp? Its buffers are printed at level 4 (-s asks for it), \
             and a run that ends early prints none",
            count(tally.lines, "line")
        )
    }
}

/// The program's name without its folder.
pub fn basename(run: &Run) -> String {
    let program = run.command.first().map_or("", String::as_str);
    printable(program.rsplit('/').next().unwrap_or_default().as_bytes())
}

/// The level of verbosity on a command line; the last one counts.
fn level(args: &[String]) -> Option<u32> {
    let options = ["-lv", "--verbosity", "--log-verbosity"];
    let pairs = args.windows(2).rev();
    pairs.into_iter().find(|pair| options.contains(&pair[0].as_str())).and_then(|pair| pair[1].parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::run::{Changed, Tool};

    fn said(command: &[&str], changed: &[&str], lines: u64) -> String {
        let run = Run {
            tool: Tool { name: "hrx-wrap".into(), ..Tool::default() },
            split: true,
            command: command.iter().map(|w| (*w).to_owned()).collect(),
            changed: Changed { env: changed.iter().map(|w| (*w).to_owned()).collect(), args: Vec::new() },
            ..Run::default()
        };
        why(&run, &Tally { lines, ..Tally::default() })
    }

    #[test]
    fn each_reason_names_the_remedy() {
        for (command, changed, lines, holds) in [
            (&["/x/llama-server", "-m", "m", "--log-jsonl"][..], &[][..], 9, "Leave the option out"),
            (&["llama-server", "-m", "m"], &["LLAMA_ARG_LOG_JSONL=1"], 9, "stdout"),
            (&["llama-completion", "--log-disable"], &[], 9, "--log-disable is given"),
            (&["llama-completion", "-lv", "4", "-lv", "2"], &[], 9, "level 2"),
            (&["/opt/llama-server", "--port", "1"], &[], 9, "is a router"),
            (&["llama-server", "--model=m"], &[], 0, "printed nothing"),
            (&["llama-bench", "-m", "m"], &[], 0, "with -v alone"),
            (&["llama-cli", "-m", "m"], &[], 3, "in 3 lines"),
        ] {
            let text = said(command, changed, lines);
            assert!(text.contains(holds), "{command:?}: {text}");
        }
    }
}
