// The annotation stack through its C++ face: TSL's annotation_stack_test, and what the face adds.
#include "xla/tsl/profiler/backends/cpu/annotation_stack.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "xprof_roctx/annotation_stack_ext.h"

namespace tsl {
namespace profiler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Whether a static initializer finds annotations off, and can switch them on.
const bool kOffAtFirst = !AnnotationStack::IsEnabled();
const bool kOnAfterwards = [] {
  AnnotationStack::Enable(true);
  const bool enabled = AnnotationStack::IsEnabled();
  AnnotationStack::Enable(false);
  return enabled;
}();

std::vector<int64_t> Ids() {
  const absl::Span<const int64_t> ids = AnnotationStack::GetScopeRangeIds();
  return {ids.begin(), ids.end()};
}

int64_t ThreadNumber(int64_t id) { return id >> 48; }

// Lets threads take turns.
class Turns {
 public:
  void Await(int turn) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return turn_ >= turn; });
  }
  void Next() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ++turn_;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int turn_ = 0;
};

class AnnotationStackTest : public ::testing::Test {
 protected:
  AnnotationStackTest() { AnnotationStack::Enable(true); }
  ~AnnotationStackTest() override { AnnotationStack::Enable(false); }
};

TEST_F(AnnotationStackTest, StaticInitializersMaySwitchIt) {
  EXPECT_TRUE(kOffAtFirst);
  EXPECT_TRUE(kOnAfterwards);
}

TEST_F(AnnotationStackTest, LabelsJoinAndPopsTakeThemOff) {
  EXPECT_EQ(AnnotationStack::Get(), "");
  AnnotationStack::PushAnnotation("a");
  AnnotationStack::PushAnnotation("b::c");
  EXPECT_EQ(AnnotationStack::Get(), "a::b::c");
  AnnotationStack::PopAnnotation();
  EXPECT_EQ(AnnotationStack::Get(), "a");
  AnnotationStack::PopAnnotation();
  EXPECT_EQ(AnnotationStack::Get(), "");
  AnnotationStack::PopAnnotation();  // one too many
  AnnotationStack::PushAnnotation("d");
  EXPECT_EQ(AnnotationStack::Get(), "d");
}

TEST_F(AnnotationStackTest, LabelsAreBytes) {
  const std::string bytes("\xff\xfe\0\x80 \xe2\x82", 7);
  AnnotationStack::PushAnnotation(bytes);
  EXPECT_EQ(AnnotationStack::Get(), bytes);
  AnnotationStack::PushAnnotation(absl::string_view());
  EXPECT_EQ(AnnotationStack::Get(), bytes + "::");
  EXPECT_EQ(Ids().size(), 2);
  const std::string large(1 << 20, 'x');
  AnnotationStack::PushAnnotation(large);
  EXPECT_EQ(AnnotationStack::Get(), bytes + "::::" + large);
}

TEST_F(AnnotationStackTest, WhatGetReturnsStaysUntilTheNextPushOrPop) {
  AnnotationStack::PushAnnotation("outer");
  AnnotationStack::PushAnnotation(std::string(1000, 'x'));
  const std::string& label = AnnotationStack::Get();
  const char* const address = label.data();
  const absl::Span<const int64_t> ids = AnnotationStack::GetScopeRangeIds();
  const std::vector<int64_t> expected_ids = Ids();

  EXPECT_EQ(&AnnotationStack::Get(), &label) << "asked again";
  std::thread([] {
    AnnotationStack::PushAnnotation("elsewhere");
    EXPECT_EQ(AnnotationStack::Get(), "elsewhere");
  }).join();
  AnnotationStack::Enable(false);

  EXPECT_EQ(label, "outer::" + std::string(1000, 'x'));
  EXPECT_EQ(label.data(), address);
  EXPECT_EQ(std::vector<int64_t>(ids.begin(), ids.end()), expected_ids);
}

TEST_F(AnnotationStackTest, AChangeOfStateEmptiesEveryThreadsStack) {
  AnnotationStack::PushAnnotation("before");
  AnnotationStack::Enable(true);
  EXPECT_EQ(AnnotationStack::Get(), "before") << "no change";
  AnnotationStack::Enable(false);
  EXPECT_FALSE(AnnotationStack::IsEnabled());
  EXPECT_EQ(AnnotationStack::Get(), "");
  EXPECT_THAT(AnnotationStack::GetScopeRangeIds(), IsEmpty());
  AnnotationStack::Enable(true);
  EXPECT_TRUE(AnnotationStack::IsEnabled());
  EXPECT_EQ(AnnotationStack::Get(), "");
  AnnotationStack::PopAnnotation();
  AnnotationStack::PushAnnotation("after");
  EXPECT_EQ(AnnotationStack::Get(), "after");
}

TEST_F(AnnotationStackTest, AReplacedLabelKeepsItsId) {
  xprof_roctx::ReplaceLastAnnotation("nothing to replace");
  EXPECT_EQ(AnnotationStack::Get(), "");
  AnnotationStack::PushAnnotation("outer");
  AnnotationStack::PushAnnotation("inner");
  const std::vector<int64_t> ids = Ids();
  xprof_roctx::ReplaceLastAnnotation("a longer text");
  EXPECT_EQ(AnnotationStack::Get(), "outer::a longer text");
  EXPECT_EQ(Ids(), ids);
  AnnotationStack::PopAnnotation();
  EXPECT_EQ(AnnotationStack::Get(), "outer");
}

