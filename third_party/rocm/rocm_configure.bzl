"""@local_config_rocm: the ROCm that is installed, or what is wrong with it.

Looks at $ROCM_PATH, then /opt/rocm. The repository always has the same targets and constants:

    :is_rocm_configured       for select(): a usable ROCm is there, and this build is for ROCm
    :rocprofiler_sdk_roctx    AMD's ROCTX library, to link; an error at analysis where there is none
    :hip_headers              the headers beneath include/
    build_defs.bzl            ROCM_IS_CONFIGURED, ROCM_PATH, ROCM_PROBLEM
"""

# Certain to be ROCm's: any folder named `include` would do for /usr too.
_HEADER = "include/hip/hip_runtime_api.h"
_LIBRARY = "librocprofiler-sdk-roctx.so"

_FOUND = """\
load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

alias(
    name = "is_rocm_configured",
    actual = "{rocm}",
)

# The library is linked where it is installed, as every ROCm program does, and found again there at run time.
# Rust calls it through function pointers, so that the linker would drop it as unneeded.
cc_library(
    name = "rocprofiler_sdk_roctx",
    additional_linker_inputs = glob(["lib/*"]),
    linkopts = [
        "-L{path}/lib",
        "-Wl,-rpath,{path}/lib",
        "-Wl,--push-state,--no-as-needed",
        "-l:{library}",
        "-Wl,--pop-state",
    ],
)

cc_library(
    name = "hip_headers",
    hdrs = glob(["include/**"]),
    includes = ["include"],
)
"""

_NOT_FOUND = """\
load("{problem_bzl}", "rocm_problem")

package(default_visibility = ["//visibility:public"])

alias(
    name = "is_rocm_configured",
    actual = "{never}",
)

rocm_problem(
    name = "rocprofiler_sdk_roctx",
    problem = {problem},
)

rocm_problem(
    name = "hip_headers",
    problem = {problem},
)
"""

def _folders(repository_ctx):
    """Where to look, and how to say so."""
    folders = [("/opt/rocm", "/opt/rocm")]
    setting = repository_ctx.getenv("ROCM_PATH")
    if setting:
        folders.insert(0, (setting, "{} ($ROCM_PATH)".format(setting)))
    return folders

def _library(repository_ctx, rocm):
    for name in [_LIBRARY, _LIBRARY + ".1", _LIBRARY + ".0"]:
        path = rocm.get_child("lib", name)
        repository_ctx.watch(path)
        if path.exists:
            return name
    return None

def _rocm_configure_impl(repository_ctx):
    looked_at = []
    rocm = None
    for folder, words in _folders(repository_ctx):
        candidate = repository_ctx.path(folder)
        header = candidate.get_child(_HEADER)
        repository_ctx.watch(header)
        looked_at.append(words)
        if header.exists:
            rocm = candidate
            break

    library = None
    problem = None
    if not rocm:
        problem = ("This build is for ROCm, and no ROCm was found: no {} in {}. " +
                   "Install ROCm, or set ROCM_PATH to where it is.").format(_HEADER, " or ".join(looked_at))
    else:
        library = _library(repository_ctx, rocm)
        if not library:
            problem = ("This build is for ROCm, and the ROCm at {} has no ROCTX: no lib/{}, {}.1 or {}.0. " +
                       "Install the package rocprofiler-sdk-roctx, or set ROCM_PATH to a ROCm that has it.").format(
                rocm,
                _LIBRARY,
                _LIBRARY,
                _LIBRARY,
            )

    repository_ctx.file("build_defs.bzl", "\n".join([
        "ROCM_IS_CONFIGURED = {}".format(problem == None),
        "ROCM_PATH = {}".format(repr(str(rocm)) if rocm else None),
        "ROCM_PROBLEM = {}".format(repr(problem)),
        "",
    ]))
    if problem:
        repository_ctx.file("BUILD.bazel", _NOT_FOUND.format(
            never = Label("//third_party/rocm:never"),
            problem = repr(problem),
            problem_bzl = Label("//third_party/rocm:problem.bzl"),
        ))
        return
    repository_ctx.symlink(rocm.get_child("include"), "include")
    for file in rocm.get_child("lib").readdir():
        if file.basename.startswith(_LIBRARY):
            repository_ctx.symlink(file, "lib/" + file.basename)
    repository_ctx.file("BUILD.bazel", _FOUND.format(
        library = library,
        path = rocm.realpath,
        rocm = Label("//:rocm"),
    ))

rocm_configure = repository_rule(
    implementation = _rocm_configure_impl,
    doc = "Looks for ROCm in $ROCM_PATH, then /opt/rocm.",
    local = True,
)
