//! What a registered push carries beside its title.
//!
//! ROCTX passes a text and nothing else. A listener in this process that wants the annotation's
//! fields too reads them here, inside its push callback, which runs on the pushing thread.

use std::cell::Cell;

/// The payload of the push that is under way on this thread.
#[derive(Clone, Copy)]
struct Current {
    schema_id: u64,
    bytes: *const [u8],
}

thread_local! {
    static CURRENT: Cell<Option<Current>> = const { Cell::new(None) };
}

/// Shows the schema id and the payload bytes of the push that is under way on this thread: inside
/// a ROCTX push callback, those of that push. `None` outside one, and if it carries none.
pub fn with_current<R>(read: impl FnOnce(Option<(u64, &[u8])>) -> R) -> R {
    read(CURRENT.get().map(|current| {
        // SAFETY: set only by `carry`, which holds the bytes borrowed until it unsets it again,
        // and `read` runs on the same thread inside that.
        (current.schema_id, unsafe { &*current.bytes })
    }))
}

/// Makes the payload readable while `push` runs.
#[inline]
pub(crate) fn carry<R>(schema_id: u64, bytes: &[u8], push: impl FnOnce() -> R) -> R {
    if bytes.is_empty() {
        return push();
    }
    /// Puts back what was there, whichever way `push` ends: nobody may find the bytes afterwards.
    struct Restore(Option<Current>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let _restore = Restore(CURRENT.replace(Some(Current { schema_id, bytes })));
    push()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn current() -> Option<(u64, Vec<u8>)> {
        with_current(|payload| payload.map(|(id, bytes)| (id, bytes.to_vec())))
    }

    #[test]
    fn is_there_during_the_push_and_not_after() {
        assert_eq!(current(), None);
        carry(7, b"outer", || {
            assert_eq!(current(), Some((7, b"outer".to_vec())));
            carry(8, b"inner", || {
                assert_eq!(current(), Some((8, b"inner".to_vec())))
            });
            assert_eq!(current(), Some((7, b"outer".to_vec())));
        });
        assert_eq!(current(), None);
        let unwound = std::panic::catch_unwind(|| carry(9, b"x", || panic!("unwound")));
        assert!(unwound.is_err());
        assert_eq!(current(), None);
    }
}
