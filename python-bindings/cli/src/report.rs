//! What a profile has, per label: for a person at 80 columns, or as JSON.

mod text;

use crate::args::{ReportArgs, SortKey};
use crate::find;
use anyhow::{Context, Result};
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use host_postprocess::report::{LabelReport, LabelStats};
use serde::Serialize;
use std::cmp::Reverse;
use std::io::Write;
use std::path::PathBuf;
use text::{duration, fitted, wrapped};
use xplane_schema::Message;
use xplane_schema::proto::XSpace;

/// Columns of a label. With the numbers beside it a line has 80, unless a count is very large.
const LABEL_WIDTH: usize = 27;
/// Columns of a row's name.
const ROW_WIDTH: usize = 69;

/// One profile's report, as `--json` prints it.
#[derive(Serialize)]
struct ProfileReport {
    file: PathBuf,
    #[serde(flatten)]
    report: LabelReport,
    /// Labels that `--top` left out.
    labels_left_out: usize,
}

pub(crate) fn report(args: &ReportArgs, out: &mut impl Write) -> Result<()> {
    let mut reports = Vec::new();
    for file in find::profiles(&args.path)? {
        reports.push(read(file, args)?);
    }
    if args.json {
        // One profile is the usual case: it needs no list around it.
        match reports.as_slice() {
            [report] => serde_json::to_writer_pretty(&mut *out, report),
            reports => serde_json::to_writer_pretty(&mut *out, reports),
        }
        .map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        for report in &reports {
            print(report, out)?;
        }
    }
    out.flush()?;
    Ok(())
}

fn read(file: PathBuf, args: &ReportArgs) -> Result<ProfileReport> {
    let bytes = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let space = XSpace::decode(bytes.as_slice()).with_context(|| {
        format!(
            "{} is not a profile, or only a part of one (an .xplane.pb file is expected)",
            file.display()
        )
    })?;
    let mut report = LabelReport::from_space(&space);
    if let Some(filter) = &args.filter {
        report.labels.retain(|label| filter.is_match(&label.label));
    }
    let matching = report.labels.len();
    sort(&mut report.labels, args.sort);
    if args.top > 0 {
        report.labels.truncate(args.top);
    }
    Ok(ProfileReport {
        file,
        labels_left_out: matching - report.labels.len(),
        report,
    })
}

/// Largest first. Equal ones stay in the report's order, longest total first.
fn sort(labels: &mut [LabelStats], key: SortKey) {
    match key {
        SortKey::Total => labels.sort_by_key(|label| Reverse(label.total_ns)),
        SortKey::SelfTime => labels.sort_by_key(|label| Reverse(label.self_ns)),
        SortKey::Count => labels.sort_by_key(|label| Reverse(label.count)),
        SortKey::P50 => labels.sort_by_key(|label| Reverse(label.p50_ns)),
        SortKey::P99 => labels.sort_by_key(|label| Reverse(label.p99_ns)),
        SortKey::Longest => labels.sort_by_key(|label| Reverse(label.longest_ns)),
        SortKey::Threads => labels.sort_by_key(|label| Reverse(label.threads)),
        SortKey::Label => labels.sort_by(|a, b| a.label.cmp(&b.label)),
    }
}

fn print(profile: &ProfileReport, out: &mut impl Write) -> Result<()> {
    let report = &profile.report;
    writeln!(out, "{}", profile.file.display())?;
    if report.rows.is_empty() {
        writeln!(out, "\nNo ROCTX rows: no ROCTX range or mark was captured.")?;
    } else {
        writeln!(out, "\n{}", rows(report))?;
        writeln!(out, "\n{}", labels(report))?;
        if profile.labels_left_out > 0 {
            let count = profile.labels_left_out;
            writeln!(out, "and {count} more labels (--top 0 prints all)")?;
        }
    }
    writeln!(out)?;
    if report.warnings.is_empty() && report.errors.is_empty() {
        writeln!(out, "Nothing was dropped.")?;
    }
    for message in report.errors.iter().chain(&report.warnings) {
        writeln!(out, "{}", wrapped(message))?;
    }
    writeln!(out)?;
    Ok(())
}

/// A table whose first column is text and whose others are numbers.
fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(LineStyle::none().fill('─')))
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header);
    for (index, column) in table.column_iter_mut().enumerate() {
        if index == 0 {
            column.set_padding((0, 0));
        } else {
            column
                .set_padding((1, 0))
                .set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn rows(report: &LabelReport) -> Table {
    let mut table = table(&["row", "events"]);
    for row in &report.rows {
        table.add_row([fitted(&row.name, ROW_WIDTH), row.events.to_string()]);
    }
    table
}

fn labels(report: &LabelReport) -> Table {
    let mut table = table(&[
        "label", "count", "total", "self", "p50", "p99", "longest", "threads",
    ]);
    for label in &report.labels {
        table.add_row([
            fitted(&label.label, LABEL_WIDTH),
            label.count.to_string(),
            duration(label.total_ns),
            duration(label.self_ns),
            duration(label.p50_ns),
            duration(label.p99_ns),
            duration(label.longest_ns),
            label.threads.to_string(),
        ]);
    }
    table
}
