// Post-processing through the bridge.
#include "xprof_roctx/post_process.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "xplane-schema/cc/xspace_bytes.h"
#include "xprof_roctx/xplane_schema.h"

namespace xprof_roctx {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Lt;
using xspace_bytes::Field;
using xspace_bytes::FakeXSpace;

constexpr uint64_t kStart = 1'700'000'000'000'000'000;
constexpr uint64_t kStop = kStart + 1'000'000'000;

// A plane of one line with one event, 5 µs after the session's start.
std::string Plane(std::string_view name, uint64_t line_id,
                  std::string_view line_name, std::string_view event_name) {
  const std::string metadata = Field(1, 1) + Field(2, event_name);
  const std::string event = Field(1, 1) + Field(2, 5'000'000) + Field(3, 1000);
  const std::string line = Field(1, line_id) + Field(2, line_name) +
                           Field(3, kStart) + Field(4, event);
  return Field(1, Field(2, name) + Field(3, line) +
                      Field(4, Field(1, 1) + Field(2, metadata)));
}

std::string HostAndRoctx() {
  return Plane("/host:CPU", 7, "python", "work") +
         Plane(kRoctxPlaneName, 7, "ROCTX Threads/7", "step");
}

TEST(PostProcess, MergesTheRoctxPlane) {
  std::string processed;
  ASSERT_EQ(PostProcessSerializedXSpace(HostAndRoctx(), kStart, kStop,
                                        &processed),
            "");
  const xspace_bytes::Space space = xspace_bytes::Read(processed);
  EXPECT_EQ(space.Find(kRoctxPlaneName), nullptr);
  const xspace_bytes::Plane* host = space.Find("/host:CPU");
  ASSERT_NE(host, nullptr);
  ASSERT_EQ(host->lines.size(), 2);
  const xspace_bytes::Line& roctx = host->lines[0];
  EXPECT_EQ(roctx.name, "ROCTX Threads/7");
  EXPECT_THAT(roctx.id, AllOf(Ge(kRoctxLineIdBase), Lt(kRoctxLineIdEnd)));
  EXPECT_EQ(host->lines[1].id, 7) << "the host's own line is left alone";
  ASSERT_THAT(roctx.EventNames(), ElementsAre("step"));
  EXPECT_EQ(roctx.timestamp_ns, 0) << "times count from the session's start";
  EXPECT_EQ(roctx.events[0].offset_ps, 5'000'000);
}

TEST(PostProcess, AgainChangesNothing) {
  std::string once, twice;
  ASSERT_EQ(PostProcessSerializedXSpace(HostAndRoctx(), kStart, kStop, &once),
            "");
  ASSERT_EQ(PostProcessSerializedXSpace(once, kStart, kStop, &twice), "");
  EXPECT_EQ(once, twice);
}

TEST(PostProcess, KeepsFieldsThatItDoesNotKnow) {
  std::string processed;
  ASSERT_EQ(PostProcessSerializedXSpace(HostAndRoctx() + Field(99, "unknown"),
                                        kStart, kStop, &processed),
            "");
  EXPECT_THAT(processed, HasSubstr(Field(99, "unknown")));
}

TEST(PostProcess, WhatIsNoXSpaceIsRefusedAndNothingChanged) {
  for (const std::string& bytes :
       {std::string("no XSpace"), HostAndRoctx().substr(0, 20),
        std::string(100, '\xff')}) {
    std::string processed = "as before";
    EXPECT_THAT(
        PostProcessSerializedXSpace(bytes, kStart, kStop, &processed),
        HasSubstr(std::to_string(bytes.size()) + " bytes are no XSpace"));
    EXPECT_EQ(processed, "as before");
  }
}

TEST(PostProcess, NothingAndNonsenseTimesAreFine) {
  std::string processed;
  EXPECT_EQ(PostProcessSerializedXSpace("", 0, 0, &processed), "");
  EXPECT_EQ(PostProcessSerializedXSpace(HostAndRoctx(), UINT64_MAX, 0,
                                        &processed),
            "");
  EXPECT_EQ(xspace_bytes::Read(processed).Find(kRoctxPlaneName), nullptr);
}

TEST(PostProcess, AnXSpaceOfProtobufs) {
  FakeXSpace space(HostAndRoctx());
  ASSERT_EQ(PostProcessSingleHostXSpace(&space, kStart, kStop), "");
  EXPECT_EQ(space.Read().Find(kRoctxPlaneName), nullptr);
  FakeXSpace broken("no XSpace");
  EXPECT_THAT(PostProcessSingleHostXSpace(&broken, kStart, kStop),
              HasSubstr("no XSpace"));
}

}  // namespace
}  // namespace xprof_roctx
