//! Warnings of this project's crates, on stderr.

use std::fmt;
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Writes what the crates warn of (`tracing` events) to stderr, one line each. For shared objects,
/// in which nobody else collects the events of the crates inside. Calling it again does nothing.
pub fn to_stderr() {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::WARN)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_target(false)
        .without_time()
        .event_format(Line)
        .finish();
    // Fails only if it was set before.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// `xprof-roctx: <message>`
struct Line;

impl<S, N> FormatEvent<S, N> for Line
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        write!(writer, "xprof-roctx: ")?;
        context.format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}
