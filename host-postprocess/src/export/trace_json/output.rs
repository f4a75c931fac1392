//! The JSON's text, gathered in large pieces.

use super::names::PlaneNames;
use serde::Serialize;
use std::io::{self, Write};
use xplane_schema::proto::x_stat::Value;

/// How much is gathered before it is written.
const FULL: usize = 256 * 1024;

pub(super) struct Output<W> {
    buffer: Vec<u8>,
    to: W,
    is_first_item: bool,
}

impl<W: Write> Output<W> {
    pub(super) fn new(to: W) -> Self {
        Self {
            buffer: Vec::with_capacity(FULL + FULL / 4),
            to,
            is_first_item: true,
        }
    }

    /// Text that is JSON already.
    #[inline]
    pub(super) fn raw(&mut self, json: &str) {
        self.buffer.extend_from_slice(json.as_bytes());
    }

    /// Anything as JSON.
    pub(super) fn json(&mut self, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
        Ok(serde_json::to_writer(&mut self.buffer, value)?)
    }

    /// Starts an item of the list of events.
    #[inline]
    pub(super) fn next_item(&mut self) {
        if !std::mem::take(&mut self.is_first_item) {
            self.raw(",\n");
        }
    }

    /// A stat's value, as a JSON string: as text, 64 bits lose nothing.
    #[inline]
    pub(super) fn value(&mut self, value: &Value, names: &PlaneNames<'_>) -> io::Result<()> {
        match value {
            Value::RefValue(id) => self.raw(names.text(*id)),
            Value::StrValue(text) => self.json(text)?,
            Value::Int64Value(number) => {
                self.raw(if *number < 0 { "\"-" } else { "\"" });
                self.digits(number.unsigned_abs().into(), 1);
                self.raw("\"");
            }
            Value::Uint64Value(number) => {
                self.raw("\"");
                self.digits((*number).into(), 1);
                self.raw("\"");
            }
            Value::DoubleValue(number) => write!(self.buffer, "\"{number}\"")?,
            // As TSL words it.
            Value::BytesValue(_) => self.raw("\"<opaque bytes>\""),
        }
        Ok(())
    }

    /// A time as µs, to the last ps.
    #[inline]
    pub(super) fn micros(&mut self, ps: i128) {
        const PS_PER_US: u128 = 1_000_000;
        const DIGITS: usize = 6;
        if ps < 0 {
            self.raw("-");
        }
        let ps = ps.unsigned_abs();
        // Nearly all times fit 64 bits, which divide far faster.
        let (whole, part) = match u64::try_from(ps) {
            Ok(ps) => ((ps / PS_PER_US as u64).into(), ps % PS_PER_US as u64),
            Err(_) => (ps / PS_PER_US, (ps % PS_PER_US) as u64),
        };
        self.digits(whole, 1);
        if part != 0 {
            self.raw(".");
            self.digits(part.into(), DIGITS);
            while self.buffer.last() == Some(&b'0') {
                self.buffer.pop();
            }
        }
    }

    /// A number with at least `width` digits.
    #[inline]
    fn digits(&mut self, number: u128, width: usize) {
        // Enough for the largest: 2^128 has 39 digits.
        let mut digits = [b'0'; 40];
        let mut start = digits.len();
        let mut push = |digit: u8| {
            start -= 1;
            digits[start] = b'0' + digit;
        };
        let mut number = number;
        while number > u64::MAX.into() {
            push((number % 10) as u8);
            number /= 10;
        }
        let mut number = number as u64;
        while number > 0 {
            push((number % 10) as u8);
            number /= 10;
        }
        let start = start.min(digits.len() - width);
        self.buffer.extend_from_slice(&digits[start..]);
    }

    /// Writes what was gathered, if that is much.
    #[inline]
    pub(super) fn flush_if_full(&mut self) -> io::Result<()> {
        if self.buffer.len() >= FULL {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Writes all that is left.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.to.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}
