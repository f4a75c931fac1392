//! Text that fits a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns of a line.
const LINE_WIDTH: usize = 80;

/// A length of time in at most six columns: three digits and a unit.
pub(crate) fn duration(ns: u64) -> String {
    let mut value = ns as f64;
    for unit in ["ns", "µs", "ms"] {
        // 999.5 would be shown as 1000.
        if value < 999.5 {
            return if unit == "ns" {
                format!("{ns}ns")
            } else {
                format!("{}{unit}", three_digits(value))
            };
        }
        value /= 1000.0;
    }
    format!("{}s", three_digits(value))
}

fn three_digits(value: f64) -> String {
    // What would be rounded up to another digit is that digit longer already.
    let decimals = match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// The text on one line of at most `width` columns; a longer one ends in an ellipsis. A label can
/// hold anything: what would move the cursor or change the terminal is shown escaped.
pub(crate) fn fitted(text: &str, width: usize) -> String {
    let mut fitted = String::new();
    let mut columns = 0;
    for (index, character) in text.char_indices() {
        let shown = if character.is_control() {
            character.escape_default().to_string()
        } else {
            character.to_string()
        };
        let rest = &text[index + character.len_utf8()..];
        let room = width - usize::from(!rest.is_empty());
        if columns + shown.width() > room {
            fitted.push('…');
            return fitted;
        }
        columns += shown.width();
        fitted.push_str(&shown);
    }
    fitted
}

/// The text on lines of at most 80 columns, broken at spaces where there are any.
pub(crate) fn wrapped(text: &str) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    let mut columns = 0;
    for word in text.split_whitespace() {
        if columns > 0 && columns + 1 + word.width() > LINE_WIDTH {
            lines.push(String::new());
            columns = 0;
        } else if columns > 0 {
            lines.last_mut().expect("has a line").push(' ');
            columns += 1;
        }
        for character in word.chars().filter(|character| !character.is_control()) {
            let width = character.width().unwrap_or(0);
            if columns + width > LINE_WIDTH {
                lines.push(String::new());
                columns = 0;
            }
            lines.last_mut().expect("has a line").push(character);
            columns += width;
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits_and_a_unit() {
        for (ns, shown) in [
            (0, "0ns"),
            (999, "999ns"),
            (1_000, "1.00µs"),
            (9_994, "9.99µs"),
            (9_996, "10.0µs"),
            (99_960, "100µs"),
            (999_499, "999µs"),
            (999_500, "1.00ms"),
            (12_345_678, "12.3ms"),
            (1_000_000_000, "1.00s"),
            (86_400_000_000_000, "86400s"),
        ] {
            assert_eq!(duration(ns), shown, "{ns}");
        }
    }

    #[test]
    fn text_fits_and_cannot_steer_the_terminal() {
        assert_eq!(fitted("exactly", 7), "exactly");
        assert_eq!(fitted("too long", 7), "too lo…");
        assert_eq!(fitted("漢字漢字", 6), "漢字…");
        assert_eq!(fitted("a\nb\u{1b}[2J", 40), "a\\nb\\u{1b}[2J");
        assert_eq!(fitted("", 5), "");
    }

    #[test]
    fn lines_break_at_spaces_and_long_words_in_the_middle() {
        let lines = wrapped(&format!("{} tail", "word ".repeat(20)));
        assert!(lines.lines().all(|line| line.width() <= 80));
        assert_eq!(lines.split_whitespace().count(), 21);
        let path = "/x".repeat(100);
        let lines = wrapped(&path);
        assert!(lines.lines().all(|line| line.width() <= 80));
        assert_eq!(lines.replace('\n', ""), path);
    }
}
