"""apply.py on a made-up checkout: what it writes, that it can be undone, and when it refuses."""

import pathlib
import tempfile
import unittest
from unittest import mock

from tests import fixture
from tests.fixture import LIB_BUILD, POST_PROCESS, PYTHON, TRACER, Checkout

import checkout


class TestCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.xla = Checkout(pathlib.Path(folder.name))

    def assert_refused(self, *words, options=()):
        """It fails with status 2, says all of the words, and leaves every file as it was."""
        before = self.xla.files()
        status, out, errors = self.xla.run(*options)
        self.assertEqual((status, out), (2, ""))
        for word in words:
            self.assertIn(word, errors)
        self.assertEqual(self.xla.files(), before)


class Applying(TestCase):
    def test_every_file_with_a_place_is_changed_and_no_other(self):
        before = self.xla.files()
        status, out, errors = self.xla.run()
        self.assertEqual((status, errors), (0, ""))
        after = self.xla.files()
        self.assertEqual(after.keys(), before.keys())
        changed = {name for name in after if after[name] != before[name]}
        self.assertEqual(changed, before.keys() - {"third_party/tsl/tsl/profiler/lib/nvtx_utils.h"})
        self.assertEqual({line.removeprefix("changed: ") for line in out.splitlines()}, changed)

    def test_the_branch_is_in_the_target_that_chooses(self):
        self.xla.run()
        branch = """\
    name = "nvtx_utils",
    deps = select({
        # xprof-roctx begin
        "@xprof_roctx//third_party/xla:rocm": ["@xprof_roctx//third_party/xla:nvtx_utils"],
        # xprof-roctx end
        "//conditions:default": [":none"],
"""
        text = self.xla.read(LIB_BUILD)
        self.assertIn(branch, text)
        self.assertEqual(text.count("@xprof_roctx//third_party/xla:nvtx_utils"), 1)

    def test_a_checkout_with_the_newer_header_has_the_branch_in_the_newer_target(self):
        self.xla.write("third_party/tsl/tsl/profiler/lib/range_annotations.h", "// a header\n")
        self.xla.write(
            LIB_BUILD,
            'alias(\n    name = "nvtx_utils",\n    actual = ":range_annotations",\n)\n\n'
            'alias(\n    name = "range_annotations",\n    actual = select({\n        "//x": ":y",\n    }),\n)\n',
        )
        self.assertEqual(self.xla.run()[0], 0)
        # An alias has one label where a list of dependencies has a list.
        self.assertIn(
            'select({\n        # xprof-roctx begin\n        "@xprof_roctx//third_party/xla:rocm": '
            '"@xprof_roctx//third_party/xla:nvtx_utils",\n',
            self.xla.read(LIB_BUILD),
        )

    def test_the_library_may_lie_in_either_folder(self):
        text = self.xla.read(LIB_BUILD)
        for file in (self.xla.root / LIB_BUILD).parent.iterdir():
            file.unlink()
        self.xla.write("xla/tsl/profiler/lib/nvtx_utils.h", "// a header\n")
        self.xla.write("xla/tsl/profiler/lib/BUILD.bazel", text)
        self.assertEqual(self.xla.run()[0], 0)
        self.assertIn("@xprof_roctx", self.xla.read("xla/tsl/profiler/lib/BUILD.bazel"))

    def test_the_module_is_this_repository(self):
        self.xla.run()
        repository = pathlib.Path(__file__).resolve().parents[3]
        text = self.xla.read("MODULE.bazel")
        self.assertIn(f'    module_name = "xprof_roctx",\n    path = "{repository}",\n', text)
        self.assertIn('bazel_dep(name = "xprof_roctx", version = "0.1.0")\n', text)

    def test_a_checkout_with_a_workspace_only_gets_a_repository(self):
        (self.xla.root / "MODULE.bazel").unlink()
        self.xla.write("WORKSPACE", 'workspace(name = "made_up")\n')
        self.assertEqual(self.xla.run()[0], 0)
        text = self.xla.read("WORKSPACE")
        self.assertTrue(text.startswith('workspace(name = "made_up")\n# xprof-roctx begin\n'))
        self.assertIn('local_repository(\n    name = "xprof_roctx",\n', text)

    def test_a_checkout_with_both_gets_both(self):
        # Labels of this repository are in targets of every build, whichever way it is built in.
        self.xla.write("WORKSPACE", 'workspace(name = "made_up")\n')
        self.assertEqual(self.xla.run()[0], 0)
        self.assertIn("local_path_override(", self.xla.read("MODULE.bazel"))
        self.assertIn("local_repository(", self.xla.read("WORKSPACE"))

    def test_a_checkout_with_neither_is_refused(self):
        (self.xla.root / "MODULE.bazel").unlink()
        self.assert_refused("the repositories of the build in MODULE.bazel or WORKSPACE.bazel or WORKSPACE")

    def test_preprocessor_lines_stay_at_the_margin_and_code_is_indented(self):
        self.xla.run()
        self.assertIn(
            """\
      // xprof-roctx begin
#if defined(XPROF_ROCTX_IN_XLA)
      xprof_roctx::in_xla::Labels().AddCurrent(
          record.correlation_id.internal);
#endif
      // xprof-roctx end
      const std::string& annotation = Text();
""",
            self.xla.read(TRACER),
        )

    def test_all_c_plus_plus_but_the_plane_is_for_builds_with_these_targets_only(self):
        self.xla.run()
        for name in (TRACER, PYTHON, "xla/backends/profiler/gpu/rocm_collector.cc"):
            text = self.xla.read(name)
            blocks = text.split("// xprof-roctx begin\n")[1:]
            self.assertTrue(blocks)
            for block in blocks:
                inside = block.split("// xprof-roctx end")[0].rstrip(" ")
                self.assertTrue(inside.startswith("#if defined(XPROF_ROCTX_IN_XLA)\n"), inside)
                self.assertTrue(inside.endswith("#endif\n"), inside)
        self.assertNotIn("XPROF_ROCTX_IN_XLA", self.xla.read(POST_PROCESS))

    def test_labels_are_set_after_what_a_checkout_sets_itself(self):
        self.xla.replace(TRACER, "  trace_event->scope", "  trace_event->roctx_range = theirs;\n  trace_event->scope")
        self.assertEqual(self.xla.run()[0], 0)
        functions = self.xla.read(TRACER).split("trace_event->roctx_range = theirs;\n")[1:]
        self.assertEqual(len(functions), 3)
        for function in functions:
            self.assertTrue(function.startswith("  // xprof-roctx begin\n"), function)
            block, rest = function.split("  // xprof-roctx end\n", 1)
            self.assertIn("trace_event->roctx_range = {label.data(), label.size()};", block)
            self.assertTrue(rest.startswith("  trace_event->scope_range_id ="), rest)

    def test_only_line_feeds_end_lines(self):
        self.xla.replace(TRACER, "obj.client_id_ = id;", "obj.client_id_ = id;  // \u2028 and \f more")
        self.assertEqual(self.xla.run()[0], 0)
        self.assertIn("// \u2028 and \f more\n  // xprof-roctx begin\n", self.xla.read(TRACER))

    def test_a_listener_of_its_own_is_silenced(self):
        listener = "  if (record.kind != ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API) return;\n"
        self.xla.write(TRACER, self.xla.read(TRACER) + listener)
        self.assertEqual(self.xla.run()[0], 0)
        text = self.xla.read(TRACER)
        self.assertLess(text.index("if (xprof_roctx::in_xla::IsListening()) return;"), text.index(listener))

    def test_a_listener_of_a_form_that_is_not_known_is_refused(self):
        self.xla.write(TRACER, self.xla.read(TRACER) + "  Use(ROCPROFILER_CALLBACK_TRACING_MARKER_RANGE);\n")
        self.assert_refused(TRACER, "record.kind != ROCPROFILER_CALLBACK_TRACING_MARKER_CORE", "found none")

    def test_again_changes_nothing(self):
        self.xla.run()
        before = self.xla.files()
        self.assertEqual(self.xla.run(), (0, "applied: nothing to change\n", ""))
        self.assertEqual(self.xla.files(), before)

    def test_a_half_applied_checkout_is_completed(self):
        bare = self.xla.files()
        self.xla.run()
        applied = self.xla.files()
        self.xla.write(TRACER, bare[TRACER].decode())
        # And one file lacks one of its blocks.
        first, _, rest = self.xla.read(PYTHON).split("// xprof-roctx", 2)
        self.xla.write(PYTHON, first + rest.split("\n", 1)[1])
        status, out, _ = self.xla.run("--check")
        self.assertEqual(status, 1)
        self.assertEqual(set(out.splitlines()), {f"would change: {TRACER}", f"would change: {PYTHON}"})
        self.assertEqual(self.xla.run()[0], 0)
        self.assertEqual(self.xla.files(), applied)

    def test_another_place_of_this_repository_is_put_right(self):
        self.xla.run()
        applied = self.xla.files()
        self.xla.replace("MODULE.bazel", '    path = "', '    path = "/moved')
        self.assertEqual(self.xla.run(), (0, "changed: MODULE.bazel\n", ""))
        self.assertEqual(self.xla.files(), applied)

    def test_modes_are_kept_and_links_stay_links(self):
        target = self.xla.root / "elsewhere.cc"
        (self.xla.root / TRACER).rename(target)
        (self.xla.root / TRACER).symlink_to(target)
        target.chmod(0o755)
        self.assertEqual(self.xla.run()[0], 0)
        self.assertTrue((self.xla.root / TRACER).is_symlink())
        self.assertEqual(target.stat().st_mode & 0o777, 0o755)
        self.assertIn("xprof-roctx begin", target.read_text())


