// Scoped annotations over whichever nvtx_utils is linked: what the annotation stack gets is the same.
// Passes with TSL's own scoped_annotation.h as well, where XPROF_ROCTX_TSL_SCOPED_ANNOTATION is
// defined.
#include "tsl/profiler/lib/scoped_annotation.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tsl/profiler/lib/nvtx_utils.h"
#include "xla/tsl/profiler/backends/cpu/annotation_stack.h"

namespace tsl {
namespace profiler {
namespace {

class ScopedAnnotationTest : public ::testing::Test {
 protected:
  ScopedAnnotationTest() { AnnotationStack::Enable(true); }
  ~ScopedAnnotationTest() override {
    EXPECT_EQ(AnnotationStack::Get(), "");
    AnnotationStack::Enable(false);
  }
};

TEST_F(ScopedAnnotationTest, Simple) {
  AnnotationStack::Enable(false);
  {
    ScopedAnnotation trace("blah");
    EXPECT_EQ(AnnotationStack::Get(), "");  // not enabled
    EXPECT_FALSE(ScopedAnnotation::IsEnabled());
  }
  AnnotationStack::Enable(true);
  {
    ScopedAnnotation trace("blah");
    EXPECT_EQ(AnnotationStack::Get(), "blah");
    EXPECT_TRUE(ScopedAnnotation::IsEnabled());
  }
  {
    ScopedAnnotation outer("foo");
    ScopedAnnotation inner("bar");
    EXPECT_EQ(AnnotationStack::Get(), "foo::bar");
  }
  PushAnnotation("foo");
  PushAnnotation(std::string("bar"));
  EXPECT_EQ(AnnotationStack::Get(), "foo::bar");
  PopAnnotation();
  EXPECT_EQ(AnnotationStack::Get(), "foo");
  PopAnnotation();
}

TEST_F(ScopedAnnotationTest, EveryKindOfText) {
  const char* const pointer = "pointer";
  std::string string = "string";
  const std::string constant = "constant";
  const auto generator = [] { return std::string("generated"); };
  ScopedAnnotation a("literal");
  ScopedAnnotation b(pointer);
  ScopedAnnotation c(string);
  ScopedAnnotation d(constant);
  ScopedAnnotation e(std::string("temporary"));
  ScopedAnnotation f(generator);
  ScopedAnnotation g([&] { return constant.c_str(); });
  ScopedAnnotation h("\xff\xfe");
  EXPECT_EQ(AnnotationStack::Get(),
            "literal::pointer::string::constant::temporary::generated::"
            "constant::\xff\xfe");
}

TEST_F(ScopedAnnotationTest, TextsAreMadeOnlyWhereSomebodyTakesThem) {
  int made = 0;
  const auto text = [&] {
    ++made;
    return "text";
  };
  const int by_ranges = DefaultProfilerDomain() != nullptr ? 1 : 0;
  { ScopedAnnotation annotation(text); }
  EXPECT_EQ(made, 1);
  AnnotationStack::Enable(false);
  { ScopedAnnotation annotation(text); }
  EXPECT_EQ(made, 1 + by_ranges);
  made = 0;
  const auto unused = [&] {
    ADD_FAILURE() << "nobody takes annotations";
    return "annotation";
  };
  { ScopedAnnotation annotation(unused, text); }
  EXPECT_EQ(made, by_ranges);
}

TEST_F(ScopedAnnotationTest, AnExceptionEndsAnnotationsAsItPasses) {
  const auto throws = []() -> std::string { throw std::runtime_error("text"); };
  try {
    ScopedAnnotation outer("outer");
    try {
      ScopedAnnotation inner(throws);
      FAIL() << "constructed";
    } catch (const std::runtime_error&) {
      EXPECT_EQ(AnnotationStack::Get(), "outer");
    }
    try {
      ScopedAnnotation inner([] { return "annotation"; }, throws);
      if (DefaultProfilerDomain() != nullptr) FAIL() << "constructed";
    } catch (const std::runtime_error&) {
      EXPECT_EQ(AnnotationStack::Get(), "outer");
    }
    ScopedAnnotation inner("inner");
    throw std::logic_error("work");
  } catch (const std::logic_error&) {
    EXPECT_EQ(AnnotationStack::Get(), "");
  }
}

TEST_F(ScopedAnnotationTest, OneOfManyThreads) {
  ScopedAnnotation outer("main");
  std::vector<std::thread> threads;
  for (int nth = 0; nth < 4; ++nth) {
    threads.emplace_back([nth] {
      for (int round = 0; round < 1000; ++round) {
        ScopedAnnotation outer([&] { return "t" + std::to_string(nth); });
        ScopedAnnotation inner("inner");
        ASSERT_EQ(AnnotationStack::Get(),
                  "t" + std::to_string(nth) + "::inner");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(AnnotationStack::Get(), "main");
}

// An annotation as XLA has them: an object with a RangePush() of its own, found by its namespace.
struct Instruction {
  static uint64_t NvtxSchemaId() { return 1; }
  StringHandle title;
  friend void RangePush(ProfilerDomainHandle domain,
                        const Instruction& instruction) {
    ::tsl::profiler::RangePush(domain, instruction.title, instruction);
  }
};

TEST_F(ScopedAnnotationTest, AnAnnotationAndARange) {
  const Instruction instruction{
      RegisterString(DefaultProfilerDomain(), "title")};
  ScopedAnnotation outer("outer");
  {
    ScopedAnnotation inner([] { return std::string("#hlo_op=fusion.1#"); },
                           [&] { return instruction; });
#ifdef XPROF_ROCTX_TSL_SCOPED_ANNOTATION
    EXPECT_EQ(AnnotationStack::Get(), DefaultProfilerDomain() != nullptr
                                          ? "outer::title"
                                          : "outer::#hlo_op=fusion.1#");
#else
    EXPECT_EQ(AnnotationStack::Get(), "outer::#hlo_op=fusion.1#");
#endif
    EXPECT_EQ(AnnotationStack::GetScopeRangeIds().size(), 2);
  }
  EXPECT_EQ(AnnotationStack::Get(), "outer");
}

}  // namespace
}  // namespace profiler
}  // namespace tsl
