//! Which ids the lines of a finished plane have, so that no row of a viewer vanishes.
//!
//! Ids are 64 bits wide, but viewers show two lines whose ids (or display ids) agree in the low 32
//! bits as one row under one name. So a new id is free in both. Lines of other producers keep what
//! they have unless two of them clash.

use hashbrown::HashSet;
use xplane_schema::proto::{XLine, XPlane};
use xplane_schema::schema::{LineOrigin, NVTX_LINE_ID_BASE, line_origin, roctx_line_id, row_id};

/// The ids and rows of a plane's lines.
pub(crate) struct HostLineIds {
    ids: HashSet<i64>,
    rows: HashSet<u32>,
}

impl HostLineIds {
    /// Those that `plane` has.
    pub(crate) fn of(plane: &XPlane) -> Self {
        Self {
            ids: plane.lines.iter().map(|line| line.id).collect(),
            rows: plane.lines.iter().map(row_id).collect(),
        }
    }

    /// Gives the lines of an NVTX plane ids from `1 << 32`, where theirs are taken.
    pub(crate) fn assign_nvtx(&mut self, nvtx: &mut XPlane) {
        let mut free = NVTX_LINE_ID_BASE..;
        for line in &mut nvtx.lines {
            if self.ids.contains(&line.id) || self.rows.contains(&row_id(line)) {
                self.renumber(line, &mut free);
            }
            self.ids.insert(line.id);
            self.rows.insert(row_id(line));
        }
    }

    /// Gives the lines of a ROCTX plane ids of their range, in the order of their threads' ids.
    pub(crate) fn assign_roctx(&mut self, roctx: &mut XPlane) {
        roctx.lines.sort_by_key(|line| line.id);
        let mut free = (0..).map(roctx_line_id);
        for line in &mut roctx.lines {
            self.renumber(line, &mut free);
            self.ids.insert(line.id);
            self.rows.insert(row_id(line));
        }
    }

    /// Gives a line the first of `candidates` that is free as an id and as a row.
    fn renumber(&self, line: &mut XLine, candidates: &mut impl Iterator<Item = i64>) {
        let is_free = |id: &i64| !self.ids.contains(id) && !self.rows.contains(&(*id as u32));
        if let Some(id) = candidates.find(is_free) {
            line.id = id;
        }
        if self.rows.contains(&row_id(line)) {
            line.display_id = 0;
        }
    }

    /// The next row that is free, and that a display id can name: 0 means none.
    fn free_row_after(&self, row: u32) -> u32 {
        let mut row = row;
        while row == 0 || self.rows.contains(&row) {
            row = row.wrapping_add(1);
        }
        row
    }
}

/// Gives each line of a plane a row of its own.
///
/// Of lines that clash, one of another producer keeps its row before one of NVTX or ROCTX, and a
/// first before a later one. A ROCTX line that has to move gets another id; any other line keeps
/// its id and gets a display id.
pub(crate) fn make_rows_unique(plane: &mut XPlane) {
    let mut all = HostLineIds::of(plane);
    if all.rows.len() == plane.lines.len() {
        return;
    }
    let mut seen = HashSet::with_capacity(plane.lines.len());
    let mut free_roctx = (0..).map(roctx_line_id);
    for origin in [LineOrigin::Host, LineOrigin::Nvtx, LineOrigin::Roctx] {
        let lines = plane.lines.iter_mut();
        for line in lines.filter(|line| line_origin(line.id) == origin) {
            if !seen.insert(row_id(line)) {
                if origin == LineOrigin::Roctx {
                    all.renumber(line, &mut free_roctx);
                    all.ids.insert(line.id);
                } else {
                    line.display_id = i64::from(all.free_row_after(row_id(line)));
                }
                all.rows.insert(row_id(line));
                seen.insert(row_id(line));
            }
        }
    }
}
