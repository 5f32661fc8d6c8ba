// The real API server: what it answers is what a case expects.
#include "api/json_value.h"
#include "base/status_macros.h"
#include "kube/client/http_client.h"
#include "tests/conformance/suite.h"
#include "tests/e2e/control_plane.h"

namespace gangway::testutil {
namespace {

class RealServer final : public Server {
 public:
  static absl::StatusOr<std::unique_ptr<Server>> Start() {
    auto server = std::make_unique<RealServer>();
    GW_ASSIGN_OR_RETURN(server->plane_, ControlPlane::Start({.audit = false, .api_server_flags = {}}));
    GW_ASSIGN_OR_RETURN(server->client_,
                        kube::HttpClient::Make(server->loop().loop(), server->plane_->admin_connection()));
    kube::Connection etcd;
    etcd.server = server->plane_->etcd_url();
    GW_ASSIGN_OR_RETURN(server->etcd_, kube::HttpClient::Make(server->loop().loop(), etcd));
    return server;
  }
  ~RealServer() override {
    Close();
    etcd_.reset();
  }

  // By etcd itself, over its JSON gateway. The API server, started anew, has no history in its caches either.
  absl::Status Compact() override {
    GW_ASSIGN_OR_RETURN(const std::string now, Etcd("/v3/kv/range", R"({"key":"AA==","limit":1})"));
    GW_ASSIGN_OR_RETURN(const boost::json::value range, api::ParseJson(now));
    boost::json::error_code error;
    const boost::json::value* revision = range.find_pointer("/header/revision", error);
    if (revision == nullptr) return absl::InternalError("etcd: no revision in " + now);
    GW_RETURN_IF_ERROR(Etcd("/v3/kv/compaction", api::ToJson({{"revision", *revision}, {"physical", true}})).status());
    plane_->StopApiServer();
    return plane_->StartApiServer();
  }

 private:
  absl::StatusOr<std::string> Etcd(const std::string& path, const std::string& body) {
    Inbox<absl::StatusOr<kube::Response>> answer;
    Owner owner;
    etcd_->Send({.method = "POST", .path = path, .query = {}, .content_type = {}, .accept = {}, .body = body},
                owner.token(), [&answer](absl::StatusOr<kube::Response> response) { answer.Put(std::move(response)); });
    std::optional<absl::StatusOr<kube::Response>> got = answer.Take();
    if (!got.has_value()) return absl::DeadlineExceededError("etcd does not answer");
    GW_RETURN_IF_ERROR(got->status());
    if (!(*got)->ok()) return absl::InternalError("etcd: " + *(*got)->body);
    return *(*got)->body;
  }

  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<kube::HttpClient> etcd_;
};

class ConformanceTest : public ::testing::TestWithParam<const Case*> {
 protected:
  static void SetUpTestSuite() {
    judgement_ = std::make_unique<Judgement>("Real", [] { return RealServer::Start(); }, true);
  }
  static void TearDownTestSuite() { judgement_.reset(); }
  static std::unique_ptr<Judgement> judgement_;
};
std::unique_ptr<Judgement> ConformanceTest::judgement_;

// Without the tools one test stands for all, and is skipped.
std::vector<const Case*> CasesForTheRealOne() {
  static const Case kSkipped{.name = "AllOfThem", .file = {}, .alone = false, .steps = {}};
  return ControlPlane::ToolsPresent() ? CasePointers() : std::vector<const Case*>{&kSkipped};
}

TEST_P(ConformanceTest, Case) {
  if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "the real API server is not there: scripts/e2e-tools builds it";
  const std::string wrong = judgement_->Of(GetParam()->name);
  EXPECT_TRUE(wrong.empty()) << wrong;
}

INSTANTIATE_TEST_SUITE_P(Real, ConformanceTest, ::testing::ValuesIn(CasesForTheRealOne()), CaseName);

}  // namespace
}  // namespace gangway::testutil
