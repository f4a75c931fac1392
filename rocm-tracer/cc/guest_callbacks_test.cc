// Riding along with a tool that configures rocprofiler-sdk: by the SDK's marker callbacks, where it
// shows no tables. The SDK is played here.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "xplane-schema/cc/xspace_bytes.h"
#include "xprof_roctx/roctx_tracer.h"

namespace xprof_roctx {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kMarkerCoreApi = 7;
constexpr int kMark = 0, kPush = 1, kPop = 2;
constexpr int kEnter = 1, kExit = 2;

// rocprofiler_callback_tracing_record_t and the payload of markers, of version 1.0.
struct Record {
  uint64_t context;
  uint64_t thread;
  uint64_t correlation[3];
  int32_t kind;
  int32_t operation;
  int32_t phase;
  void* payload;
};
static_assert(sizeof(Record) == 64);

struct Payload {
  uint64_t size = sizeof(Payload);
  const char* message = nullptr;
  uint64_t more_arguments = 0;
  int32_t result = 0;
};
static_assert(sizeof(Payload) == 32);

using Callback = void(Record record, void* user_data, void* data);

std::map<int, Callback*> services;
int status = 0;

int AtInterceptTableRegistration(void*, int, void*) { return 1; }

int ConfigureCallbackTracing(uint64_t context, int kind, const int* operations,
                             size_t count, Callback* callback, void*) {
  EXPECT_EQ(context, 42);
  EXPECT_EQ(operations, nullptr);
  EXPECT_EQ(count, 0);
  if (status == 0) services[kind] = callback;
  return status;
}

const char* GetStatusString(int) { return "already configured"; }

void Call(int operation, int phase, const char* message, int result = 0) {
  Payload payload;
  payload.message = message;
  payload.result = result;
  const Record record{42, 7, {1, 0, 0}, kMarkerCoreApi, operation,
                      phase, &payload};
  services.at(kMarkerCoreApi)(record, nullptr, nullptr);
}

void Push(const char* message) {
  Call(kPush, kEnter, message);
  Call(kPush, kExit, message);
}

void Pop() {
  Call(kPop, kEnter, nullptr);
  Call(kPop, kExit, nullptr, 0);
}

TEST(GuestCallbacks, AreHeard) {
  ASSERT_FALSE(AskForTables(10000, &AtInterceptTableRegistration));

  status = 15;
  EXPECT_THAT(ConfigureMarkerService(42, 10000, &ConfigureCallbackTracing,
                                     &GetStatusString),
              AllOf(HasSubstr("returned 15"), HasSubstr("already configured")));
  RoctxSession session;
  EXPECT_EQ(session.Start(), "") << "the rest goes on";
  EXPECT_EQ(session.Stop(), "");

  status = 0;
  ASSERT_EQ(ConfigureMarkerService(42, 10000, &ConfigureCallbackTracing,
                                   &GetStatusString),
            "");
  ASSERT_EQ(services.count(kMarkerCoreApi), 1);

  Push("before the session");
  ASSERT_EQ(session.Start(), "");
  EXPECT_EQ(CurrentRoctxLabel(), "");
  Push("range \xff");
  EXPECT_EQ(CurrentRoctxLabel(), "range \xff");
  Push(nullptr);
  EXPECT_EQ(CurrentRoctxLabel(), "") << "the innermost has none";
  Call(kMark, kEnter, "point");
  Pop();
  Pop();
  EXPECT_EQ(CurrentRoctxLabel(), "");
  Pop();
  ASSERT_EQ(session.Stop(), "");

  const xspace_bytes::Space space =
      xspace_bytes::Read(session.ExportSerialized());
  ASSERT_EQ(space.planes.size(), 1);
  ASSERT_EQ(space.planes[0].lines.size(), 1);
  EXPECT_THAT(space.planes[0].lines[0].EventNames(),
              ElementsAre("range \xef\xbf\xbd", "point"));
  EXPECT_THAT(space.warnings,
              Contains(HasSubstr("range opened before the session")));
}

}  // namespace
}  // namespace xprof_roctx
