"""A small tree with the lines that the overlay looks for; everything else in it is made up."""

import contextlib
import io
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import apply  # noqa: E402  (needs the path above)

TRACER = "xla/backends/profiler/gpu/rocm_tracer.cc"
LIB_BUILD = "third_party/tsl/tsl/profiler/lib/BUILD"
POST_PROCESS = "xla/tsl/profiler/convert/post_process_single_host_xplane.cc"
PYTHON = "xla/python/profiler.cc"

_FILES = {
    "MODULE.bazel": 'module(name = "made_up")\n',
    LIB_BUILD: """\
cc_library(
    name = "nvtx_utils",
    deps = select({
        "//conditions:default": [":none"],
    }),
)

cc_library(
    name = "other",
    deps = select({
        "//conditions:default": [],
    }),
)
""",
    "third_party/tsl/tsl/profiler/lib/nvtx_utils.h": "// a header\n",
    "xla/tsl/profiler/backends/cpu/BUILD": 'cc_library(\n    name = "annotation_stack_impl",\n    deps = [\n    ],\n)\n',
    "xla/tsl/profiler/backends/cpu/annotation_stack.cc": """\
#include "xla/tsl/profiler/backends/cpu/annotation_stack.h"
int stack;
""",
    "xla/backends/profiler/gpu/BUILD": """\
cc_library(
    name = "rocm_collector",
    deps = [
        ":one",
    ],
)

cc_library(
    name = "rocm_tracer",
    more_deps = [],
    deps = [
        ":two",
    ],
)
""",
    TRACER: """\
#include "xla/backends/profiler/gpu/rocm_tracer.h"
void Enable() {
  activity_tracing_enabled_ = true;
}
void Api() {
  trace_event->scope_range_id = 1;
}
void Copy() {
  trace_event->scope_range_id = 2;
}
void Kernel() {
  trace_event->scope_range_id = 3;
}
void Init() {
  const rocprofiler_tracing_operation_t* hip_ops = nullptr;
  call([] {
      const std::string& annotation = Text();
  });
}
void RocmTracer::Disable() {
}
void Configure() {
  obj.client_id_ = id;
}
""",
    "xla/backends/profiler/gpu/rocm_collector.cc": """\
#include "xla/backends/profiler/gpu/rocm_collector.h"
void Export() {
  ExportScopeRangeIdTree(space);
}
""",
    POST_PROCESS: "void Merge() {\n  MergePlanesWithSameNames(space);\n}\n",
    "xla/tsl/profiler/utils/xplane_schema.h": "extern const absl::string_view kRoctracerApiPlaneName;\n",
    "xla/tsl/profiler/utils/xplane_schema.cc": (
        'TF_CONST_INIT const absl::string_view kRoctracerApiPlaneName = "/made/up";\n'
    ),
    "xla/python/BUILD": """\
extension(
    name = "any",
    srcs = ["profiler.cc"],
    pytype_deps = [],
    deps = [
    ],
)
""",
    PYTHON: """\
#include "tsl/profiler/lib/traceme.h"
struct TraceMeWrapper {
  TraceMeWrapper(const nb::str& name, const nb::kwargs& kwargs)
      : traceme_(name) {}
  tsl::profiler::TraceMe traceme_;
};
auto stop = [] { nb::cast<TraceMeWrapper*>(self)->Stop(); };
""",
}


class Checkout:
    """The tree, in a folder of the test's own."""

    def __init__(self, root: pathlib.Path):
        self.root = root
        for name, text in _FILES.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())

    def read(self, name: str) -> str:
        return (self.root / name).read_bytes().decode()

    def replace(self, name: str, old: str, new: str) -> None:
        text = self.read(name)
        assert old in text, (name, old)
        self.write(name, text.replace(old, new))

    def files(self) -> dict[str, bytes]:
        """Every file there is, with what is in it."""
        return {
            str(path.relative_to(self.root)): path.read_bytes() for path in self.root.rglob("*") if path.is_file()
        }

    def run(self, *options: str) -> tuple[int, str, str]:
        """apply.py on it: exit status, what it printed, and what it printed of errors."""
        return run(str(self.root), *options)


def run(*arguments: str) -> tuple[int, str, str]:
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        status = apply.main(list(arguments))
    return status, out.getvalue(), errors.getvalue()
