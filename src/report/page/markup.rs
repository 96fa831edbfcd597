//! HTML as text: escaping, the frame of a page, and tables.
//!
//! Nothing from outside is ever part of the markup: every text goes through [`escaped`]. Should one get by all the same,
//! the page's policy allows no script and no style but the two whose hashes it names.

use sha2::{Digest as _, Sha256};

use crate::core::text::printable;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Text as HTML shows it, in attributes too. What is not printable is escaped as in the text report.
pub fn escaped(text: &str) -> String {
    let text = printable(text.as_bytes());
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A name that may be written from the right to the left: it does not turn its surroundings round.
pub fn name(text: &str) -> String {
    format!("<bdi>{}</bdi>", escaped(text))
}

/// A hash as a policy names it.
fn hash(content: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let sum = Sha256::digest(content.as_bytes());
    let mut out = "'sha256-".to_owned();
    for three in sum.chunks(3) {
        let bits = three.iter().fold(0_u32, |n, b| n << 8 | u32::from(*b)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place > three.len() { '=' } else { char::from(digit) });
        }
    }
    out.push('\'');
    out
}

/// A whole page.
pub fn page(title: &str, body: &str) -> String {
    let policy = format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        escaped(title)
    )
}

/// A cell: what is shown, and the number that it is sorted by.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// The text.
    pub text: String,
    /// The number behind it, where the text is rounded.
    pub number: Option<u64>,
}

impl Cell {
    /// A number with its text.
    pub fn number(text: String, number: u64) -> Cell {
        Cell { text, number: Some(number) }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell { text, number: None }
    }
}

/// A table that can be sorted, filtered and copied. Columns from `words_from` on hold words.
pub fn table(title: &str, head: &[String], rows: &[Vec<Cell>], words_from: usize) -> String {
    let class = |n: usize| if n >= words_from { " class=\"w\"" } else { "" };
    let mut out = format!(
        "<div class=\"data\"><div class=\"tools\"><input type=\"search\" placeholder=\"Filter rows\" aria-label=\"Filter the \
         rows of {0}\"><button type=\"button\" class=\"copy\">Copy as Markdown</button></div>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table><thead><tr>",
        escaped(title)
    );
    for (n, column) in head.iter().enumerate() {
        out.push_str(&format!(
            "<th scope=\"col\"{}><button type=\"button\">{}</button></th>",
            class(n),
            escaped(column)
        ));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (n, cell) in row.iter().enumerate() {
            let number = cell.number.map_or(String::new(), |n| format!(" data-v=\"{n}\""));
            let text = if n >= words_from { name(&cell.text) } else { escaped(&cell.text) };
            out.push_str(&format!("<td{}{number}>{text}</td>", class(n)));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div></div>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_is_markup() {
        assert_eq!(escaped("</script><b a='\"'>&"), "&lt;/script&gt;&lt;b a=&#39;&quot;&#39;&gt;&amp;");
        assert_eq!(escaped("\x1b[31m\u{202e}x"), "\\u{1b}[31m\\u{202e}x");
        let table = table("<t>", &["<h>".into()], &[vec![Cell::from("<c>".to_owned())]], 0);
        for raw in ["<t>", "<h>", "<c>"] {
            assert!(!table.contains(raw), "{table}");
        }
        assert!(!page("<x>", "").contains("<title><x>"));
    }

    #[test]
    fn a_policy_names_the_hash_of_what_is_there() {
        // As `printf %s '' | openssl dgst -sha256 -binary | base64` gives it.
        assert_eq!(hash(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
        assert_eq!(hash("abc"), "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='");
        assert!(page("t", "").contains(&format!("script-src {};", hash(SCRIPT))));
    }
}
