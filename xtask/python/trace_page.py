"""Opens XProf's trace viewer in headless Chromium, checks its ROCTX rows, and takes a picture.

    python trace_page.py URL PICTURE

The page asks the internet for fonts and for a chart library that the trace viewer does not use; it
works without them.
"""

import shutil
import sys
import tempfile

from playwright.sync_api import Frame, TimeoutError, sync_playwright

# As root Chromium has no sandbox; the rest keeps it from calling out on its own.
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PAGE_LIMIT_MS = 120_000
MARGIN_MS = 60

# Rows that examples/jax_train.py has for sure; thread ids differ from run to run.
ROWS = ["loader 0", "loader 1", "checkpoints"]

HEADINGS = "() => Array.from(document.querySelectorAll('tr-ui-b-heading'), row => row.heading)"

HAS_ROWS = f"""ends => {{
  const headings = ({HEADINGS})();
  return ends.every(end => headings.some(heading =>
    heading && heading.startsWith('ROCTX Threads/') && heading.endsWith(end)));
}}"""

# Shows some milliseconds around the first checkpoint, and the ROCTX rows between rows of the host.
ZOOM = """margin => {
  const view = document.querySelector('tr-ui-timeline-view').trackView_;
  const slices = Object.values(view.model.processes)
    .flatMap(process => Object.values(process.threads))
    .filter(thread => thread.name && thread.name.startsWith('ROCTX'))
    .flatMap(thread => thread.sliceGroup.slices);
  const first = slices.filter(slice => slice.title === 'write checkpoint')
    .reduce((a, b) => (a.start < b.start ? a : b));
  const transform = new tr.ui.TimelineDisplayTransform();
  const width = view.viewport.modelTrackContainer.canvas.clientWidth;
  transform.xSetWorldBounds(first.start - margin, first.end + margin, width);
  view.viewport.setDisplayTransformImmediately(transform);

  const rows = Array.from(document.querySelectorAll('tr-ui-b-heading'))
    .filter(row => row.heading && row.heading.startsWith('ROCTX'))
    .map(row => row.getBoundingClientRect());
  const middle = (rows[0].top + rows[rows.length - 1].bottom) / 2;
  const container = view.viewport.modelTrackContainer;
  const visible = container.getBoundingClientRect();
  container.scrollTop += middle - (visible.top + visible.bottom) / 2;
}"""


def main() -> None:
    url, picture = sys.argv[1:]
    profile = tempfile.mkdtemp()
    try:
        with sync_playwright() as playwright:
            context = playwright.chromium.launch_persistent_context(
                profile,
                executable_path=shutil.which("chromium"),
                args=FLAGS,
                viewport={"width": 1280, "height": 860},
            )
            context.set_default_timeout(PAGE_LIMIT_MS)
            page = context.new_page()
            page.goto(url, wait_until="domcontentloaded")
            viewer = page.wait_for_selector("iframe").content_frame()
            check_rows(viewer)

            # Without the sidebar there is more room for the rows.
            page.locator("button", has_text="menu").first.click()
            viewer.evaluate(ZOOM, MARGIN_MS)
            # Zoomed in, the viewer asks for the events that it left out before.
            page.wait_for_load_state("networkidle")
            page.wait_for_timeout(2000)
            page.screenshot(path=picture)
            context.close()
    finally:
        shutil.rmtree(profile, ignore_errors=True)


def check_rows(viewer: Frame) -> None:
    """Fails, with the rows that there are, unless every ROCTX row of the example is shown."""
    try:
        viewer.wait_for_function(HAS_ROWS, arg=ROWS)
    except TimeoutError:
        shown = [heading for heading in viewer.evaluate(HEADINGS) if heading]
        sys.exit(f"not every row of {ROWS} is shown by the trace viewer; it shows {shown}")
    print("rows:", ", ".join(heading for heading in viewer.evaluate(HEADINGS) if heading))


if __name__ == "__main__":
    main()
