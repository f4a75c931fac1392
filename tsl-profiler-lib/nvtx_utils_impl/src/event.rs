//! A title as NVTX's event attributes.

use nvtx::sys::{self, EventAttributes, MessageType, MessageValue, PayloadType, PayloadValue, ffi};
use nvtx_utils_interface::StringHandle;
use std::ffi::{CStr, CString};

/// A C string cannot hold NUL; this stands for it there (U+FFFD).
const NUL_REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// An event with this title. It holds the title's address: it must not outlive it.
pub(crate) fn with_text(title: &CStr) -> EventAttributes {
    let ascii = title.as_ptr();
    attributes(MessageType::NVTX_MESSAGE_TYPE_ASCII, MessageValue { ascii })
}

/// An event with a registered title; a null title makes one without a name.
pub(crate) fn with_registered(title: StringHandle) -> EventAttributes {
    let registered: ffi::nvtxStringHandle_t = title.as_raw().cast_mut().cast();
    let kind = if title.is_null() {
        MessageType::NVTX_MESSAGE_UNKNOWN
    } else {
        MessageType::NVTX_MESSAGE_TYPE_REGISTERED
    };
    attributes(kind, MessageValue { registered })
}

fn attributes(kind: MessageType, message: MessageValue) -> EventAttributes {
    EventAttributes {
        // Both are small constants of NVTX's headers.
        version: sys::NVTX_VERSION as u16,
        size: sys::NVTX_EVENT_ATTRIBUTES_SIZE as u16,
        category: 0,
        colorType: sys::ColorType::NVTX_COLOR_UNKNOWN.into(),
        color: 0,
        payloadType: PayloadType::NVTX_PAYLOAD_UNKNOWN.into(),
        reserved0: 0,
        payload: PayloadValue { ullValue: 0 },
        messageType: kind.into(),
        message,
    }
}

/// Bytes as a C string, each NUL in them replaced by U+FFFD.
pub(crate) fn c_string(text: &[u8]) -> CString {
    let mut bytes = Vec::with_capacity(text.len() + 1);
    for (nth, part) in text.split(|byte| *byte == 0).enumerate() {
        if nth > 0 {
            bytes.extend_from_slice(NUL_REPLACEMENT);
        }
        bytes.extend_from_slice(part);
    }
    // SAFETY: the parts are what lies between the NULs.
    unsafe { CString::from_vec_unchecked(bytes) }
}
