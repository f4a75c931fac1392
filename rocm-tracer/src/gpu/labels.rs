//! What stood around each HIP call of the session: the annotation map, and the whole path of open
//! ROCTX ranges, which XLA's map does not have.

use crate::annotation_map::AnnotationMap;
use crate::listener;
use hashbrown::{HashMap, HashSet};
use parking_lot::{Mutex, RwLock};
use std::cell::RefCell;
use std::sync::Arc;

/// Joins the labels of a path, as the annotation stack joins its own.
const SEPARATOR: &[u8] = b"::";

/// The session's labels, while one is active.
static SESSION: RwLock<Option<Arc<LaunchLabels>>> = RwLock::new(None);

struct LaunchLabels {
    map: AnnotationMap,
    max_size: usize,
    paths: Mutex<Paths>,
}

/// Paths of two and more ranges; that of one is its label.
#[derive(Default)]
struct Paths {
    strings: HashSet<Arc<[u8]>>,
    calls: HashMap<u64, Arc<[u8]>>,
}

/// A session begins.
pub(crate) fn begin(max_size: usize) {
    let labels = LaunchLabels {
        map: AnnotationMap::new(max_size),
        max_size,
        paths: Mutex::default(),
    };
    *SESSION.write() = Some(Arc::new(labels));
}

/// A session ends: takes its labels.
pub(crate) fn take() -> Labels {
    Labels(SESSION.write().take())
}

/// Remembers what stands around the HIP call of this correlation id that the calling thread enters.
pub(crate) fn remember(correlation: u64) {
    let session = SESSION.read();
    let Some(labels) = &*session else {
        return;
    };
    labels.map.add_current(correlation);
    // A thread that is ending has no path to build any more.
    let _ = PATH.try_with(|path| {
        let mut path = path.borrow_mut();
        let mut depth = 0;
        listener::with_open_labels(|open| depth = join(open, &mut path));
        if depth > 1 {
            labels.paths.lock().add(correlation, &path, labels.max_size);
        }
    });
}

thread_local! {
    /// Where a thread joins its labels.
    static PATH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Joins labels in `path`, over what was there; how many they are.
fn join(labels: &mut dyn Iterator<Item = &[u8]>, path: &mut Vec<u8>) -> usize {
    path.clear();
    let mut depth = 0;
    for label in labels {
        if depth > 0 {
            path.extend_from_slice(SEPARATOR);
        }
        path.extend_from_slice(label);
        depth += 1;
    }
    depth
}

impl Paths {
    fn add(&mut self, correlation: u64, path: &[u8], max_size: usize) {
        if self.calls.len() >= max_size {
            return;
        }
        let kept = match self.strings.get(path) {
            Some(kept) => Arc::clone(kept),
            None if self.strings.len() < max_size => {
                let kept: Arc<[u8]> = path.into();
                self.strings.insert(Arc::clone(&kept));
                kept
            }
            None => return,
        };
        self.calls.insert(correlation, kept);
    }
}

/// The labels of a session that has ended.
#[derive(Default)]
pub(crate) struct Labels(Option<Arc<LaunchLabels>>);

/// What stood around one call; empty where nothing did.
#[derive(Default)]
pub(crate) struct Label {
    /// The annotation stack, joined.
    pub(crate) annotation: Arc<[u8]>,
    /// The innermost ROCTX range.
    pub(crate) range: Arc<[u8]>,
    /// All ROCTX ranges, outermost first, joined.
    pub(crate) path: Arc<[u8]>,
    /// The innermost scope range; 0 for none.
    pub(crate) scope_id: i64,
}

impl Labels {
    pub(crate) fn get(&self, correlation: u64) -> Label {
        let Some(labels) = &self.0 else {
            return Label::default();
        };
        let Some((annotation, range, scope_id)) = labels.map.look_up_all(correlation) else {
            return Label::default();
        };
        let path = labels.paths.lock().calls.get(&correlation).cloned();
        Label {
            annotation: annotation.unwrap_or_default(),
            path: path.or_else(|| range.clone()).unwrap_or_default(),
            range: range.unwrap_or_default(),
            scope_id,
        }
    }

    /// Each scope range's parent, in order of the ranges' ids.
    pub(crate) fn scope_tree(&self) -> Vec<(i64, i64)> {
        let Some(labels) = &self.0 else {
            return Vec::new();
        };
        let mut tree: Vec<_> = labels.map.take_scope_range_id_tree().into_iter().collect();
        tree.sort_unstable();
        tree
    }

    /// Tells of labels that were lost.
    pub(crate) fn warning(&self) -> Option<String> {
        let refused = self.0.as_ref()?.map.refused();
        (refused > 0).then(|| {
            format!(
                "GPU: {refused} labels of launches were lost: the session's limit was reached (raise \
                 max_annotation_strings to keep more)"
            )
        })
    }
}
