"""What goes into which file of an XLA checkout, and beside which of its lines."""

import dataclasses
import pathlib
import re

import checkout
from insertion import Insertion, Refusal, Where, without_blocks

_TARGETS = "@xprof_roctx//third_party/xla"
_TRACER = "xla/backends/profiler/gpu/rocm_tracer.cc"
_COLLECTOR = "xla/backends/profiler/gpu/rocm_collector.cc"
_ANNOTATION_STACK = "xla/tsl/profiler/backends/cpu/annotation_stack.cc"
_POST_PROCESS = "xla/tsl/profiler/convert/post_process_single_host_xplane.cc"
_SCHEMA = "xla/tsl/profiler/utils/xplane_schema"
_PYTHON = "xla/python/profiler.cc"
# In a rocm_tracer.cc that listens to ROCTX itself.
_OWN_LISTENER = "ROCPROFILER_CALLBACK_TRACING_MARKER"
_LIB_FOLDERS = ("third_party/tsl/tsl/profiler/lib", "xla/tsl/profiler/lib")
_BUILD_FILES = ("BUILD", "BUILD.bazel")
_REPOSITORY_FILES = ("MODULE.bazel", "WORKSPACE.bazel", "WORKSPACE")
_NVTX_UTILS, _RANGE_ANNOTATIONS = "nvtx_utils", "range_annotations"


@dataclasses.dataclass(frozen=True)
class FileEdit:
    """All that goes into one file."""

    name: str
    insertions: list[Insertion]

    @property
    def comment(self) -> str:
        return "//" if self.name.endswith((".cc", ".h")) else "#"


def is_checkout(root: pathlib.Path) -> bool:
    """Whether this looks like XLA: its ROCm profiler is there."""
    return (root / _TRACER).is_file()


def file_edits(root: pathlib.Path, repository: pathlib.Path) -> list[FileEdit]:
    """Everything, for this checkout; `repository` is where xprof_roctx lies."""
    return [
        *_repositories(root, repository),
        _nvtx_utils(root),
        *_annotation_stack(root),
        *_rocm_profiler(root),
        *_plane(root),
        *_traceme_wrapper(root),
    ]


def edited_files(root: pathlib.Path) -> list[str]:
    """Every file here that may have blocks, whatever the checkout has become since they were put in."""
    sources = [_TRACER, _COLLECTOR, _ANNOTATION_STACK, _POST_PROCESS, _PYTHON, f"{_SCHEMA}.h", f"{_SCHEMA}.cc"]
    folders = [*_LIB_FOLDERS, *sorted({str(pathlib.PurePosixPath(source).parent) for source in sources})]
    builds = [f"{folder}/{build}" for folder in folders for build in _BUILD_FILES]
    return [name for name in (*_REPOSITORY_FILES, *builds, *sources) if (root / name).is_file()]


def _repositories(root: pathlib.Path, repository: pathlib.Path) -> list[FileEdit]:
    """This repository, for each of the two ways that the checkout can be built in."""
    path = str(repository).replace("\\", "\\\\").replace('"', '\\"')
    module = (
        'bazel_dep(name = "xprof_roctx", version = "0.1.0")',
        "local_path_override(",
        '    module_name = "xprof_roctx",',
        f'    path = "{path}",',
        ")",
    )
    workspace = (
        'load("@bazel_tools//tools/build_defs/repo:local.bzl", "local_repository")',
        "local_repository(",
        '    name = "xprof_roctx",',
        f'    path = "{path}",',
        ")",
    )
    _first_file(root, _REPOSITORY_FILES, "the repositories of the build")
    return [
        FileEdit(name, [Insertion(module if name == "MODULE.bazel" else workspace, where=Where.AT_END)])
        for name in _REPOSITORY_FILES
        if (root / name).is_file()
    ]


def _nvtx_utils(root: pathlib.Path) -> FileEdit:
    build = _first_file(
        root,
        tuple(f"{folder}/{build}" for folder in _LIB_FOLDERS for build in _BUILD_FILES),
        "the targets of tsl/profiler/lib",
    )
    folder = (root / build).parent
    renamed = (folder / f"{_RANGE_ANNOTATIONS}.h").is_file()
    if not renamed and not (folder / f"{_NVTX_UTILS}.h").is_file():
        raise Refusal(f"{build}: looked for {_NVTX_UTILS}.h or {_RANGE_ANNOTATIONS}.h beside it, found none")
    name = f'name = "{_RANGE_ANNOTATIONS if renamed else _NVTX_UTILS}",'
    target = f'"{_TARGETS}:nvtx_utils"'
    text = without_blocks(checkout.read(root, build), build)
    is_alias = re.search(r"^alias\(\s*" + re.escape(name), text, re.MULTILINE) is not None
    branch = f'"{_TARGETS}:rocm": {target if is_alias else f"[{target}]"},'
    return FileEdit(build, [Insertion((branch,), "select({", within=name, deeper=4)])


