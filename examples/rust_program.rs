//! Draws a Mandelbrot set on several threads, annotated in Rust, and profiles itself.
//!
//! ```text
//! cargo run --release --package xprof-roctx-session --example rust_program -- LOGDIR
//! ```

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use tsl_profiler_lib::{ScopedAnnotation, nvtx_utils};
use xprof_roctx_session::{CaptureSession, SessionOptions};

const SIDE: usize = 1200;
const BAND: usize = 40;
const WORKERS: usize = 3;
const ITERATIONS: u32 = 300;

fn main() -> Result<(), Box<dyn Error>> {
    let logdir = std::env::args_os()
        .nth(1)
        .ok_or("usage: rust_program LOGDIR")?;
    let logdir = Path::new(&logdir);

    let session = CaptureSession::start(SessionOptions::default())?;
    let image = {
        let _draw = ScopedAnnotation::new("draw");
        draw()
    };
    let inside = {
        let _count = ScopedAnnotation::new("count");
        image.iter().filter(|&&steps| steps == ITERATIONS).count()
    };
    let written = session.stop()?.write(logdir, Some("rust_program"))?;

    println!(
        "{inside} of {} points are inside; profile: {}",
        image.len(),
        written.xplane.display()
    );
    Ok(())
}

/// Bands of the image, each drawn by whichever worker is free.
fn draw() -> Vec<u32> {
    let next = AtomicUsize::new(0);
    let mut bands: Vec<(usize, Vec<u32>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|number| {
                scope.spawn({
                    let next = &next;
                    move || draw_bands(number, next)
                })
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().expect("a worker panicked"))
            .collect()
    });
    let _join = ScopedAnnotation::new("join bands");
    bands.sort_unstable_by_key(|&(row, _)| row);
    bands.into_iter().flat_map(|(_, band)| band).collect()
}

fn draw_bands(number: usize, next: &AtomicUsize) -> Vec<(usize, Vec<u32>)> {
    nvtx_utils::name_current_thread(format!("drawer {number}").as_bytes());
    let mut drawn = Vec::new();
    loop {
        let row = next.fetch_add(BAND, Ordering::Relaxed);
        if row >= SIDE {
            return drawn;
        }
        let _band = ScopedAnnotation::new("band");
        let points = {
            let _place = ScopedAnnotation::new("place points");
            points_of(row..row + BAND)
        };
        let _iterate = ScopedAnnotation::new("iterate");
        drawn.push((row, points.into_iter().map(steps_inside).collect()));
    }
}

fn points_of(rows: std::ops::Range<usize>) -> Vec<(f64, f64)> {
    let scale = 3.0 / SIDE as f64;
    rows.flat_map(|y| (0..SIDE).map(move |x| (x as f64 * scale - 2.25, y as f64 * scale - 1.5)))
        .collect()
}

/// Steps until the point leaves the circle of radius 2, at most [`ITERATIONS`].
fn steps_inside((x, y): (f64, f64)) -> u32 {
    let (mut re, mut im) = (0.0, 0.0);
    (0..ITERATIONS)
        .find(|_| {
            (re, im) = (re * re - im * im + x, 2.0 * re * im + y);
            re * re + im * im > 4.0
        })
        .unwrap_or(ITERATIONS)
}
