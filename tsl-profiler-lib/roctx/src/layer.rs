//! `tracing`'s spans and events as ROCTX ranges and marks.
//!
//! Ranges of one thread nest, and spans need not: one may be exited while another, entered later on
//! the same thread, goes on. The range of such a span ends with that of the last one inside it.

use crate::fields::Fields;
use crate::{Range, mark};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Event, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;
use tsl_profiler_lib::{OwnedRange, nvtx_utils};

/// A span with this field, `roctx.async = true`, is one range from its creation to its close, on
/// the lanes of [`Range`]s, however often and on whichever threads it is entered.
pub const ASYNC_FIELD: &str = "roctx.async";

/// A layer with its defaults: [`RoctxLayer::default`].
pub fn layer() -> RoctxLayer {
    RoctxLayer::default()
}

/// Makes a ROCTX range of every span, and a mark of every event.
///
/// A span's range lasts from each entry to its exit, on the thread that enters it; its label is the
/// span's name with the fields that are recorded by then as metadata, `name#key=value#`. An event's
/// label is its message, else its name, with its fields.
///
/// A future instrumented with a span enters and exits it at every poll. Give such a span the field
/// [`ASYNC_FIELD`], or name it by [`with_async_spans`](Self::with_async_spans), to see it as one
/// range from beginning to end.
///
/// What the layer itself causes, a warning about the ROCTX library or events of a field's own
/// formatting, makes no marks. Where ranges are switched off it does nothing. To choose spans and
/// events by level or target, use `tracing_subscriber`'s filters.
///
/// ```
/// use tracing_subscriber::prelude::*;
///
/// let subscriber = tracing_subscriber::registry().with(roctx::layer());
/// tracing::subscriber::with_default(subscriber, || {
///     let _step = tracing::info_span!("step", number = 3).entered(); // step#number=3#
///     let request = tracing::info_span!("request", id = 17, roctx.async = true);
///     tracing::warn!(queue = 12, "the loader is late"); // the loader is late#queue=12#
///     drop(request); // request#id=17#, on a lane of its own
/// });
/// ```
pub struct RoctxLayer {
    /// Tells apart layers of several subscribers, whose span ids are each one's own.
    number: u32,
    events: bool,
    is_async: Option<Box<IsAsync>>,
}

type IsAsync = dyn Fn(&Metadata<'_>) -> bool + Send + Sync;

impl Default for RoctxLayer {
    /// Spans as ranges on their threads, events as marks.
    fn default() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            events: true,
            is_async: None,
        }
    }
}

impl fmt::Debug for RoctxLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoctxLayer")
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}

impl RoctxLayer {
    /// Whether events make marks.
    #[must_use]
    pub fn with_events(mut self, events: bool) -> Self {
        self.events = events;
        self
    }

    /// Which spans are one range from creation to close, unless their field [`ASYNC_FIELD`] says
    /// otherwise.
    #[must_use]
    pub fn with_async_spans(
        mut self,
        is_async: impl Fn(&Metadata<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.is_async = Some(Box::new(is_async));
        self
    }
}

/// What a span keeps, unless its name alone is its label.
enum Kept {
    /// Ended when the span closes.
    Whole {
        _range: Range,
    },
    EachEntry {
        fields: Fields,
        label: Arc<str>,
    },
}

/// A span that this thread has entered.
struct Entered {
    layer: u32,
    span: Id,
    range: OwnedRange,
}

thread_local! {
    /// Innermost last.
    static ENTERED: RefCell<Vec<Entered>> = const { RefCell::new(Vec::new()) };
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Held while the layer is at work on this thread. What it calls may come back to it: code that
/// formats a field, or whoever listens to ROCTX.
struct Inside;

impl Inside {
    /// `None` if it is at work already, or if ranges are off.
    fn enter() -> Option<Self> {
        nvtx_utils::default_profiler_domain()?;
        (!INSIDE.replace(true)).then_some(Self)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(false);
    }
}

impl<S> Layer<S> for RoctxLayer
where
    S: Subscriber + for<'lookup> LookupSpan<'lookup>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let (Some(_inside), Some(span)) = (Inside::enter(), context.span(id)) else {
            return;
        };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let chosen = |is_async: &IsAsync| is_async(attributes.metadata());
        let whole = fields
            .asynchronous
            .unwrap_or_else(|| self.is_async.as_deref().is_some_and(chosen));
        let kept = if whole {
            Kept::Whole {
                _range: Range::new(fields.label(span.name())),
            }
        } else if fields.is_empty() {
            return;
        } else {
            let label = fields.label(span.name()).into();
            Kept::EachEntry { fields, label }
        };
        span.extensions_mut().insert(kept);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let (Some(_inside), Some(span)) = (Inside::enter(), context.span(id)) else {
            return;
        };
        // Taken out meanwhile: a value's own formatting may look at this span.
        let mut fields = match span.extensions_mut().remove::<Kept>() {
            Some(whole @ Kept::Whole { .. }) => {
                span.extensions_mut().insert(whole);
                return;
            }
            Some(Kept::EachEntry { fields, .. }) => fields,
            None => Fields::default(),
        };
        values.record(&mut fields);
        let label = fields.label(span.name()).into();
        span.extensions_mut()
            .replace(Kept::EachEntry { fields, label });
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        let (Some(_inside), Some(span)) = (Inside::enter(), context.span(id)) else {
            return;
        };
        let label = match span.extensions().get::<Kept>() {
            Some(Kept::Whole { .. }) => return,
            Some(Kept::EachEntry { label, .. }) => Some(Arc::clone(label)),
            None => None,
        };
        // Opened when the extensions are not locked: whoever hears of it may look at this span.
        let range = OwnedRange::open(label.as_deref().unwrap_or(span.name()));
        // A thread that is ending has no list any more: the range ends here.
        let _ = ENTERED.try_with(|entered| {
            entered.borrow_mut().push(Entered {
                layer: self.number,
                span: id.clone(),
                range,
            });
        });
    }

    fn on_exit(&self, id: &Id, _context: Context<'_, S>) {
        let Some(_inside) = Inside::enter() else {
            return;
        };
        let left = ENTERED.try_with(|entered| {
            let mut entered = entered.borrow_mut();
            let is_it = |entry: &Entered| entry.layer == self.number && entry.span == *id;
            let index = entered.iter().rposition(is_it)?;
            Some(entered.remove(index))
        });
        // Closed here, when the list is not borrowed.
        if let Ok(Some(left)) = left {
            left.range.close();
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let (Some(_inside), Some(span)) = (Inside::enter(), context.span(&id)) else {
            return;
        };
        let kept = span.extensions_mut().remove::<Kept>();
        drop(kept);
    }

    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        if !self.events {
            return;
        }
        let Some(_inside) = Inside::enter() else {
            return;
        };
        let mut fields = Fields::default();
        event.record(&mut fields);
        mark(fields.label(event.metadata().name()));
    }
}
