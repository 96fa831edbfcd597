//! The reports of a run that has ended, to where they go.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::Kept;
use crate::cmd::files::{deliver, replace};
use crate::cmd::timeline::{self, Events, Matter};
use crate::core::names::Catalogue;
use crate::core::profile::Profile;
use crate::report::view::View;
use crate::report::{Subject, json, page, tables, text};

impl Kept {
    /// Writes every report; yields the text. `troubles` gets a sentence for each that could not be written.
    pub(super) fn write_reports(&self, subject: &Subject<'_>, troubles: &mut Vec<String>) -> String {
        let text = text::report(subject);
        let mut results = self.plain(subject, &text);
        results.extend(self.tables(subject));
        if let Some(path) = &self.places.report {
            results.push((path.clone(), self.hand_out(path, text.as_bytes())));
        }
        // Pictures come last: they take the longest, and the rest is there already should we be killed.
        results.extend(self.pictures(subject));
        for (path, result) in results {
            if let Err(error) = result {
                troubles.push(format!("cannot write {}: {error}", path.display()));
            }
        }
        text
    }

    /// The record and the reports of the run folder, and the JSON where the user wants it.
    fn plain(&self, subject: &Subject<'_>, text: &str) -> Vec<(PathBuf, io::Result<()>)> {
        let json = json_text(subject);
        let mut results = Vec::new();
        if let Some(out) = &self.places.out {
            results.push((out.join("run.json"), self.write_record(subject.run)));
            for (name, content) in [("report.txt", text), ("report.json", &json)] {
                let path = out.join(name);
                let result = replace(&path, content.as_bytes());
                results.push((path, result));
            }
        }
        if let Some(path) = &self.places.json {
            results.push((path.clone(), self.hand_out(path, json.as_bytes())));
        }
        results
    }

    /// The tables, where the user wants them.
    fn tables(&self, subject: &Subject<'_>) -> Vec<(PathBuf, io::Result<()>)> {
        let ways = [
            (&self.places.csv, tables::csv as fn(&Profile, &Catalogue, View) -> String),
            (&self.places.markdown, tables::markdown),
        ];
        let profile = subject.book.map(|book| &book.profile);
        let wanted = ways.into_iter().filter_map(|(path, table)| Some((path.as_ref()?, table, profile?)));
        let written = wanted.map(|(path, table, profile)| {
            let text = table(profile, subject.names, subject.view);
            (path.clone(), self.hand_out(path, text.as_bytes()))
        });
        written.collect()
    }

    /// Writes the page and the timeline to where they go; yields how that went.
    fn pictures(&self, subject: &Subject<'_>) -> Vec<(PathBuf, io::Result<()>)> {
        let places = &self.places;
        let inside = |name: &str| places.out.as_ref().map(|out| out.join(name));
        let mut results = Vec::new();
        let kept = inside("report.html");
        if kept.is_some() || places.html.is_some() {
            let page = page::report(subject);
            if let Some(path) = kept {
                let result = replace(&path, page.as_bytes());
                results.push((path, result));
            }
            if let Some(path) = places.html.clone() {
                let result = self.hand_out(&path, page.as_bytes());
                results.push((path, result));
            }
        }
        let (Some(book), Some(log)) = (subject.book, places.log.as_ref()) else { return results };
        let matter = Matter {
            run: subject.run,
            profile: &book.profile,
            names: subject.names,
            memory: subject.memory,
            phases: book.phases.spans(),
            most: places.timeline_max,
        };
        // Only a file can be read again.
        let log = log.is_file().then_some(log);
        for path in inside("timeline.pftrace").into_iter().chain(places.timeline.clone()) {
            let result = timeline::write(&matter, log.map(|log| Events::Log(log)), &path);
            results.push((path, result));
        }
        results
    }

    /// Writes to where the user said.
    fn hand_out(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        match self.ways.iter().find(|(known, _)| known == path) {
            Some((_, way)) => (&*way).write_all(content),
            None => deliver(path, content),
        }
    }
}

/// The JSON report as a file holds it.
pub fn json_text(subject: &Subject<'_>) -> String {
    // A tree of strings and numbers always is JSON.
    let mut text = serde_json::to_string_pretty(&json::report(subject)).unwrap_or_default();
    text.push('\n');
    text
}
