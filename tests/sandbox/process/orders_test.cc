#include "sandbox/process/orders.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::sandbox {
namespace {

using testutil::StatusIs;

TEST(OrdersTest, FramesComeOutAsTheyWentInHoweverTheyAreCut) {
  StartOrder order;
  order.id = "u/c/0";
  order.argv = {"sh", "-c", "echo \"x\"\n"};
  order.mounts = {{"/a", "/b", true}};
  const std::string bytes = EncodeFrame(FrameKind::kStart, api::Encode(order)) + EncodeFrame(FrameKind::kDrop, "u");
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    const auto frame = DecodeFrame(absl::string_view(bytes).substr(0, cut));
    GW_ASSERT_OK(frame);
    if (!frame->has_value()) continue;
    EXPECT_EQ((*frame)->kind, FrameKind::kStart);
    const auto read = api::Decode<StartOrder>((*frame)->payload);
    GW_ASSERT_OK(read);
    EXPECT_EQ(read->argv, order.argv);
    EXPECT_EQ(read->mounts.at(0).target, "/b");
    EXPECT_TRUE(read->mounts.at(0).read_only);
    EXPECT_EQ(bytes.substr((*frame)->size, 5).back(), 'd');
    return;
  }
  FAIL() << "no frame";
}

TEST(OrdersTest, AFrameThatIsTooLargeIsNone) {
  EXPECT_THAT(DecodeFrame(std::string("\xff\xff\xff\xffs", 5)), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(OrdersTest, OutputKeepsAllBytes) {
  const std::string bytes("a\0\n\xff", 4);
  const std::string payload = OutputPayload("u/c/0", bytes);
  const auto output = DecodeOutput(payload);
  GW_ASSERT_OK(output);
  EXPECT_EQ(output->id, "u/c/0");
  EXPECT_EQ(output->bytes, bytes);
  EXPECT_THAT(DecodeOutput("\x09\0\0\0abc"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(DecodeOutput("abc"), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace gangway::sandbox