// Six threads that come one after another; those that push get the thread numbers in the order of
// their first push, and keep them in the next generation.
void ThreadsPushInOrder(const std::vector<bool>& pushes) {
  Turns turns;
  std::vector<std::vector<int64_t>> ids(pushes.size());
  std::vector<std::thread> threads;
  const int count = static_cast<int>(pushes.size());
  for (int nth = 0; nth < count; ++nth) {
    threads.emplace_back([&, nth] {
      turns.Await(nth);
      if (pushes[nth]) {
        AnnotationStack::PushAnnotation("level1");
        AnnotationStack::PushAnnotation("level2-1");
        AnnotationStack::PopAnnotation();
        AnnotationStack::PushAnnotation("level2-2");
        ids[nth] = Ids();
      }
      turns.Next();
      turns.Await(count + 1);  // the next generation
      if (pushes[nth]) {
        AnnotationStack::PushAnnotation("level1");
        AnnotationStack::PushAnnotation("level2");
        for (int64_t id : Ids()) ids[nth].push_back(id);
      }
    });
  }
  turns.Await(count);
  AnnotationStack::Enable(false);
  AnnotationStack::Enable(true);
  turns.Next();
  for (std::thread& thread : threads) thread.join();

  int64_t last_number = 0;
  for (int nth = 0; nth < count; ++nth) {
    if (!pushes[nth]) {
      EXPECT_THAT(ids[nth], IsEmpty());
      continue;
    }
    ASSERT_EQ(ids[nth].size(), 4);
    const int64_t number = ThreadNumber(ids[nth][0]);
    EXPECT_GT(number, last_number) << "thread " << nth;
    last_number = number;
    // Five pushes; the third has replaced the second.
    const int64_t base = number << 48;
    EXPECT_THAT(ids[nth],
                ElementsAre(base + 1, base + 3, base + 4, base + 5));
  }
}

TEST_F(AnnotationStackTest, MultiThreadSequencePushersFirst) {
  ThreadsPushInOrder({true, true, true, false, false, false});
}

TEST_F(AnnotationStackTest, MultiThreadSequencePushersLast) {
  ThreadsPushInOrder({false, false, false, true, true, true});
}

TEST_F(AnnotationStackTest, MultiThreadSequenceInterleaved) {
  ThreadsPushInOrder({true, false, true, false, true, false});
}

TEST_F(AnnotationStackTest, ThreadsWhileTheStateChanges) {
  std::atomic<bool> done{false};
  std::mutex mutex;
  std::set<int64_t> all;
  std::vector<std::thread> threads;
  for (int nth = 0; nth < 4; ++nth) {
    threads.emplace_back([&, nth] {
      const std::string name(1, static_cast<char>('a' + nth));
      std::vector<int64_t> seen;
      for (int round = 0; round < 5000; ++round) {
        AnnotationStack::PushAnnotation(name);
        AnnotationStack::PushAnnotation(name);
        // Between any two of these the stack may have been emptied; what is in it is this thread's.
        EXPECT_EQ(AnnotationStack::Get().find_first_not_of(name + ":"),
                  std::string::npos);
        for (int64_t id : AnnotationStack::GetScopeRangeIds()) {
          if (seen.empty() || id > seen.back()) seen.push_back(id);
        }
        AnnotationStack::PopAnnotation();
        AnnotationStack::PopAnnotation();
      }
      std::lock_guard<std::mutex> lock(mutex);
      for (int64_t id : seen) {
        EXPECT_TRUE(all.insert(id).second) << "an id of two threads: " << id;
      }
    });
  }
  std::thread switcher([&] {
    for (bool enable = false; !done; enable = !enable) {
      AnnotationStack::Enable(enable);
      EXPECT_EQ(AnnotationStack::IsEnabled(), enable);
    }
  });
  for (std::thread& thread : threads) thread.join();
  done = true;
  switcher.join();
  EXPECT_GE(all.size(), 4);
}

// Calls Get() when this thread's other thread-local values are destroyed already.
struct CallsWhenDestroyed {
  std::string* seen;
  ~CallsWhenDestroyed() {
    AnnotationStack::PushAnnotation("late");
    *seen = AnnotationStack::Get();
    AnnotationStack::PopAnnotation();
  }
};

TEST_F(AnnotationStackTest, CallsWhileAThreadEndsFindAnEmptyStack) {
  std::string seen = "not called";
  std::thread([&] {
    // Constructed first, so destroyed last.
    static thread_local CallsWhenDestroyed last{&seen};
    (void)last;
    AnnotationStack::PushAnnotation("open");
    EXPECT_EQ(AnnotationStack::Get(), "open");
  }).join();
  EXPECT_EQ(seen, "");
}

}  // namespace
}  // namespace profiler
}  // namespace tsl
