// What does RBAC cost a request? One GET of a small object, in process: without RBAC, as the administrator, and as a
// service account whose token is read and whose rules are looked through.
#include <string>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/simulated_loop.h"
#include "benchmark/benchmark.h"
#include "sandbox/apiserver/api_server.h"
#include "sandbox/apiserver/draft/draft.h"

namespace gangway::sandbox {
namespace {

const std::string kAdmin = "admin-token";

kube::Response Send(ApiServer& server, const std::string& token, const std::string& method, const std::string& path,
                    const std::string& body = "") {
  kube::Request request;
  request.method = method;
  request.path = path;
  request.body = body;
  Caller caller{.name = "bench"};
  caller.credentials = Credentials{absl::StrCat("Bearer ", token), {}};
  return server.Handle(request, caller);
}

// Arguments: 0 no RBAC, 1 the administrator, 2 a service account; bindings of others in the same namespace.
void BM_Get(benchmark::State& state) {
  SimulatedLoop loop(1);
  ApiServerOptions options;
  if (state.range(0) > 0) {
    options.rbac.emplace();
    options.rbac->token_secret = std::string(32, 's');
    options.rbac->tokens[kAdmin] = {.name = "admin", .uid = {}, .groups = {std::string(kMastersGroup)}, .extra = {}};
  }
  ApiServer server(loop, std::move(options));
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
  const auto bind = [&](const std::string& name, const std::string& account) {
    GW_CHECK(Send(server, kAdmin, "POST", rbac,
                  absl::StrCat(R"({"metadata":{"name":")", name,
                               R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":)",
                               R"("admin"},"subjects":[{"kind":"ServiceAccount","name":")", account, "\"}]}"))
                 .ok());
  };
  bind("own", "default");
  for (int i = 0; i < state.range(1); ++i) bind(absl::StrCat("b", i), absl::StrCat("other-", i));
  loop.RunUntilIdle();
  std::string token = kAdmin;
  if (state.range(0) == 2) {
    const kube::Response made = Send(server, kAdmin, "POST", "/api/v1/namespaces/default/serviceaccounts/default/token",
                                     R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest"})");
    token = std::string(TextAt(Draft::Parse(*made.body)->object(), "status.token"));
  }
  const std::string path = "/api/v1/namespaces/default/configmaps/c";
  GW_CHECK(Send(server, kAdmin, "POST", "/api/v1/namespaces/default/configmaps", R"({"metadata":{"name":"c"}})").ok());
  GW_CHECK(Send(server, token, "GET", path).ok());
  for (auto _ : state) benchmark::DoNotOptimize(Send(server, token, "GET", path));
}
BENCHMARK(BM_Get)->ArgNames({"who", "others"})->Args({0, 0})->Args({1, 0})->Args({2, 0})->Args({2, 10000});

}  // namespace
}  // namespace gangway::sandbox
