// With XLA_ROCM_ENABLE_ROCTX=0, which Bazel sets for this program: annotations as XLA has them
// without ROCTX.
#include <cstdlib>
#include <string>

#include "gtest/gtest.h"
#include "xla/tsl/profiler/backends/cpu/annotation_stack.h"
#include "xprof_roctx/in_xla/owned_annotation.h"

namespace xprof_roctx::in_xla {
namespace {

using ::tsl::profiler::AnnotationStack;

TEST(OwnedAnnotationSwitchedOff, MakesItsTextOnlyForAnEnabledStack) {
  ASSERT_STREQ(std::getenv("XLA_ROCM_ENABLE_ROCTX"), "0");
  ASSERT_EQ(tsl::profiler::DefaultProfilerDomain(), nullptr);
  int made = 0;
  const auto label = [&made] {
    ++made;
    return std::string("label");
  };
  {
    OwnedAnnotation annotation;
    annotation.Start(label);
    EXPECT_EQ(made, 0);
  }
  AnnotationStack::Enable(true);
  {
    OwnedAnnotation annotation;
    annotation.Start(label);
    EXPECT_EQ(made, 1);
    EXPECT_EQ(AnnotationStack::Get(), "label");
  }
  EXPECT_EQ(AnnotationStack::Get(), "");
  AnnotationStack::Enable(false);
}

}  // namespace
}  // namespace xprof_roctx::in_xla
