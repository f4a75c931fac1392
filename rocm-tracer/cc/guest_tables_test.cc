// Riding along with a tool that configures rocprofiler-sdk: by ROCTX's dispatch tables. The SDK and
// ROCTX are played here.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "xplane-schema/cc/xspace_bytes.h"
#include "xprof_roctx/roctx_tracer.h"

namespace xprof_roctx {
namespace {

using ::testing::ElementsAre;

constexpr int kMarkerCoreTable = 1 << 3;

// As in rocprofiler-sdk-roctx's api_trace.h.
struct CoreTable {
  uint64_t size = sizeof(CoreTable);
  void (*mark)(const char*) = [](const char*) {};
  int (*push)(const char*) = [](const char*) { return depth++; };
  int (*pop)() = [] { return --depth; };
  uint64_t (*start)(const char*) = [](const char*) { return uint64_t{5}; };
  void (*stop)(uint64_t) = [](uint64_t) {};
  int (*get_thread_id)(uint64_t*) = [](uint64_t*) { return 0; };

  static int depth;
};
int CoreTable::depth = 0;

using TablesCallback = void(int type, uint64_t version, uint64_t instance,
                            void** tables, uint64_t count, void* data);

struct Asked {
  TablesCallback* callback;
  int kinds;
  void* data;
};
std::vector<Asked> asked;

int AtInterceptTableRegistration(TablesCallback* callback, int kinds,
                                 void* data) {
  asked.push_back({callback, kinds, data});
  return 0;
}

int ConfigureCallbackTracing(uint64_t, int, const int*, size_t, void*, void*) {
  ADD_FAILURE() << "tables are shown, so no callbacks are needed";
  return 0;
}

const char* GetStatusString(int) { return "status"; }

TEST(GuestTables, AreHeard) {
  ASSERT_TRUE(AskForTables(10000, &AtInterceptTableRegistration));
  EXPECT_EQ(ConfigureMarkerService(1, 10000, &ConfigureCallbackTracing,
                                   &GetStatusString),
            "");

  // ROCTX's first call; and a newer SDK repeats it when another tool configures late.
  CoreTable table;
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (const Asked& ask : asked) {
      if ((ask.kinds & kMarkerCoreTable) == 0) continue;
      void* tables[] = {&table};
      ask.callback(ask.kinds, 10000, 0, tables, 1, ask.data);
      ask.callback(ask.kinds, 10000, 0, nullptr, 0, ask.data);
    }
  }

  RoctxSession session;
  ASSERT_EQ(session.Start(), "");
  EXPECT_EQ(table.push("outer"), 0);
  EXPECT_EQ(table.push("inner"), 1);
  EXPECT_EQ(CurrentRoctxLabel(), "inner");
  table.mark("point");
  EXPECT_EQ(table.pop(), 1);
  EXPECT_EQ(table.pop(), 0);
  ASSERT_EQ(session.Stop(), "");
  table.push("afterwards");
  table.pop();

  const xspace_bytes::Space space =
      xspace_bytes::Read(session.ExportSerialized());
  ASSERT_EQ(space.planes.size(), 1);
  ASSERT_EQ(space.planes[0].lines.size(), 1);
  EXPECT_THAT(space.planes[0].lines[0].EventNames(),
              ElementsAre("outer", "inner", "point"));
}

}  // namespace
}  // namespace xprof_roctx
