// The sandbox's API server, asked in process and over HTTP.
#include "gmock/gmock.h"
#include "tests/conformance/suite.h"

namespace gangway::testutil {
namespace {

struct Kind {
  const char* name;
  std::unique_ptr<Server> (*make)();
};
constexpr Kind kInProcess{"InProcess", MakeInProcessServer}, kHttp{"Http", MakeHttpServer};

class ConformanceTest : public ::testing::TestWithParam<const Case*> {
 protected:
  static void SetUpTestSuite() {
    const std::string suite = ::testing::UnitTest::GetInstance()->current_test_suite()->name();
    const Kind& kind = suite == "Http/ConformanceTest" ? kHttp : kInProcess;
    judgement_ = std::make_unique<Judgement>(kind.name, [&kind] { return kind.make(); });
  }
  static void TearDownTestSuite() {
    if (judgement_ == nullptr) return;
    EXPECT_THAT(judgement_->UnusedRules(), ::testing::IsEmpty()) << "nothing differs there any more";
    judgement_.reset();
  }
  static std::unique_ptr<Judgement> judgement_;
};
std::unique_ptr<Judgement> ConformanceTest::judgement_;

TEST_P(ConformanceTest, Case) {
  const std::string wrong = judgement_->Of(GetParam()->name);
  EXPECT_TRUE(wrong.empty()) << wrong;
}

INSTANTIATE_TEST_SUITE_P(InProcess, ConformanceTest, ::testing::ValuesIn(CasePointers()), CaseName);
INSTANTIATE_TEST_SUITE_P(Http, ConformanceTest, ::testing::ValuesIn(CasePointers()), CaseName);

}  // namespace
}  // namespace gangway::testutil
