//! What can be a label: anything that is bytes, and registered strings as titles of ranges.

use nvtx_utils_interface::{RangeTitle, StringHandle};
use std::borrow::Cow;
use std::ffi::{CStr, CString};

/// The text of an annotation: bytes of any kind.
pub trait Label {
    /// The text.
    fn bytes(&self) -> &[u8];

    /// The text as a C string, where it is one already: it is passed on without a copy.
    #[inline]
    fn c_str(&self) -> Option<&CStr> {
        None
    }
}

/// The title of a range: a [`Label`], or a [`RegisteredTitle`].
pub trait Title {
    /// The title.
    fn title(&self) -> RangeTitle<'_>;
}

impl<L: Label + ?Sized> Title for L {
    #[inline]
    fn title(&self) -> RangeTitle<'_> {
        match self.c_str() {
            Some(text) => RangeTitle::CStr(text),
            None => RangeTitle::Bytes(self.bytes()),
        }
    }
}

/// A string that `nvtx_utils::register_string` returned, with the annotation's fields.
#[derive(Clone, Copy, Debug)]
pub struct RegisteredTitle<'a> {
    /// The string; null for a range without a name.
    pub title: StringHandle,
    /// How the payload is laid out, from `nvtx_utils::register_schema`; 0 if nobody said.
    pub schema_id: u64,
    /// The fields as they lie in memory.
    pub payload: &'a [u8],
}

impl Title for RegisteredTitle<'_> {
    #[inline]
    fn title(&self) -> RangeTitle<'_> {
        RangeTitle::Registered {
            title: self.title,
            schema_id: self.schema_id,
            payload: self.payload,
        }
    }
}

macro_rules! label {
    ($($type:ty: $self:ident => $bytes:expr $(, $c_str:expr)?;)*) => {$(
        impl Label for $type {
            #[inline]
            fn bytes(&self) -> &[u8] {
                let $self = self;
                $bytes
            }
            $(
                #[inline]
                fn c_str(&self) -> Option<&CStr> {
                    let $self = self;
                    Some($c_str)
                }
            )?
        }
    )*};
}

label! {
    str: text => text.as_bytes();
    [u8]: text => text;
    CStr: text => text.to_bytes(), text;
    String: text => text.as_bytes();
    Vec<u8>: text => text;
    CString: text => text.as_bytes(), text;
    Cow<'_, str>: text => text.as_bytes();
    Cow<'_, [u8]>: text => text;
}

impl<const N: usize> Label for [u8; N] {
    #[inline]
    fn bytes(&self) -> &[u8] {
        self
    }
}

impl<L: Label + ?Sized> Label for &L {
    #[inline]
    fn bytes(&self) -> &[u8] {
        (**self).bytes()
    }

    #[inline]
    fn c_str(&self) -> Option<&CStr> {
        (**self).c_str()
    }
}
