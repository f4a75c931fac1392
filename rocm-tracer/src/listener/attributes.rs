//! What NVTX calls say of an event beside its text.
//!
//! They are kept with the text, as one label: a NUL, which no text has in it, and a record of fixed
//! length before the text. So a marker is no larger for them, and equal ones are kept once.

use super::labels::TRUNCATED;

/// An event's number, of whichever type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Payload {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
}

/// All of it is optional.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Attributes {
    /// 0 is none.
    pub(crate) category: u32,
    /// Alpha, red, green and blue, a byte each, from the highest.
    pub(crate) color: Option<u32>,
    pub(crate) payload: Option<Payload>,
}

const RECORD: usize = 2 + 4 + 4 + 8;

impl Attributes {
    /// The label of an event; `buffer` is written over if it is needed.
    pub(super) fn label<'a>(&self, text: &'a [u8], buffer: &'a mut Vec<u8>) -> &'a [u8] {
        if text.is_empty() || *self == Self::default() {
            return text;
        }
        let (kind, payload) = match self.payload {
            None => (0, 0),
            Some(Payload::Unsigned(number)) => (1, number),
            Some(Payload::Signed(number)) => (2, number.cast_unsigned()),
            Some(Payload::Float(number)) => (3, number.to_bits()),
        };
        buffer.clear();
        buffer.extend([0, kind << 1 | u8::from(self.color.is_some())]);
        buffer.extend(self.category.to_ne_bytes());
        buffer.extend(self.color.unwrap_or(0).to_ne_bytes());
        buffer.extend(payload.to_ne_bytes());
        buffer.extend_from_slice(text);
        buffer
    }

    /// Takes a label apart.
    pub(crate) fn split(label: &[u8]) -> (Self, &[u8]) {
        let Some((&0, record)) = label.split_first() else {
            return (Self::default(), label);
        };
        // A label limit may be shorter than the record.
        let Some((record, text)) = record.split_first_chunk::<{ RECORD - 1 }>() else {
            return (Self::default(), TRUNCATED);
        };
        let four = |at: usize| u32::from_ne_bytes(std::array::from_fn(|byte| record[at + byte]));
        let number = u64::from_ne_bytes(std::array::from_fn(|byte| record[9 + byte]));
        let attributes = Self {
            category: four(1),
            color: (record[0] & 1 == 1).then(|| four(5)),
            payload: match record[0] >> 1 {
                1 => Some(Payload::Unsigned(number)),
                2 => Some(Payload::Signed(number.cast_signed())),
                3 => Some(Payload::Float(f64::from_bits(number))),
                _ => None,
            },
        };
        (attributes, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_comes_apart_as_it_was_put_together() {
        let none = Attributes::default();
        let mut buffer = Vec::new();
        assert_eq!(none.label(b"text", &mut buffer), b"text");
        assert_eq!(Attributes::split(b"text"), (none, &b"text"[..]));
        assert_eq!(Attributes::split(b""), (none, &b""[..]));
        let all = [
            None,
            Some(Payload::Unsigned(u64::MAX)),
            Some(Payload::Signed(-1)),
            Some(Payload::Float(-0.5)),
        ];
        for payload in all {
            for color in [None, Some(0), Some(0xff00_7f01)] {
                for category in [0, 1, u32::MAX] {
                    let attributes = Attributes {
                        category,
                        color,
                        payload,
                    };
                    let label = attributes.label(b"text", &mut buffer);
                    assert_eq!(Attributes::split(label), (attributes, &b"text"[..]));
                    assert_eq!(attributes.label(b"", &mut buffer), b"");
                }
            }
        }
    }

    #[test]
    fn a_record_that_was_cut_is_a_cut_label() {
        let attributes = Attributes {
            category: 3,
            ..Default::default()
        };
        let mut buffer = Vec::new();
        let label = attributes.label(b"t", &mut buffer);
        assert_eq!(label.len(), RECORD + 1);
        for length in 1..RECORD {
            let split = Attributes::split(&label[..length]);
            assert_eq!(split, (Attributes::default(), TRUNCATED), "{length}");
        }
        assert_eq!(Attributes::split(&label[..RECORD]), (attributes, &b""[..]));
    }
}
