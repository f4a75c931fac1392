//! The grammar of annotations: `name#key=value,key=value#`.
//!
//! As TSL parses it: text that ends in `#` has metadata after its first `#`; pairs are separated by
//! commas outside quotes and brackets; a pair is split at its first `=` and both sides are trimmed;
//! pairs with an empty side are skipped.

use xplane_schema::builder::XPlaneBuilder;
use xplane_schema::proto::XStat;
use xplane_schema::proto::x_stat::Value;

/// An annotation in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation<'a> {
    /// What it is called, trimmed.
    pub name: &'a str,
    /// Its metadata, in order.
    pub metadata: Vec<(&'a str, &'a str)>,
}

impl<'a> Annotation<'a> {
    /// Splits an annotation. Text without metadata is all name.
    pub fn parse(text: &'a str) -> Self {
        let parts = text.strip_suffix('#').and_then(|rest| rest.split_once('#'));
        match parts {
            None => Self {
                name: text.trim(),
                metadata: Vec::new(),
            },
            Some((name, metadata)) => Self {
                name: name.trim(),
                metadata: pairs(metadata),
            },
        }
    }
}

impl<'a> Annotation<'a> {
    /// Splits what the annotation stack joined, outermost first. Parts without text are skipped.
    pub fn parse_stack(text: &'a str) -> Vec<Self> {
        text.split("::")
            .filter(|part| !part.is_empty())
            .map(Self::parse)
            .collect()
    }
}

/// A pair of metadata as a stat of the plane: with a number where the value is one, else a text.
pub(crate) fn stat(key: &str, value: &str, plane: &mut XPlaneBuilder<'_>) -> XStat {
    let number = None
        .or_else(|| value.parse().map(Value::Int64Value).ok())
        .or_else(|| value.parse().map(Value::Uint64Value).ok())
        .or_else(|| value.parse().map(Value::DoubleValue).ok());
    XStat {
        metadata_id: plane.get_or_create_stat_metadata(key),
        value: Some(
            number.unwrap_or_else(|| {
                Value::RefValue(plane.get_or_create_stat_metadata(value) as u64)
            }),
        ),
        ..Default::default()
    }
}

fn pairs(text: &str) -> Vec<(&str, &str)> {
    let mut pairs = Vec::new();
    let mut closers: Vec<char> = Vec::new();
    let mut quote = None;
    let mut start = 0;
    let mut take = |end: usize, start: &mut usize| {
        if let Some((key, value)) = text[*start..end].split_once('=') {
            let (key, value) = (key.trim(), value.trim());
            if !key.is_empty() && !value.is_empty() {
                pairs.push((key, value));
            }
        }
        *start = end + 1;
    };
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '(') => closers.push(')'),
            (None, '[') => closers.push(']'),
            (None, '{') => closers.push('}'),
            (None, ')' | ']' | '}') if closers.last() == Some(&character) => {
                closers.pop();
            }
            (None, ',') if closers.is_empty() => take(at, &mut start),
            (None, _) => {}
        }
    }
    if start < text.len() {
        take(text.len(), &mut start);
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::Annotation;

    fn parse(text: &str) -> (&str, Vec<(&str, &str)>) {
        let annotation = Annotation::parse(text);
        (annotation.name, annotation.metadata)
    }

    #[test]
    fn a_name_alone() {
        assert_eq!(parse("name"), ("name", vec![]));
        assert_eq!(parse(" name "), ("name", vec![]));
        assert_eq!(parse(""), ("", vec![]));
        assert_eq!(parse("#"), ("#", vec![]));
        assert_eq!(parse("name#"), ("name#", vec![]));
        assert_eq!(parse("issue #12"), ("issue #12", vec![]));
    }

    #[test]
    fn a_name_with_metadata() {
        assert_eq!(parse("name##"), ("name", vec![]));
        assert_eq!(parse("name#a=1#"), ("name", vec![("a", "1")]));
        assert_eq!(
            parse("name#a = 1 , b=two words#"),
            ("name", vec![("a", "1"), ("b", "two words")])
        );
        assert_eq!(parse("#a=1#"), ("", vec![("a", "1")]));
    }

    #[test]
    fn a_stack_is_split_and_each_part_parsed() {
        let stack: Vec<_> = Annotation::parse_stack("step#n=1#::::fusion#hlo_op=add,n=2#::copy")
            .into_iter()
            .map(|annotation| (annotation.name, annotation.metadata))
            .collect();
        assert_eq!(
            stack,
            [
                ("step", vec![("n", "1")]),
                ("fusion", vec![("hlo_op", "add"), ("n", "2")]),
                ("copy", vec![]),
            ]
        );
        assert_eq!(Annotation::parse_stack(""), []);
    }

    #[test]
    fn commas_within_quotes_and_brackets_do_not_separate() {
        assert_eq!(
            parse("n#shape=(1,2),s='x,y',t=\"{,\",l=[1,(2,3)],e=5#"),
            (
                "n",
                vec![
                    ("shape", "(1,2)"),
                    ("s", "'x,y'"),
                    ("t", "\"{,\""),
                    ("l", "[1,(2,3)]"),
                    ("e", "5"),
                ]
            )
        );
    }

    #[test]
    fn pairs_with_an_empty_side_are_skipped_and_the_first_equals_splits() {
        assert_eq!(
            parse("n#=1,a=,,b,c=x=y,d=é#"),
            ("n", vec![("c", "x=y"), ("d", "é")])
        );
    }

    #[test]
    fn brackets_that_never_close_swallow_the_rest_and_nothing_panics() {
        assert_eq!(parse("n#a=(1,b=2#"), ("n", vec![("a", "(1,b=2")]));
        assert_eq!(parse("n#a=1),b=2#"), ("n", vec![("a", "1)"), ("b", "2")]));
    }
}
