//! What Python may pass as a label, as bytes.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::borrow::Cow;

/// The bytes of a `str` or a `bytes`. A `str` that is not valid Unicode (lone surrogates, as
/// `os.fsdecode` makes of a file name's stray bytes) gives back those bytes: a label must never
/// raise for what is in it.
pub(crate) struct Label<'py>(Cow<'py, [u8]>);

impl<'py> Label<'py> {
    pub(crate) fn of(value: &'py Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = value.cast::<PyString>() {
            return Self::of_text(text);
        }
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return Ok(Self(Cow::Borrowed(bytes.as_bytes())));
        }
        Err(PyTypeError::new_err(format!(
            "a label is a str or bytes, not {}",
            value.get_type().name()?
        )))
    }

    fn of_text(text: &'py Bound<'py, PyString>) -> PyResult<Self> {
        if let Ok(text) = text.to_str() {
            return Ok(Self(Cow::Borrowed(text.as_bytes())));
        }
        for errors in ["surrogateescape", "surrogatepass"] {
            if let Ok(bytes) = text.call_method1("encode", ("utf-8", errors)) {
                return Ok(Self(Cow::Owned(bytes.extract()?)));
            }
        }
        Ok(Self(Cow::Owned(
            text.to_string_lossy().into_owned().into_bytes(),
        )))
    }

    /// As [`of`](Self::of); `None` is the empty label that a null pointer means in C.
    pub(crate) fn of_optional(value: Option<&'py Bound<'py, PyAny>>) -> PyResult<Self> {
        value.map_or(Ok(Self(Cow::Borrowed(&[]))), Self::of)
    }

    /// The label as a `str` that every library takes.
    pub(crate) fn text<'a>(&self, py: Python<'a>) -> Bound<'a, PyString> {
        PyString::new(py, &String::from_utf8_lossy(&self.0))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}
