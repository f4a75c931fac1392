"""@local_config_rocm as a module extension."""

load(":rocm_configure.bzl", "rocm_configure")

rocm = module_extension(
    implementation = lambda _: rocm_configure(name = "local_config_rocm"),
)
