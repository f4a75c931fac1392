"""A target that cannot be built, and says why."""

def _rocm_problem_impl(ctx):
    fail(ctx.attr.problem)

rocm_problem = rule(
    implementation = _rocm_problem_impl,
    doc = "Stands in the place of a ROCm library that is not there: an error at analysis for whoever needs it.",
    attrs = {
        "problem": attr.string(
            doc = "What was looked for, where, and what to do.",
            mandatory = True,
        ),
    },
)