class Checking(TestCase):
    def test_it_changes_nothing_and_tells_by_its_status(self):
        before = self.xla.files()
        status, out, _ = self.xla.run("--check")
        self.assertEqual(status, 1)
        self.assertIn(f"would change: {TRACER}\n", out)
        self.assertEqual(self.xla.files(), before)
        self.xla.run()
        self.assertEqual(self.xla.run("--check"), (0, "applied: nothing to change\n", ""))


class Reverting(TestCase):
    def test_every_file_is_what_it_was(self):
        self.xla.write(POST_PROCESS, "\f\r\n// \u00e9\u2028\r\n" + self.xla.read(POST_PROCESS).replace("\n", "\r\n"))
        before = self.xla.files()
        self.assertEqual(self.xla.run()[0], 0)
        self.assertNotEqual(self.xla.files(), before)
        self.assertEqual(self.xla.run("--revert")[0], 0)
        self.assertEqual(self.xla.files(), before)

    def test_changes_by_others_stay(self):
        self.xla.run()
        self.xla.replace(TRACER, "void Kernel() {\n", "void Kernel() {\n  mine();\n")
        self.xla.run("--revert")
        text = self.xla.read(TRACER)
        self.assertIn("void Kernel() {\n  mine();\n", text)
        self.assertNotIn("xprof", text)

    def test_it_needs_no_anchors(self):
        self.xla.run()
        self.xla.replace(TRACER, "obj.client_id_ = id;", "somewhere_else = id;")
        self.assertEqual(self.xla.run("--revert")[0], 0)
        self.assertNotIn("xprof", self.xla.read(TRACER))

    def test_it_needs_nothing_else_that_applying_does(self):
        self.xla.run()
        (self.xla.root / POST_PROCESS).unlink()
        (self.xla.root / "third_party/tsl/tsl/profiler/lib/nvtx_utils.h").unlink()
        self.xla.write("xla/tsl/profiler/utils/xplane_schema.h", "extern const char* kRoctxPlaneName;\n")
        self.assertEqual(self.xla.run("--revert")[0], 0)
        self.assertFalse([name for name, text in self.xla.files().items() if b"xprof" in text])

    def test_where_nothing_is_applied_it_says_so(self):
        before = self.xla.files()
        self.assertEqual(self.xla.run("--revert"), (0, "not applied: nothing to take out\n", ""))
        self.assertEqual(self.xla.files(), before)