def _annotation_stack(root: pathlib.Path) -> list[FileEdit]:
    """One stack for C++ and Rust: theirs gives way where ours is linked."""
    own_header = f'#include "{_ANNOTATION_STACK.removesuffix("cc")}h"'
    build = _build_file(root, _ANNOTATION_STACK)
    return [
        FileEdit(
            _ANNOTATION_STACK,
            [
                Insertion(("#if !defined(XPROF_ROCTX_IN_XLA)",), own_header),
                Insertion(("#endif",), where=Where.AT_END),
            ],
        ),
        FileEdit(build, [_dependency("annotation_stack", 'name = "annotation_stack_impl",')]),
    ]


def _rocm_profiler(root: pathlib.Path) -> list[FileEdit]:
    build = _build_file(root, _TRACER)
    tracer = _tracer()
    if _OWN_LISTENER in without_blocks(checkout.read(root, _TRACER), _TRACER):
        tracer.append(_silence())
    return [
        FileEdit(_TRACER, tracer),
        FileEdit(
            _COLLECTOR,
            [
                _include(_COLLECTOR, "xprof_roctx/in_xla/session.h"),
                Insertion(
                    _guarded(
                        "if (!xprof_roctx::in_xla::ExportSession(space)) {",
                        '  LOG(WARNING) << "The ROCTX plane is lost: it is larger than 2 GiB.";',
                        "}",
                    ),
                    "  ExportScopeRangeIdTree(space);",
                    Where.BEFORE,
                ),
            ],
        ),
        FileEdit(
            build,
            [
                _dependency("session", 'name = "rocm_collector",'),
                _dependency("session", 'name = "rocm_tracer",'),
            ],
        ),
    ]


def _tracer() -> list[Insertion]:
    return [
        _include(
            _TRACER,
            "rocm/include/rocprofiler-sdk/intercept_table.h",
            "xprof_roctx/in_xla/session.h",
        ),
        Insertion(
            _guarded(
                "xprof_roctx::AskForTables(version,",
                "                          &rocprofiler_at_intercept_table_registration);",
            ),
            "obj.client_id_ = id;",
        ),
        # Before the marker service of a checkout that has its own, which then finds it taken and goes on without.
        Insertion(
            _guarded(
                *_logged(
                    "xprof_roctx::in_xla::ConfigureMarkers(",
                    "    context_.handle, &rocprofiler_get_version,",
                    "    &rocprofiler_configure_callback_tracing_service,",
                    "    &rocprofiler_get_status_string)",
                )
            ),
            "const rocprofiler_tracing_operation_t* hip_ops",
            Where.BEFORE,
        ),
        Insertion(
            _guarded(
                "xprof_roctx::in_xla::Labels().AddCurrent(",
                "    record.correlation_id.internal);",
            ),
            "const std::string& annotation =",
            Where.BEFORE,
        ),
        # After `annotation` and, where a checkout has it, its own `roctx_range`.
        Insertion(
            _guarded(
                "if (auto label =",
                "        xprof_roctx::in_xla::Labels().LookUpRoctxRange(",
                "            trace_event->correlation_id);",
                "    !label.empty()) {",
                "  trace_event->roctx_range = {label.data(), label.size()};",
                "}",
            ),
            "trace_event->scope_range_id =",
            Where.BEFORE,
            times=3,
        ),
        Insertion(
            _guarded(*_logged("xprof_roctx::in_xla::StartSession()")),
            "  activity_tracing_enabled_ = true;",
        ),
        Insertion(
            _guarded(*_logged("xprof_roctx::in_xla::StopSession()")),
            "void RocmTracer::Disable() {",
            deeper=2,
        ),
    ]


def _silence() -> Insertion:
    """Keeps a checkout's own listener from recording what is recorded here; where that fails, it takes over."""
    return Insertion(
        _guarded("if (xprof_roctx::in_xla::IsListening()) return;"),
        "if (record.kind != ROCPROFILER_CALLBACK_TRACING_MARKER_CORE",
        Where.BEFORE,
    )


