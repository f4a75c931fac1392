//! Structs as AMD's libraries lay them out, written by offset: what the tool under test declares as
//! types is here a second time, as numbers.

/// Memory of a struct, aligned and zeroed.
pub(crate) struct Bytes(Vec<u64>);

impl Bytes {
    /// So many bytes, the first eight of which say how many they are.
    pub(crate) fn sized(size: usize) -> Self {
        let mut bytes = Self(vec![0; size.div_ceil(8)]);
        bytes.put_u64(0, size as u64);
        bytes
    }

    pub(crate) fn put_u64(&mut self, offset: usize, value: u64) -> &mut Self {
        assert_eq!(offset % 8, 0);
        self.0[offset / 8] = value;
        self
    }

    pub(crate) fn u64(&self, offset: usize) -> u64 {
        assert_eq!(offset % 8, 0);
        self.0[offset / 8]
    }

    pub(crate) fn put_u32(&mut self, offset: usize, value: u32) -> &mut Self {
        assert_eq!(offset % 4, 0);
        let word = &mut self.0[offset / 8];
        let shift = (offset % 8) * 8;
        *word = *word & !(0xFFFF_FFFF << shift) | u64::from(value) << shift;
        self
    }

    pub(crate) fn as_ptr(&self) -> *const std::ffi::c_void {
        self.0.as_ptr().cast()
    }
}
