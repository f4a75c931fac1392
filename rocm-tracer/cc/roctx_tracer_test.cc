// Sessions through the bridge: what annotated threads of C++ do, and what ends up in the XSpace.
#include "xprof_roctx/roctx_tracer.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tsl/profiler/lib/nvtx_utils.h"
#include "tsl/profiler/lib/scoped_annotation.h"
#include "xla/tsl/profiler/backends/cpu/annotation_stack.h"
#include "xplane-schema/cc/xspace_bytes.h"
#include "xprof_roctx/traceme_wrapper_state.h"
#include "xprof_roctx/xplane_schema.h"

namespace xprof_roctx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using ::tsl::profiler::AnnotationStack;
using ::tsl::profiler::DefaultProfilerDomain;
using ::tsl::profiler::RangePop;
using ::tsl::profiler::RangePush;
using ::tsl::profiler::ScopedAnnotation;

std::string ThisThreadsRow() {
  return "ROCTX Threads/" + std::to_string(syscall(SYS_gettid));
}

void Push(const std::string& label) { RangePush(DefaultProfilerDomain(), label); }
void Pop() { RangePop(DefaultProfilerDomain()); }

// Runs `work` in a session; what was captured.
template <typename Work>
xspace_bytes::Space Trace(const Work& work, const RoctxSessionOptions& options = {}) {
  RoctxSession session;
  EXPECT_EQ(session.Start(options), "");
  work();
  EXPECT_EQ(session.Stop(), "");
  return xspace_bytes::Read(session.ExportSerialized());
}

const xspace_bytes::Line& TheLine(const xspace_bytes::Space& space) {
  static const xspace_bytes::Line none;
  if (space.planes.size() != 1 || space.planes[0].lines.size() != 1) {
    ADD_FAILURE() << space.planes.size() << " planes";
    return none;
  }
  EXPECT_EQ(space.planes[0].name, kRoctxPlaneName);
  return space.planes[0].lines[0];
}

TEST(RoctxSessionTest, EnableAndDisableLifecycle) {
  RoctxSession first, second;
  EXPECT_THAT(first.Stop(), HasSubstr("not running"));
  EXPECT_FALSE(AnnotationStack::IsEnabled());
  EXPECT_EQ(first.Start(), "");
  EXPECT_TRUE(first.IsRunning());
  EXPECT_TRUE(AnnotationStack::IsEnabled()) << "Rust's switch, seen inline in C++";

  EXPECT_THAT(second.Start(), HasSubstr("already running"));
  EXPECT_FALSE(second.IsRunning());
  EXPECT_THAT(second.Stop(), HasSubstr("not running"));
  EXPECT_TRUE(AnnotationStack::IsEnabled()) << "the first goes on";

  EXPECT_EQ(first.Stop(), "");
  EXPECT_FALSE(first.IsRunning());
  EXPECT_FALSE(AnnotationStack::IsEnabled());
  EXPECT_EQ(second.Start(), "");
  EXPECT_EQ(second.Stop(), "");
}

TEST(RoctxSessionTest, AnObjectThatIsDestroyedStopsItsSession) {
  {
    RoctxSession session;
    EXPECT_EQ(session.Start(), "");
    RoctxSession moved = std::move(session);
    EXPECT_TRUE(moved.IsRunning());
  }
  EXPECT_FALSE(AnnotationStack::IsEnabled());
  EXPECT_THAT(Trace([] {}).planes, IsEmpty());
}

TEST(RoctxSessionTest, MarkerEventAppearsInExportedXSpace) {
  const xspace_bytes::Space space = Trace([] {
    ScopedAnnotation step("step");
    ScopedAnnotation layer([] { return std::string("layer"); });
  });
  const xspace_bytes::Line& line = TheLine(space);
  EXPECT_EQ(line.name, ThisThreadsRow());
  EXPECT_EQ(line.id, syscall(SYS_gettid));
  ASSERT_THAT(line.EventNames(), ElementsAre("step", "layer"));
  const xspace_bytes::Event& step = line.events[0];
  const xspace_bytes::Event& layer = line.events[1];
  EXPECT_EQ(step.stats.at("nvtx_range"), "step");
  EXPECT_LE(step.offset_ps, layer.offset_ps);
  EXPECT_GE(step.offset_ps + step.duration_ps,
            layer.offset_ps + layer.duration_ps);
  EXPECT_THAT(space.warnings, IsEmpty());
}

TEST(RoctxSessionTest, DisableIsolatesNextSession) {
  Trace([] {
    Push("first");
    Pop();
    Push("left open");
  });
  const xspace_bytes::Space space = Trace([] {
    Pop();
    Push("second");
    Pop();
  });
  EXPECT_THAT(TheLine(space).EventNames(), ElementsAre("second"));
}

