//! Registered strings.
//!
//! Every compilation of a program registers strings (a dozen an instruction) and nothing ever
//! unregisters one, so the pool is bounded: each string is cut at [`MAX_STRING_BYTES`], and past
//! [`MAX_POOL_BYTES`] in all every new string is one placeholder, which a reader of the trace will
//! notice. Both sizes are upstream's.

use crate::text::write_c_str;
use hashbrown::{DefaultHashBuilder, HashTable};
use nvtx_utils_interface::{ProfilerDomainHandle, StringHandle};
use parking_lot::Mutex;
use std::borrow::Cow;
use std::ffi::{CStr, CString};
use std::hash::BuildHasher;
use std::sync::LazyLock;

/// A longer string is cut to this many bytes, the mark of the cut included.
pub const MAX_STRING_BYTES: usize = 4096;

/// What all registered strings together may take, in bytes, their bookkeeping included.
pub const MAX_POOL_BYTES: usize = 64 << 20;

/// How a string that was cut ends.
const TRUNCATION_MARK: &[u8] = b"...[truncated]";

/// Stands for every string that found the pool full.
static PLACEHOLDER: Entry = Entry::constant(c"<ROCTX string pool exhausted>");

/// What a null handle stands for.
static NO_TITLE: Entry = Entry::constant(c"");

/// A registered string. Those in the pool are never freed.
pub(crate) struct Entry {
    /// For ROCTX.
    c_text: Cow<'static, CStr>,
    /// The string itself where it has NULs in it and so is not the C text.
    with_nul: Option<Box<[u8]>>,
}

impl Entry {
    const fn constant(text: &'static CStr) -> Self {
        Self {
            c_text: Cow::Borrowed(text),
            with_nul: None,
        }
    }

    fn new(text: &[u8]) -> Self {
        let mut c_text = Vec::new();
        write_c_str(text, &mut c_text);
        Self {
            c_text: Cow::Owned(CString::from_vec_with_nul(c_text).unwrap_or_default()),
            with_nul: text.contains(&0).then(|| text.into()),
        }
    }

    /// The string behind a handle.
    #[inline]
    pub(crate) fn of(handle: StringHandle) -> &'static Self {
        if handle.is_null() {
            return &NO_TITLE;
        }
        // SAFETY: whoever made the handle promised that `register_string` returned this address;
        // it only returns addresses of entries that live as long as the process.
        unsafe { &*handle.as_raw().cast() }
    }

    fn handle(&'static self) -> StringHandle {
        // SAFETY: this is where registered addresses come from.
        unsafe { StringHandle::from_raw(std::ptr::from_ref(self).cast()) }
    }

    /// The string, for the annotation stack.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.with_nul {
            Some(bytes) => bytes,
            None => self.c_text.to_bytes(),
        }
    }

    /// The string, for ROCTX.
    #[inline]
    pub(crate) fn c_text(&self) -> &CStr {
        &self.c_text
    }

    /// What it takes of the pool.
    fn cost(&self) -> usize {
        size_of::<Self>()
            + self.c_text.to_bytes_with_nul().len()
            + self.with_nul.as_ref().map_or(0, |bytes| bytes.len())
    }
}

struct Pool {
    entries: HashTable<&'static Entry>,
    used: usize,
    limit: usize,
    /// Whether the warning has been given.
    warned: bool,
}

/// What became of a string.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Registered,
    Full,
    /// The pool is full, and this is the first string to find it so.
    FirstFull,
}

impl Pool {
    const fn new(limit: usize) -> Self {
        Self {
            entries: HashTable::new(),
            used: 0,
            limit,
            warned: false,
        }
    }

    /// The entry of this string, which is already cut to size.
    fn register(&mut self, hasher: &impl BuildHasher, text: &[u8]) -> (&'static Entry, Outcome) {
        let hash = hasher.hash_one(text);
        if let Some(entry) = self.entries.find(hash, |entry| entry.bytes() == text) {
            return (entry, Outcome::Registered);
        }
        let entry = Entry::new(text);
        if self.used + entry.cost() > self.limit {
            let outcome = if self.warned {
                Outcome::Full
            } else {
                Outcome::FirstFull
            };
            self.warned = true;
            return (&PLACEHOLDER, outcome);
        }
        self.used += entry.cost();
        let entry: &'static Entry = Box::leak(Box::new(entry));
        self.entries
            .insert_unique(hash, entry, |entry| hasher.hash_one(entry.bytes()));
        (entry, Outcome::Registered)
    }
}

/// Registers a string: the same handle for the same bytes, valid as long as the process lives.
///
/// A string longer than [`MAX_STRING_BYTES`] is cut, visibly. Once the pool is full, every new
/// string gets the handle of one placeholder; the first time, with a warning.
pub fn register_string(_domain: ProfilerDomainHandle, text: &[u8]) -> StringHandle {
    static POOL: Mutex<Pool> = Mutex::new(Pool::new(MAX_POOL_BYTES));
    static HASHER: LazyLock<DefaultHashBuilder> = LazyLock::new(DefaultHashBuilder::default);

    let (entry, outcome) = POOL.lock().register(&*HASHER, &cut(text));
    if outcome == Outcome::FirstFull {
        tracing::warn!(
            "the pool of registered ROCTX strings has reached its {MAX_POOL_BYTES} bytes; new \
             ones are shown as {:?}. That many strings come from a very large program or from one \
             that is compiled again and again.",
            PLACEHOLDER.c_text
        );
    }
    entry.handle()
}

