//! What stood around HIP calls.

use crate::bridge::Text;
use rocm_tracer::AnnotationMap;
use std::slice;

/// Strings stay where they are until it is cleared, since it holds each of them itself.
pub(crate) struct Annotations(AnnotationMap);

pub(crate) fn new_annotations(max_size: usize) -> Box<Annotations> {
    Box::new(Annotations(AnnotationMap::new(max_size)))
}

impl Annotations {
    pub(crate) unsafe fn add(
        &self,
        correlation_id: u64,
        annotation: &[u8],
        roctx_range: &[u8],
        scope_range_ids: *const i64,
        depth: usize,
    ) {
        let scope_range_ids = match depth {
            0 => &[],
            // SAFETY: this function's contract.
            depth => unsafe { slice::from_raw_parts(scope_range_ids, depth) },
        };
        self.0
            .add(correlation_id, annotation, roctx_range, scope_range_ids);
    }

    pub(crate) fn add_current(&self, correlation_id: u64) {
        self.0.add_current(correlation_id);
    }

    pub(crate) fn look_up(&self, correlation_id: u64) -> Text {
        Text::of(
            self.0
                .look_up(correlation_id)
                .as_deref()
                .unwrap_or_default(),
        )
    }

    pub(crate) fn look_up_roctx_range(&self, correlation_id: u64) -> Text {
        let range = self.0.look_up_roctx_range(correlation_id);
        Text::of(range.as_deref().unwrap_or_default())
    }

    pub(crate) fn look_up_scope_range_id(&self, correlation_id: u64) -> i64 {
        self.0.look_up_scope_range_id(correlation_id)
    }

    pub(crate) fn take_scope_range_id_tree(&self) -> Vec<i64> {
        self.0
            .take_scope_range_id_tree()
            .into_iter()
            .flat_map(<[i64; 2]>::from)
            .collect()
    }

    pub(crate) fn refused(&self) -> u64 {
        self.0.refused()
    }

    pub(crate) fn clear(&self) {
        self.0.clear();
    }
}
