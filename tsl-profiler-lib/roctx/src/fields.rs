//! Fields of spans and events as metadata in labels: `name#key=value,key=value#`.
//!
//! Readers of such labels split at commas outside quotes and brackets, and nothing can be escaped.
//! So a value that they would split is put in quotes, and the `#` of a name that has metadata
//! becomes the full-width one.

use std::error::Error;
use std::fmt::{self, Write};
use tracing_core::field::{Field, Visit};

/// The field in which `tracing`'s macros put an event's text.
const MESSAGE: &str = "message";

/// What was recorded of a span or an event.
#[derive(Default)]
pub(crate) struct Fields {
    values: Vec<(&'static str, String)>,
    /// The text of an event.
    message: Option<String>,
    /// What the field [`crate::ASYNC_FIELD`] says; it is no metadata.
    pub(crate) asynchronous: Option<bool>,
}

impl Fields {
    /// Whether a label has nothing but its name.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty() && self.message.is_none()
    }

    /// The label of something of this name. An event's text stands for its name.
    pub(crate) fn label(&self, name: &str) -> String {
        let name = self.message.as_deref().unwrap_or(name);
        if self.values.is_empty() {
            return name.to_owned();
        }
        let mut label = name.replace('#', "\u{ff03}");
        for (nth, (key, value)) in self.values.iter().enumerate() {
            label.push(if nth == 0 { '#' } else { ',' });
            label.push_str(key);
            label.push('=');
            push_value(&mut label, value);
        }
        label.push('#');
        label
    }

    /// The field's text to write to, in place of what was recorded before.
    fn entry(&mut self, field: &Field) -> &mut String {
        let text = if field.name() == MESSAGE {
            self.message.get_or_insert_default()
        } else {
            let index = match self.values.iter().position(|(key, _)| *key == field.name()) {
                Some(index) => index,
                None => {
                    self.values.push((field.name(), String::new()));
                    self.values.len() - 1
                }
            };
            &mut self.values[index].1
        };
        text.clear();
        text
    }
}

impl Visit for Fields {
    fn record_bool(&mut self, field: &Field, value: bool) {
        if field.name() == crate::ASYNC_FIELD {
            self.asynchronous = Some(value);
        } else {
            self.record_debug(field, &value);
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.entry(field).push_str(value);
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Formatted apart: the value's own code may record fields, of another span.
        let mut text = String::new();
        // Writing to a String fails only if the value's own Debug does; what it wrote stays.
        let _ = write!(text, "{value:?}");
        self.record_str(field, &text);
    }
}

/// Appends a value as readers of metadata get it back whole.
fn push_value(label: &mut String, value: &str) {
    if is_read_whole(value) {
        label.push_str(value);
    } else if !value.contains('"') {
        label.extend(["\"", value, "\""]);
    } else if !value.contains('\'') {
        label.extend(["'", value, "'"]);
    } else {
        label.extend(["\"", &value.replace('"', "'"), "\""]);
    }
}

/// Whether readers take the value as it is: they trim it, skip an empty one, and split it at commas
/// outside quotes and brackets, and an open one of these would swallow what follows.
fn is_read_whole(value: &str) -> bool {
    if value.is_empty() || value.trim() != value {
        return false;
    }
    let mut open = Vec::new();
    for character in value.chars() {
        match (open.last(), character) {
            (Some(&closer), _) if character == closer => {
                open.pop();
            }
            (Some('"' | '\''), _) => {}
            (_, '"' | '\'') => open.push(character),
            (_, '(') => open.push(')'),
            (_, '[') => open.push(']'),
            (_, '{') => open.push('}'),
            (_, ')' | ']' | '}') => return false,
            (None, ',') => return false,
            _ => {}
        }
    }
    open.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(value: &str) -> String {
        let mut label = String::new();
        push_value(&mut label, value);
        label
    }

    #[test]
    fn values_that_read_back_whole_are_left_as_they_are() {
        for plain in [
            "1",
            "two words",
            "a#b",
            "k=v",
            "(1, 2)",
            "[1, [2]]",
            "{a: 1, b: 2}",
            "\"a, b\"",
            "'(,'",
        ] {
            assert_eq!(value(plain), plain);
        }
    }

    #[test]
    fn values_that_would_be_split_trimmed_or_skipped_are_quoted() {
        assert_eq!(value("a, b"), "\"a, b\"");
        assert_eq!(value(""), "\"\"");
        assert_eq!(value(" a"), "\" a\"");
        assert_eq!(value("f(x"), "\"f(x\"");
        assert_eq!(value(":-)"), "\":-)\"");
        assert_eq!(value("it's"), "\"it's\"");
        assert_eq!(value("5\" disk"), "'5\" disk'");
        assert_eq!(value("it's 5\" wide, or 6"), "\"it's 5' wide, or 6\"");
    }
}
