//! Which ids lines have, and which row of a viewer that makes.

use crate::proto::XLine;

/// The first id that a line of NVTX markers gets where its own is taken.
pub const NVTX_LINE_ID_BASE: i64 = 1 << 32;
/// The first id of the range of ROCTX lines.
pub const ROCTX_LINE_ID_BASE: i64 = 2 << 32;
/// The end of the range of ROCTX lines.
pub const ROCTX_LINE_ID_END: i64 = 3 << 32;
/// The row of the first ROCTX line: beyond every thread id of Linux (`PID_MAX_LIMIT` is 2^22), so
/// that rows of threads do not vanish behind it.
pub const ROCTX_ROW_BASE: u32 = 1 << 30;

/// The id of the `k`-th ROCTX line: in the range of ROCTX lines, with a low word that no thread
/// has.
///
/// Ids stay in the range for `k` up to 3 * 2^30 - 1.
pub const fn roctx_line_id(k: u32) -> i64 {
    ROCTX_LINE_ID_BASE + ROCTX_ROW_BASE as i64 + k as i64
}

/// The row that a viewer shows the line in: [`XLine::display_id`] if set, else [`XLine::id`], cut
/// to 32 bits as XProf and trace-viewer JSON do. Lines with the same row become one.
pub const fn row_id(line: &XLine) -> u32 {
    if line.display_id != 0 {
        line.display_id as u32
    } else {
        line.id as u32
    }
}

/// Who a line's id belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineOrigin {
    /// `[0, 1 << 32)` and everything else: a thread of the host, or a hash.
    Host,
    /// `[1 << 32, 2 << 32)`: NVTX markers that had to move.
    Nvtx,
    /// `[2 << 32, 3 << 32)`: ROCTX markers.
    Roctx,
}

/// Who `id` belongs to.
pub const fn line_origin(id: i64) -> LineOrigin {
    match id {
        NVTX_LINE_ID_BASE..ROCTX_LINE_ID_BASE => LineOrigin::Nvtx,
        ROCTX_LINE_ID_BASE..ROCTX_LINE_ID_END => LineOrigin::Roctx,
        _ => LineOrigin::Host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_32_bits_of_the_display_id_or_of_the_id() {
        let mut line = XLine {
            id: (2 << 32) + 7,
            ..Default::default()
        };
        assert_eq!(row_id(&line), 7);
        line.display_id = (5 << 32) + 9;
        assert_eq!(row_id(&line), 9);
        // A TraceMe line's hashed id, as an int64.
        let hashed = XLine {
            id: 13627334006991407978_u64 as i64,
            ..Default::default()
        };
        assert_eq!(row_id(&hashed), 0x2252_cb6a);
    }

    #[test]
    fn ids_belong_to_their_range() {
        assert_eq!(line_origin(0), LineOrigin::Host);
        assert_eq!(line_origin(NVTX_LINE_ID_BASE - 1), LineOrigin::Host);
        assert_eq!(line_origin(NVTX_LINE_ID_BASE), LineOrigin::Nvtx);
        assert_eq!(line_origin(ROCTX_LINE_ID_BASE), LineOrigin::Roctx);
        assert_eq!(line_origin(roctx_line_id(0)), LineOrigin::Roctx);
        assert_eq!(
            line_origin(roctx_line_id(3 * (1 << 30) - 1)),
            LineOrigin::Roctx
        );
        assert_eq!(line_origin(ROCTX_LINE_ID_END), LineOrigin::Host);
        assert_eq!(line_origin(-1), LineOrigin::Host);
    }
}