TEST(RoctxSessionTest, MarkerEventsRespectMaxCallbackApiEvents) {
  RoctxSessionOptions options;
  options.max_callback_api_events = 3;
  options.max_label_bytes = 32;
  const xspace_bytes::Space space = Trace(
      [] {
        for (int nth = 0; nth < 10; ++nth) {
          Push(std::string(100, 'x'));
          Pop();
        }
      },
      options);
  const std::string cut = std::string(32 - 14, 'x') + "...[truncated]";
  EXPECT_THAT(TheLine(space).EventNames(), ElementsAre(cut, cut, cut));
  EXPECT_THAT(space.warnings,
              ElementsAre(HasSubstr("7 markers dropped"),
                          HasSubstr("3 markers have labels longer than 32")));
}

TEST(RoctxSessionTest, LabelsThatAreNotUtf8AreReplacedInTheFile) {
  const xspace_bytes::Space space = Trace([] {
    Push("caf\xe9 \xff");
    EXPECT_EQ(CurrentRoctxLabel(), "caf\xe9 \xff") << "bytes";
    Pop();
  });
  EXPECT_THAT(TheLine(space).EventNames(),
              ElementsAre("caf\xef\xbf\xbd \xef\xbf\xbd"));
}

TEST(RoctxSessionTest, ExportAddsToAnXSpace) {
  RoctxSession session;
  ASSERT_EQ(session.Start(), "");
  Push("range");
  Pop();
  ASSERT_EQ(session.Stop(), "");
  EXPECT_EQ(session.MarkerCount(), 1);
  xspace_bytes::FakeXSpace space(
      xspace_bytes::Field(1, xspace_bytes::Field(2, "/host:CPU")));
  EXPECT_TRUE(session.Export(&space));
  EXPECT_EQ(session.MarkerCount(), 0);
  EXPECT_TRUE(session.Export(&space)) << "nothing more";
  const xspace_bytes::Space read = space.Read();
  ASSERT_EQ(read.planes.size(), 2);
  EXPECT_EQ(read.planes[0].name, "/host:CPU");
  EXPECT_EQ(read.planes[1].name, kRoctxPlaneName);
}

TEST(RoctxSessionTest, AnExceptionOfTheCallbackGoesToItsCallerOnly) {
  RoctxSession session;
  ASSERT_EQ(session.Start(), "");
  Push("range");
  Pop();
  ASSERT_EQ(session.Stop(), "");
  size_t seen = 0;
  EXPECT_THROW(session.ExportTo([&](std::string_view bytes) {
    seen = bytes.size();
    throw std::runtime_error("no room");
  }),
               std::runtime_error);
  EXPECT_GT(seen, 0);
  EXPECT_EQ(session.ExportSerialized(), "") << "the capture is gone";
  EXPECT_EQ(session.Start(), "") << "and everything works as before";
  EXPECT_EQ(session.Stop(), "");
}