def _plane(root: pathlib.Path) -> list[FileEdit]:
    """The plane's name, and its merge into the host's: in every build, since what post-processes may be another
    library than the one for ROCm."""
    header = f"{_SCHEMA}.h"
    if "kRoctxPlaneName" in without_blocks(checkout.read(root, header), header):
        raise Refusal(f"{header}: has kRoctxPlaneName already: this checkout makes and merges /host:ROCTX itself")
    return [
        FileEdit(
            header,
            [
                Insertion(
                    (
                        "// Name of XPlane that contains ROCTX ranges and marks.",
                        "TF_CONST_INIT extern const absl::string_view kRoctxPlaneName;",
                    ),
                    "extern const absl::string_view kRoctracerApiPlaneName;",
                )
            ],
        ),
        FileEdit(
            f"{_SCHEMA}.cc",
            [
                Insertion(
                    ('const absl::string_view kRoctxPlaneName = "/host:ROCTX";',),
                    "const absl::string_view kRoctracerApiPlaneName",
                    Where.BEFORE,
                )
            ],
        ),
        FileEdit(
            _POST_PROCESS,
            [
                Insertion(
                    (
                        "if (XPlane* roctx = FindMutablePlaneWithName(space, kRoctxPlaneName)) {",
                        "  ChangeOccupiedLineIds(roctx, occupied_line_ids, int64_t{2} << 32);",
                        "  MergePlanes({roctx}, host_plane);",
                        "  RemovePlanes(space, {roctx});",
                        "}",
                    ),
                    "  MergePlanesWithSameNames(space);",
                    Where.BEFORE,
                )
            ],
        ),
    ]


def _traceme_wrapper(root: pathlib.Path) -> list[FileEdit]:
    build = _build_file(root, _PYTHON)
    return [
        FileEdit(
            _PYTHON,
            [
                Insertion(
                    _guarded("#include <cstddef>", '#include "xprof_roctx/in_xla/owned_annotation.h"'),
                    '#include "tsl/profiler/lib/traceme.h"',
                ),
                # The constructor becomes one that this one calls before it pushes.
                Insertion(
                    _guarded(
                        "    : TraceMeWrapper(name, kwargs, nullptr) {",
                        "  annotation_.Start([&] {",
                        "    std::string label = nb::cast<std::string>(name);",
                        "    if (kwargs.size() > 0) AppendMetadata(&label, kwargs);",
                        "    return label;",
                        "  });",
                        "}",
                        "void StopAnnotation() { annotation_.Stop(); }",
                        "TraceMeWrapper(const nb::str& name, const nb::kwargs& kwargs,",
                        "               std::nullptr_t)",
                    ),
                    "  TraceMeWrapper(const nb::str& name, const nb::kwargs& kwargs)",
                ),
                Insertion(
                    _guarded("nb::cast<TraceMeWrapper*>(self)->StopAnnotation();"),
                    "nb::cast<TraceMeWrapper*>(self)->Stop();",
                    Where.BEFORE,
                ),
                Insertion(
                    _guarded("xprof_roctx::in_xla::OwnedAnnotation annotation_;"),
                    "  tsl::profiler::TraceMe traceme_;",
                ),
            ],
        ),
        FileEdit(build, [_dependency("owned_annotation", 'srcs = ["profiler.cc"],')]),
    ]


def _dependency(target: str, of: str) -> Insertion:
    # With the space: others end in "deps" too.
    return Insertion((f'"{_TARGETS}:{target}",',), " deps = [", within=of, deeper=4)


def _include(file: str, *headers: str) -> Insertion:
    lines = _guarded(*(f'#include "{header}"' for header in headers))
    return Insertion(lines, f'#include "{file.removesuffix(".cc")}.h"')


def _guarded(*lines: str) -> tuple[str, ...]:
    """C++ for builds that these targets are linked into: they define the name."""
    return ("#if defined(XPROF_ROCTX_IN_XLA)", *lines, "#endif")


def _logged(*call: str) -> tuple[str, ...]:
    """C++ that logs what a call says went wrong."""
    *lines, last = call
    return (
        "if (std::string problem =",
        *(f"        {line}" for line in lines),
        f"        {last};",
        "    !problem.empty()) {",
        '  LOG(WARNING) << "ROCTX: " << problem;',
        "}",
    )


def _build_file(root: pathlib.Path, source: str) -> str:
    folder = pathlib.PurePosixPath(source).parent
    return _first_file(root, tuple(f"{folder}/{build}" for build in _BUILD_FILES), f"the target of {source}")


def _first_file(root: pathlib.Path, names: tuple[str, ...], what: str) -> str:
    for name in names:
        if (root / name).is_file():
            return name
    raise Refusal(f"{root}: looked for {what} in {' or '.join(names)}, found none of these files")
