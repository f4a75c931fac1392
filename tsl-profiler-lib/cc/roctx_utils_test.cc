// nvtx_utils on ROCTX, through the bridge, seen from both ends: the annotation stack, and a ROCTX
// library that writes down its calls.
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tsl-profiler-lib/cc/recording_roctx.h"
#include "tsl/profiler/lib/nvtx_utils.h"
#include "tsl/profiler/lib/scoped_annotation.h"
#include "xla/tsl/profiler/backends/cpu/annotation_stack.h"

namespace tsl {
namespace profiler {
namespace {

using ::recording_roctx::OpenRanges;
using ::recording_roctx::TakeCalls;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Before anything asks for the domain.
const bool kUsed = (recording_roctx::Use(), true);

class AnnotationStackGuard {
 public:
  AnnotationStackGuard() { AnnotationStack::Enable(true); }
  ~AnnotationStackGuard() { AnnotationStack::Enable(false); }
};

class RoctxUtils : public ::testing::Test {
 protected:
  RoctxUtils() { TakeCalls(); }
  ~RoctxUtils() override { EXPECT_THAT(OpenRanges(), IsEmpty()); }

  ProfilerDomainHandle domain_ = DefaultProfilerDomain();
};

TEST_F(RoctxUtils, DefaultProfilerDomainReturnsNonNull) {
  ASSERT_TRUE(kUsed);
  ASSERT_NE(domain_, nullptr);
}

TEST_F(RoctxUtils, DomainStaysLatchedAcrossCalls) {
  setenv("XLA_ROCM_ENABLE_ROCTX", "0", /*overwrite=*/1);
  EXPECT_EQ(DefaultProfilerDomain(), domain_);
  std::thread([&] { EXPECT_EQ(DefaultProfilerDomain(), domain_); }).join();
  unsetenv("XLA_ROCM_ENABLE_ROCTX");
  EXPECT_EQ(DefaultProfilerDomain(), domain_);
}

TEST_F(RoctxUtils, RangePushPopulatesAnnotationStack) {
  AnnotationStackGuard guard;
  RangePush(domain_, "test_op");
  EXPECT_EQ(AnnotationStack::Get(), "test_op");
  RangePop(domain_);
  EXPECT_EQ(AnnotationStack::Get(), "");
}

TEST_F(RoctxUtils, DualPushBothPipelinesSimultaneously) {
  AnnotationStackGuard guard;
  RangePush(domain_, "dual_push_test");
  EXPECT_EQ(AnnotationStack::Get(), "dual_push_test");
  EXPECT_THAT(OpenRanges(), ElementsAre("dual_push_test"));
  RangePop(domain_);
  EXPECT_EQ(AnnotationStack::Get(), "");
  EXPECT_THAT(TakeCalls(), ElementsAre("push dual_push_test", "pop"));
}

TEST_F(RoctxUtils, NestedPushPopMaintainsAnnotationStack) {
  AnnotationStackGuard guard;
  RangePush(domain_, "outer");
  RangePush(domain_, std::string("inner"));
  EXPECT_EQ(AnnotationStack::Get(), "outer::inner");
  EXPECT_THAT(OpenRanges(), ElementsAre("outer", "inner"));
  RangePop(domain_);
  EXPECT_EQ(AnnotationStack::Get(), "outer");
  EXPECT_THAT(OpenRanges(), ElementsAre("outer"));
  RangePop(domain_);
  EXPECT_EQ(AnnotationStack::Get(), "");
}

TEST_F(RoctxUtils, PushPopWithAnnotationStackDisabled) {
  RangePush(domain_, "ignored_op");
  EXPECT_EQ(AnnotationStack::Get(), "");
  EXPECT_THAT(OpenRanges(), ElementsAre("ignored_op"));
  RangePop(domain_);
  EXPECT_EQ(AnnotationStack::Get(), "");
}

TEST_F(RoctxUtils, AnnotationsSwitchedBetweenPushAndPop) {
  RangePush(domain_, "before");
  AnnotationStack::Enable(true);
  RangePush(domain_, "within");
  EXPECT_EQ(AnnotationStack::Get(), "within");
  RangePop(domain_);
  RangePop(domain_);
  EXPECT_EQ(AnnotationStack::Get(), "");
  RangePush(domain_, "within");
  AnnotationStack::Enable(false);
  RangePop(domain_);
  EXPECT_EQ(AnnotationStack::Get(), "");
}

TEST_F(RoctxUtils, ScopedAnnotationIntegration) {
  AnnotationStackGuard guard;
  {
    ScopedAnnotation annotation("my_kernel");
    EXPECT_EQ(AnnotationStack::Get(), "my_kernel");
    {
      ScopedAnnotation nested("inner_kernel");
      EXPECT_EQ(AnnotationStack::Get(), "my_kernel::inner_kernel");
      EXPECT_THAT(OpenRanges(), ElementsAre("my_kernel", "inner_kernel"));
    }
    EXPECT_EQ(AnnotationStack::Get(), "my_kernel");
  }
  EXPECT_EQ(AnnotationStack::Get(), "");
}

TEST_F(RoctxUtils, ScopedAnnotationDisabledStackDoesNotCrash) {
  {
    ScopedAnnotation annotation("disabled_op");
    EXPECT_EQ(AnnotationStack::Get(), "");
    EXPECT_THAT(OpenRanges(), ElementsAre("disabled_op"));
  }
  EXPECT_EQ(AnnotationStack::Get(), "");
}

TEST_F(RoctxUtils, DirectRoctxCallsNestWithOurs) {
  RangePush(domain_, "ours");
  EXPECT_EQ(recording_roctx::Push("direct"), 1);
  RangePush(domain_, "ours again");
  EXPECT_THAT(OpenRanges(), ElementsAre("ours", "direct", "ours again"));
  RangePop(domain_);
  EXPECT_EQ(recording_roctx::Pop(), 1);
  RangePop(domain_);
}

TEST_F(RoctxUtils, AnUnmatchedPopLeavesEverythingUsable) {
  AnnotationStackGuard guard;
  RangePop(domain_);
  RangePush(domain_, "after");
  EXPECT_EQ(AnnotationStack::Get(), "after");
  EXPECT_THAT(OpenRanges(), ElementsAre("after"));
  RangePop(domain_);
}

TEST_F(RoctxUtils, ANullTitleIsAnEmptyOne) {
  AnnotationStackGuard guard;
  RangePush(domain_, "outer");
  RangePush(domain_, static_cast<const char*>(nullptr));
  EXPECT_EQ(AnnotationStack::GetScopeRangeIds().size(), 2);
  EXPECT_THAT(OpenRanges(), ElementsAre("outer", ""));
  RangePop(domain_);
  EXPECT_EQ(AnnotationStack::Get(), "outer");
  RangePop(domain_);
}

TEST_F(RoctxUtils, TitlesAreBytes) {
  AnnotationStackGuard guard;
  const std::string bytes = "\xff\xfe caf\xe9 \xf0\x9f\x98";
  const std::string large(100000, '\xc3');
  RangePush(domain_, bytes);
  RangePush(domain_, large);
  EXPECT_EQ(AnnotationStack::Get(), bytes + "::" + large);
  EXPECT_THAT(OpenRanges(), ElementsAre(bytes, large));
  RangePop(domain_);
  RangePop(domain_);
}

TEST_F(RoctxUtils, TheTitleIsReadDuringTheCallOnly) {
  AnnotationStackGuard guard;
  char title[] = "first";
  RangePush(domain_, title);
  title[0] = '?';
  EXPECT_EQ(AnnotationStack::Get(), "first");
  RangePop(domain_);
}

struct Payload {
  static uint64_t NvtxSchemaId() { return 7; }
  uint64_t bytes = 4096;
};

TEST_F(RoctxUtils, DetailRangePushRecoversRegisteredTitle) {
  AnnotationStackGuard guard;
  StringHandle title = RegisterString(domain_, "registered_op");
  RangePush(domain_, title, Payload{});
  EXPECT_EQ(AnnotationStack::Get(), "registered_op");
  EXPECT_THAT(OpenRanges(), ElementsAre("registered_op"));
  RangePop(domain_);
  detail::RangePush(domain_, title, 0, nullptr, 0);
  EXPECT_THAT(OpenRanges(), ElementsAre("registered_op"));
  RangePop(domain_);
}

TEST_F(RoctxUtils, DetailRangePushWithNullTitleStaysBalanced) {
  AnnotationStackGuard guard;
  RangePush(domain_, "outer");
  detail::RangePush(domain_, nullptr, 0, nullptr, 0);
  EXPECT_THAT(OpenRanges(), ElementsAre("outer", ""));
  RangePop(domain_);
  EXPECT_EQ(AnnotationStack::Get(), "outer");
  EXPECT_THAT(OpenRanges(), ElementsAre("outer"));
  RangePop(domain_);
}

TEST_F(RoctxUtils, RegisterStringInternsAndDeduplicates) {
  StringHandle first = RegisterString(domain_, "same");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(RegisterString(domain_, "same"), first);
  EXPECT_NE(RegisterString(domain_, "other"), first);
  EXPECT_NE(RegisterString(domain_, ""), nullptr);
  EXPECT_NE(RegisterString(domain_, std::string("a\0b", 3)),
            RegisterString(domain_, "a"));
}

TEST_F(RoctxUtils, RegisterStringHandlesSurviveRehash) {
  StringHandle first = RegisterString(domain_, "rehash_probe");
  for (int nth = 0; nth < 5000; ++nth) {
    RegisterString(domain_, "filler_" + std::to_string(nth));
  }
  EXPECT_EQ(RegisterString(domain_, "rehash_probe"), first);
  RangePush(domain_, first, Payload{});
  EXPECT_THAT(OpenRanges(), ElementsAre("rehash_probe"));
  RangePop(domain_);
}

TEST_F(RoctxUtils, RegisterStringTruncatesOverlongStrings) {
  StringHandle title = RegisterString(domain_, std::string(200000, 'x'));
  RangePush(domain_, title, Payload{});
  const std::string shown = OpenRanges().back();
  EXPECT_EQ(shown, std::string(4096 - 14, 'x') + "...[truncated]");
  RangePop(domain_);
}

TEST_F(RoctxUtils, RegisterStringFromManyThreads) {
  std::vector<std::vector<StringHandle>> handles(4);
  std::vector<std::thread> threads;
  for (std::vector<StringHandle>& own : handles) {
    threads.emplace_back([&] {
      for (int nth = 0; nth < 500; ++nth) {
        own.push_back(RegisterString(domain_, "op_" + std::to_string(nth)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::set<StringHandle> distinct(handles[0].begin(), handles[0].end());
  EXPECT_EQ(distinct.size(), 500);
  for (const std::vector<StringHandle>& own : handles) {
    EXPECT_EQ(own, handles[0]);
  }
}

TEST_F(RoctxUtils, RegisterSchemaReturnsZero) {
  EXPECT_EQ(RegisterSchema(domain_, nullptr), 0);
}

TEST_F(RoctxUtils, NamesReachRoctxWhateverTheDomain) {
  NameCurrentThread("worker \xff");
  NameDevice(3, "device");
  NameStream(reinterpret_cast<StreamHandle>(16), "stream");
  NameStream(nullptr, std::string("a\0b", 3));
  EXPECT_THAT(TakeCalls(),
              ElementsAre("name thread worker \xff", "name device 3 device",
                          "name stream 16 stream",
                          "name stream 0 a\xef\xbf\xbd" "b"));
  MarkMemoryInitialized(this, sizeof(*this), nullptr);
  EXPECT_THAT(TakeCalls(), IsEmpty());
}

TEST_F(RoctxUtils, ThreadsDoNotSeeEachOthersRanges) {
  AnnotationStackGuard guard;
  RangePush(domain_, "main");
  std::vector<std::thread> threads;
  for (int nth = 0; nth < 8; ++nth) {
    threads.emplace_back([&, nth] {
      const std::string outer = "outer " + std::to_string(nth);
      const std::string inner(nth * 100, 'i');
      for (int round = 0; round < 2000; ++round) {
        RangePush(domain_, outer);
        RangePush(domain_, inner);
        ASSERT_EQ(AnnotationStack::Get(), outer + "::" + inner);
        ASSERT_THAT(OpenRanges(), ElementsAre(outer, inner));
        RangePop(domain_);
        RangePop(domain_);
      }
      EXPECT_THAT(OpenRanges(), IsEmpty());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(AnnotationStack::Get(), "main");
  RangePop(domain_);
}

}  // namespace
}  // namespace profiler
}  // namespace tsl