class Refusing(TestCase):
    def test_a_missing_anchor(self):
        self.xla.replace(TRACER, "obj.client_id_ = id;", "")
        self.assert_refused(TRACER, "`obj.client_id_ = id;`", "looked for 1 line", "found none")

    def test_an_ambiguous_anchor(self):
        self.xla.write(POST_PROCESS, self.xla.read(POST_PROCESS) * 2)
        self.assert_refused(POST_PROCESS, "`  MergePlanesWithSameNames(space);`", "found 2 (lines 2, 5)")

    def test_an_anchor_that_is_there_too_seldom(self):
        self.xla.replace(TRACER, "trace_event->scope_range_id = 3;", "")
        self.assert_refused("looked for 3 lines with `trace_event->scope_range_id =`", "found 2 (lines 6, 9)")

    def test_an_anchor_outside_of_its_target(self):
        self.xla.replace(LIB_BUILD, "select({\n        \"//conditions:default\": [\":none\"],\n    })", "[]")
        self.assert_refused(LIB_BUILD, '`select({` in what follows `name = "nvtx_utils",`', "found none")

    def test_every_problem_is_told_at_once(self):
        self.xla.replace(TRACER, "obj.client_id_ = id;", "")
        self.xla.replace(PYTHON, "->Stop()", "->End()")
        self.assert_refused(TRACER, PYTHON, options=("--check",))

    def test_a_checkout_that_makes_the_plane_itself(self):
        self.xla.write("xla/tsl/profiler/utils/xplane_schema.h", "extern const char* kRoctxPlaneName;\n")
        self.assert_refused("xplane_schema.h: has kRoctxPlaneName already")

    def test_a_missing_file(self):
        (self.xla.root / POST_PROCESS).unlink()
        self.assert_refused(POST_PROCESS, "cannot be read")

    def test_a_missing_build_file(self):
        (self.xla.root / "xla/python/BUILD").unlink()
        self.assert_refused("xla/python/BUILD or xla/python/BUILD.bazel")

    def test_a_library_without_either_header(self):
        (self.xla.root / "third_party/tsl/tsl/profiler/lib/nvtx_utils.h").unlink()
        self.assert_refused(LIB_BUILD, "nvtx_utils.h or range_annotations.h")

    def test_a_last_line_without_an_end(self):
        self.xla.write("MODULE.bazel", "module()")
        self.assert_refused("MODULE.bazel", "the last line has no end")

    def test_a_block_that_does_not_end(self):
        self.xla.run()
        self.xla.replace("MODULE.bazel", "# xprof-roctx end\n", "")
        for options in ((), ("--check",), ("--revert",)):
            self.assert_refused("MODULE.bazel:2", "does not end", options=options)

    def test_an_end_without_a_beginning(self):
        self.xla.write(TRACER, "// xprof-roctx end\n" + self.xla.read(TRACER))
        self.assert_refused(f"{TRACER}:1", "no block has begun")

    def test_a_read_only_file(self):
        # Also for root, which could write it.
        (self.xla.root / PYTHON).chmod(0o444)
        self.assert_refused(PYTHON, "is read-only")

    def test_a_file_that_is_not_text(self):
        (self.xla.root / TRACER).write_bytes(b"\xff\xfe")
        self.assert_refused(TRACER, "cannot be read")

    def test_a_disk_that_fills_up_half_way(self):
        replace = checkout._replace
        calls = []

        def third_fails(path, content):
            calls.append(path)
            if len(calls) == 3:
                raise OSError(28, "No space left on device")
            replace(path, content)

        with mock.patch.object(checkout, "_replace", third_fails):
            self.assert_refused("cannot be written", "No space left on device")
        self.assertEqual(calls[3:], calls[:2])

    def test_a_path_that_is_no_checkout(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in (folder, f"{folder}/none"):
                status, out, errors = fixture.run(path)
                self.assertEqual((status, out), (2, ""))
                self.assertIn(f"{pathlib.Path(path).resolve()}: is no checkout of XLA", errors)

    def test_check_and_revert_together(self):
        with self.assertRaises(SystemExit) as stopped:
            self.xla.run("--check", "--revert")
        self.assertEqual(stopped.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