TEST(RoctxSessionTest, ThreadsWhileSessionsComeAndGo) {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int nth = 0; nth < 4; ++nth) {
    threads.emplace_back([&, nth] {
      const std::string own = "thread " + std::to_string(nth);
      while (!done) {
        ScopedAnnotation outer(own);
        TraceMeWrapperState object("object");
        ScopedAnnotation inner([] { return "inner"; });
        const std::string label(CurrentRoctxLabel());
        ASSERT_TRUE(label.empty() || label == "inner") << label;
      }
    });
  }
  size_t events = 0;
  for (int round = 0; round < 50 || events == 0; ++round) {
    const xspace_bytes::Space space = Trace([] { std::this_thread::yield(); });
    for (const xspace_bytes::Plane& plane : space.planes) {
      for (const xspace_bytes::Line& line : plane.lines) {
        events += line.events.size();
        std::vector<std::string> own;
        for (const xspace_bytes::Event& event : line.events) {
          if (event.name.rfind("thread ", 0) == 0) own.push_back(event.name);
          EXPECT_GE(event.duration_ps, 0);
        }
        EXPECT_THAT(own, ::testing::Each(own.empty() ? "" : own[0]))
            << "a row is one thread's";
      }
    }
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(CurrentRoctxLabelTest, GetCurrentRoctxLabelReturnsTopOfStack) {
  Push("before the session");
  EXPECT_EQ(CurrentRoctxLabel(), "") << "nothing listens";
  Trace([] {
    EXPECT_EQ(CurrentRoctxLabel(), "");
    Push("outer");
    EXPECT_EQ(CurrentRoctxLabel(), "outer");
    Push("inner");
    EXPECT_EQ(CurrentRoctxLabel(), "inner");
    std::thread([] {
      EXPECT_EQ(CurrentRoctxLabel(), "");
      Push("elsewhere");
      EXPECT_EQ(CurrentRoctxLabel(), "elsewhere");
      Pop();
    }).join();
    EXPECT_EQ(CurrentRoctxLabel(), "inner");
    Pop();
    Pop();
  });
  Pop();
}

TEST(CurrentRoctxLabelTest, GetCurrentRoctxLabelEmptyAfterPop) {
  Trace([] {
    Push("only_range");
    EXPECT_EQ(CurrentRoctxLabel(), "only_range");
    Pop();
    EXPECT_EQ(CurrentRoctxLabel(), "");
  });
  Push("after the session");
  EXPECT_EQ(CurrentRoctxLabel(), "");
  Pop();
}

TEST(CurrentRoctxLabelTest, GetCurrentRoctxLabelViewIsValidUntilNextRoctxCall) {
  RoctxSession session;
  ASSERT_EQ(session.Start(), "");
  auto label = std::make_unique<std::string>(5000, 'x');
  Push(*label);
  const std::string_view view = CurrentRoctxLabel();
  label.reset();
  // More than was promised: it is a copy.
  std::thread([&] {
    Push("elsewhere");
    EXPECT_EQ(CurrentRoctxLabel(), "elsewhere");
    Pop();
    EXPECT_EQ(session.Stop(), "");
    session.ExportSerialized();
  }).join();
  EXPECT_EQ(view, std::string(5000, 'x'));
  Pop();
}

TEST(AnnotationMapTest, AnnotationMapStoresRoctxRange) {
  AnnotationMap map(1024);
  map.Add(99, "my_annotation", "my_roctx_label");
  EXPECT_EQ(map.LookUp(99), "my_annotation");
  EXPECT_EQ(map.LookUpRoctxRange(99), "my_roctx_label");
  EXPECT_EQ(map.LookUpRoctxRange(100), "");
  map.Clear();
  EXPECT_EQ(map.LookUpRoctxRange(99), "");
}

TEST(AnnotationMapTest, AnnotationMapRoctxRangeEmptyWhenNotProvided) {
  AnnotationMap map(1024);
  map.Add(42, "some_op");
  EXPECT_EQ(map.LookUp(42), "some_op");
  EXPECT_EQ(map.LookUpRoctxRange(42), "");
  EXPECT_EQ(map.LookUpScopeRangeId(42), 0);
}

TEST(AnnotationMapTest, AnnotationMapStoresRoctxRangeWhenAnnotationEmpty) {
  AnnotationMap map(1024);
  map.Add(77, "", "roctx_only_label");
  EXPECT_EQ(map.LookUp(77), "");
  EXPECT_EQ(map.LookUpRoctxRange(77), "roctx_only_label");
}

TEST(AnnotationMapTest, ScopeRangesFormATree) {
  AnnotationMap map(1024);
  const int64_t ids[] = {10, 11, 12};
  map.Add(1, "a::b::c", "", ids, 3);
  EXPECT_EQ(map.LookUpScopeRangeId(1), 12);
  EXPECT_THAT(map.TakeScopeRangeIdTree(),
              UnorderedElementsAre(std::pair(11, 10), std::pair(12, 11)));
  EXPECT_THAT(map.TakeScopeRangeIdTree(), IsEmpty());
}

TEST(AnnotationMapTest, TextsStayWhereTheyAreUntilItIsCleared) {
  AnnotationMap map(2000);
  map.Add(0, "first \xff", "range");
  const std::string_view first = map.LookUp(0);
  for (uint64_t id = 1; id < 3000; ++id) map.Add(id, "op " + std::to_string(id));
  map.Add(0, "op 1");
  EXPECT_EQ(first, "first \xff");
  EXPECT_EQ(map.LookUp(0), "op 1") << "the later call of an id counts";
  EXPECT_EQ(map.LookUp(1999), "");
  EXPECT_GT(map.Refused(), 0);
}

// What the HIP API callback does, on enter.
TEST(AnnotationMapTest, CallsGetWhatStandsAroundThem) {
  AnnotationMap map(1024);
  map.AddCurrent(1);
  EXPECT_EQ(map.LookUp(1), "");
  Trace([&] {
    ScopedAnnotation step("step");
    map.AddCurrent(2);
    std::vector<std::thread> threads;
    for (uint64_t nth = 0; nth < 4; ++nth) {
      threads.emplace_back([&, nth] {
        for (uint64_t call = 0; call < 100; ++call) {
          ScopedAnnotation op([] { return std::string("#hlo_op=add#"); },
                              [&] { return "op " + std::to_string(nth); });
          map.AddCurrent(100 * (nth + 1) + call);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(map.LookUp(2), "step");
  EXPECT_EQ(map.LookUpRoctxRange(2), "step");
  EXPECT_NE(map.LookUpScopeRangeId(2), 0);
  for (uint64_t nth = 0; nth < 4; ++nth) {
    for (uint64_t call = 0; call < 100; ++call) {
      const uint64_t id = 100 * (nth + 1) + call;
      EXPECT_EQ(map.LookUp(id), "#hlo_op=add#");
      EXPECT_EQ(map.LookUpRoctxRange(id), "op " + std::to_string(nth));
    }
  }
}

}  // namespace
}  // namespace xprof_roctx