/// The string that a handle stands for; empty for null.
pub fn registered_bytes(handle: StringHandle) -> &'static [u8] {
    Entry::of(handle).bytes()
}

/// The string, or its beginning and a mark that it was cut. The cut splits no UTF-8 character.
fn cut(text: &[u8]) -> Cow<'_, [u8]> {
    if text.len() <= MAX_STRING_BYTES {
        return Cow::Borrowed(text);
    }
    let limit = MAX_STRING_BYTES - TRUNCATION_MARK.len();
    // A character has at most three bytes that do not begin one; more of them are no UTF-8.
    let end = (limit - 3..=limit)
        .rev()
        .find(|end| text[*end] & 0b1100_0000 != 0b1000_0000)
        .unwrap_or(limit);
    Cow::Owned([&text[..end], TRUNCATION_MARK].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::default_profiler_domain;

    fn register(text: &[u8]) -> StringHandle {
        register_string(default_profiler_domain().unwrap(), text)
    }

    #[test]
    fn equal_strings_share_an_entry_that_outlives_the_growth_of_the_pool() {
        let first = register(b"rehash_probe");
        assert_eq!(register(b"rehash_probe"), first);
        let other = register(b"other");
        assert_ne!(other, first);
        for i in 0..5000 {
            register(format!("filler_{i}").as_bytes());
        }
        assert_eq!(registered_bytes(first), b"rehash_probe");
        assert_eq!(register(b"rehash_probe"), first);
        assert!(!register(b"").is_null());
        assert_eq!(registered_bytes(StringHandle::NULL), b"");
    }

    #[test]
    fn threads_that_register_the_same_strings_get_the_same_handles() {
        let handles = || -> Vec<StringHandle> {
            (0..500)
                .map(|i| register(format!("shared_{i}").as_bytes()))
                .collect()
        };
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(handles)).collect();
        let all: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
        assert!(all.iter().all(|handles| *handles == all[0]));
    }

    #[test]
    fn nul_is_kept_in_the_string_and_replaced_in_the_c_text() {
        let entry = Entry::of(register(b"a\0b"));
        assert_eq!(entry.bytes(), b"a\0b");
        assert_eq!(entry.c_text().to_bytes(), "a\u{fffd}b".as_bytes());
        assert_ne!(register("a\u{fffd}b".as_bytes()), entry.handle());
    }

    #[test]
    fn a_long_string_is_cut_visibly() {
        let exact = vec![b'x'; MAX_STRING_BYTES];
        assert_eq!(registered_bytes(register(&exact)), exact);
        let cut = registered_bytes(register(&vec![b'x'; 200_000]));
        assert_eq!(cut.len(), MAX_STRING_BYTES);
        assert!(cut.starts_with(b"xxxx") && cut.ends_with(b"x...[truncated]"));
    }

    #[test]
    fn the_cut_is_between_characters() {
        // Each shift puts the limit at another byte of the two-, three- and four-byte characters.
        for (character, width) in [("\u{e9}", 2), ("\u{20ac}", 3), ("\u{1f600}", 4)] {
            for shift in 0..width {
                let text = "a".repeat(shift) + &character.repeat(MAX_STRING_BYTES);
                let cut = cut(text.as_bytes());
                let cut = str::from_utf8(&cut).expect("valid UTF-8");
                let kept = cut.strip_suffix("...[truncated]").expect("marked");
                assert!(text.starts_with(kept));
                let missing = MAX_STRING_BYTES - cut.len();
                assert!(missing < width, "{character} shifted by {shift}: {missing}");
            }
        }
        let not_utf8 = vec![0x80; 5000];
        assert_eq!(cut(&not_utf8).len(), MAX_STRING_BYTES);
    }

    #[test]
    fn a_full_pool_gives_the_placeholder_and_says_so_once() {
        let hasher = DefaultHashBuilder::default();
        let mut pool = Pool::new(3 * Entry::new(b"four").cost());
        let (first, outcome) = pool.register(&hasher, b"four");
        assert_eq!(outcome, Outcome::Registered);
        pool.register(&hasher, b"five");
        assert_eq!(pool.register(&hasher, b"sixx").1, Outcome::Registered);
        let (placeholder, outcome) = pool.register(&hasher, b"seven");
        assert_eq!(outcome, Outcome::FirstFull);
        assert_eq!(placeholder.bytes(), b"<ROCTX string pool exhausted>");
        assert_eq!(pool.register(&hasher, b"eight").1, Outcome::Full);
        let (again, outcome) = pool.register(&hasher, b"four");
        assert!(
            std::ptr::eq(first, again),
            "what is in the pool stays in it"
        );
        assert_eq!(outcome, Outcome::Registered);
    }
}
