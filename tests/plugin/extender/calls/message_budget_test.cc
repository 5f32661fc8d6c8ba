#include "plugin/extender/calls/message_budget.h"

#include <string>

#include <google/protobuf/struct.pb.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/extender/requests.h"
#include "tests/testing/status_matchers.h"

namespace gangway::extender {
namespace {

using ::testing::HasSubstr;
using testutil::SeedRequest;
using testutil::StatusIs;

const google::protobuf::Descriptor& Type() { return *v1::PlaceGangRequest::descriptor(); }

TEST(MessageBudgetTest, CountsListsAndMessagesAtEveryDepth) {
  // gang and cluster; 2 tasks of 2 requests; 6 nodes of 3 amounts and a label.
  const std::string bytes = SeedRequest().SerializeAsString();
  GW_EXPECT_OK(CheckEntries(bytes, Type(), 2 + 2 + 4 + 6 + 6 * 4));
  EXPECT_THAT(CheckEntries(bytes, Type(), 2 + 2 + 4 + 6 + 6 * 4 - 1),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("cluster.nodes.labels: ")));
}

TEST(MessageBudgetTest, EmptyEntriesAreTwoBytesOnTheWireAndStillCounted) {
  v1::PlaceGangRequest request;
  for (int i = 0; i < 1000; ++i) request.mutable_cluster()->add_nodes();
  EXPECT_LT(request.ByteSizeLong(), 2100u);
  EXPECT_THAT(CheckEntries(request.SerializeAsString(), Type(), 1000),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("cluster.nodes: ")));
}

TEST(MessageBudgetTest, FieldsNobodyKnowsAreCounted) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes += "\x98\x06\x01";  // field 99, a number
  GW_EXPECT_OK(CheckEntries(bytes, Type(), 100));
  EXPECT_THAT(CheckEntries(bytes, Type(), 99), StatusIs(absl::StatusCode::kResourceExhausted));
}

// None of ours can hold itself; one that does must not end the walk's stack.
TEST(MessageBudgetTest, MessagesWithinMessagesEndAtADepth) {
  const auto nested = [](int lists) {
    google::protobuf::Value value;
    google::protobuf::Value* inner = &value;
    for (int i = 0; i < lists; ++i) inner = inner->mutable_list_value()->add_values();
    return CheckEntries(value.SerializeAsString(), *google::protobuf::Value::descriptor(), 1000);
  };
  GW_EXPECT_OK(nested(10));  // each is two messages
  EXPECT_THAT(nested(11), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(MessageBudgetTest, NoBytesAreAMessageWithoutFields) { GW_EXPECT_OK(CheckEntries("", Type())); }

TEST(MessageBudgetTest, WhatIsCutAnywhereIsRefusedOrShorter) {
  const std::string bytes = SeedRequest(2).SerializeAsString();
  int refused = 0;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::string cut = bytes.substr(0, length);
    const bool parses = v1::PlaceGangRequest().ParseFromString(cut);
    EXPECT_EQ(CheckEntries(cut, Type()).ok(), parses) << length;
    refused += parses ? 0 : 1;
  }
  EXPECT_GT(refused, 100);
}

TEST(MessageBudgetTest, AChangedByteNeverDoesHarm) {
  const std::string bytes = SeedRequest(2).SerializeAsString();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int flip : {0x01, 0x08, 0x80, 0xff}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      if (!CheckEntries(changed, Type()).ok()) {
        EXPECT_FALSE(v1::PlaceGangRequest().ParseFromString(changed)) << at << " " << flip;
      }
    }
  }
}

}  // namespace
}  // namespace gangway::extender
