//! Bytes to C strings, without an allocation for each.

use std::cell::Cell;
use std::ffi::CStr;
use std::mem::MaybeUninit;

/// Texts shorter than this are made on the stack.
const ON_STACK: usize = 256;

/// A thread keeps its buffer for longer texts up to this size; larger ones are given back.
const KEPT: usize = 64 << 10;

/// A C string cannot hold NUL; this stands for it there (U+FFFD).
const NUL_REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// Calls `use_text` with `text` as a C string, each NUL in it replaced by U+FFFD.
#[inline]
pub(crate) fn with_c_str<R>(text: &[u8], use_text: impl FnOnce(&CStr) -> R) -> R {
    let mut copy = [const { MaybeUninit::<u8>::uninit() }; ON_STACK];
    match copy_without_nul(text, &mut copy) {
        Some(text) => use_text(text),
        None => with_buffer(text, use_text),
    }
}

/// Copies a text and adds the final NUL; `None` if it is too long or has a NUL in it.
///
/// Word by word, looking for NUL on the way: for labels, which are short, that takes half the time
/// of searching and then copying. The writes are volatile so that the compiler does not make a call
/// of memcpy out of them again.
#[inline]
fn copy_without_nul<'a>(
    text: &[u8],
    copy: &'a mut [MaybeUninit<u8>; ON_STACK],
) -> Option<&'a CStr> {
    const WORD: usize = size_of::<u64>();
    // The highest bit of each byte is set in the result if that byte, or one below it, is 0.
    let zero_bytes = |word: u64| {
        const ONES: u64 = u64::from_ne_bytes([1; WORD]);
        const HIGH: u64 = u64::from_ne_bytes([0x80; WORD]);
        word.wrapping_sub(ONES) & !word & HIGH
    };
    if text.len() >= ON_STACK {
        return None;
    }
    let start: *mut u8 = copy.as_mut_ptr().cast();
    let mut zeros = 0;
    let mut put_word = |at: usize, word: [u8; WORD]| {
        zeros |= zero_bytes(u64::from_ne_bytes(word));
        // SAFETY: within `copy`, since a word at `at` is within the text and text.len() < ON_STACK.
        unsafe { start.add(at).cast::<[u8; WORD]>().write_volatile(word) };
    };
    if let Some((_, last)) = text.split_last_chunk::<WORD>() {
        for (nth, word) in text.as_chunks::<WORD>().0.iter().enumerate() {
            put_word(nth * WORD, *word);
        }
        put_word(text.len() - WORD, *last); // it may overlap the one before
    } else {
        for (at, byte) in text.iter().enumerate() {
            zeros |= u64::from(*byte == 0);
            // SAFETY: as above.
            unsafe { start.add(at).write_volatile(*byte) };
        }
    }
    if zeros != 0 {
        return None;
    }
    // SAFETY: as above; the text's bytes and the NUL have been written, and no other NUL.
    unsafe {
        start.add(text.len()).write(0);
        let copy = std::slice::from_raw_parts(start, text.len() + 1);
        Some(CStr::from_bytes_with_nul_unchecked(copy))
    }
}

fn with_buffer<R>(text: &[u8], use_text: impl FnOnce(&CStr) -> R) -> R {
    thread_local! {
        static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    }
    // Taken out for the call: whoever listens to it may push a range of their own. A thread that
    // is ending has no buffer any more and makes one.
    let mut buffer = BUFFER.try_with(Cell::take).unwrap_or_default();
    write_c_str(text, &mut buffer);
    // SAFETY: `write_c_str` ends it with NUL and leaves no other in it.
    let result = use_text(unsafe { CStr::from_bytes_with_nul_unchecked(&buffer) });
    if buffer.capacity() <= KEPT {
        let _ = BUFFER.try_with(|kept| kept.set(buffer));
    }
    result
}

/// Writes `text` as a C string, with its final NUL, over what is in `buffer`.
pub(crate) fn write_c_str(text: &[u8], buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.reserve(text.len() + 1);
    for (nth, part) in text.split(|byte| *byte == 0).enumerate() {
        if nth > 0 {
            buffer.extend_from_slice(NUL_REPLACEMENT);
        }
        buffer.extend_from_slice(part);
    }
    buffer.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn as_c(text: &[u8]) -> Vec<u8> {
        with_c_str(text, |text| {
            // SAFETY: that there is a NUL at the end, and none before it, is what is tested.
            let as_c_sees_it = unsafe { CStr::from_ptr(text.as_ptr()) };
            assert_eq!(as_c_sees_it, text);
            text.to_bytes().to_vec()
        })
    }

    #[test]
    fn texts_arrive_whole_at_every_length_around_the_limits() {
        for length in [0, 1, 254, 255, 256, 257, KEPT - 1, KEPT, KEPT + 1, 1 << 20] {
            let text: Vec<u8> = (0..length).map(|i| (i % 255) as u8 + 1).collect();
            assert_eq!(as_c(&text), text, "{length}");
        }
        assert_eq!(as_c(b"short again"), b"short again");
    }

    #[test]
    fn nul_becomes_the_replacement_character() {
        assert_eq!(as_c(b"\0"), b"\xef\xbf\xbd");
        assert_eq!(as_c(b"a\0\0b\xff"), b"a\xef\xbf\xbd\xef\xbf\xbdb\xff");
        assert_eq!(as_c(b"end\0"), b"end\xef\xbf\xbd");
    }

    #[test]
    fn a_listener_that_pushes_itself_does_not_disturb_the_text() {
        let outer = vec![b'o'; 1000];
        with_c_str(&outer, |text| {
            assert_eq!(as_c(&[b'i'; 2000]), [b'i'; 2000]);
            assert_eq!(text.to_bytes(), outer);
        });
    }

    proptest! {
        #[test]
        fn is_the_text_with_each_nul_replaced(text in prop::collection::vec(0u8..4, 0..600)) {
            let expected: Vec<u8> = text
                .iter()
                .flat_map(|byte| match byte {
                    0 => vec![0xef, 0xbf, 0xbd],
                    other => vec![*other],
                })
                .collect();
            prop_assert_eq!(as_c(&text), expected);
        }
    }
}
