#include "plugin/ingest/use_text.h"

#include <gtest/gtest.h>

#include "tests/plugin/model/cluster_builder.h"

namespace gangway::ingest {
namespace {

TEST(UseTextTest, WhatIsWrittenReads) {
  const model::Use use{testutil::At(5), {{"cpu", 12.5}, {"memory", 1.25e12}, {"nvidia.com/gpu", 37.25}}};
  EXPECT_EQ(FormatUse(use), "2026-09-21T14:13:25Z cpu=12.5 memory=1250000000000 nvidia.com/gpu=37.25");
  EXPECT_EQ(ParseUse(FormatUse(use)), use);
  for (const char* wrong : {"", "cpu=1", "yesterday cpu=1", "2026-09-21T14:13:25Z cpu", "2026-09-21T14:13:25Z cpu=x",
                            "2026-09-21T14:13:25Z cpu=-1", "2026-09-21T14:13:25Z cpu=inf", "2026-09-21T14:13:25Z =1"})
    EXPECT_EQ(ParseUse(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace gangway::ingest
