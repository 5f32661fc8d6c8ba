#include "sandbox/process/account_tokens.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/json.h"
#include "api/json_value.h"
#include "kube/client/status.h"

namespace gangway::sandbox {
namespace {

std::string RequestFor(const HostedPod& pod, const TokenWish& wish) {
  return absl::StrCat(R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"audiences":[)",
                      wish.audience.empty() ? "" : api::JsonString(wish.audience), R"(],"expirationSeconds":)",
                      wish.seconds, R"(,"boundObjectRef":{"apiVersion":"v1","kind":"Pod","name":)",
                      api::JsonString(pod.metadata.name), R"(,"uid":)", api::JsonString(pod.metadata.uid), "}}}");
}

absl::StatusOr<std::string> TokenIn(const absl::StatusOr<kube::Response>& reply) {
  if (absl::Status status = kube::StatusOf(reply); !status.ok()) return status;
  const auto answer = api::ParseJson(*reply->body);
  if (!answer.ok()) return answer.status();
  boost::system::error_code error;
  const boost::json::value* const token = answer->find_pointer("/status/token", error);
  if (token == nullptr || !token->is_string()) return absl::InternalError("the API server answered without a token");
  return std::string(token->get_string());
}

}  // namespace

void AccountTokens::Ask(const HostedPod& pod, const std::set<TokenWish>& wishes, Done done) {
  struct Talk {
    std::size_t awaited;
    PodTokens tokens;
    absl::Status wrong;
    Done done;
  };
  const auto talk = std::make_shared<Talk>(Talk{wishes.size(), {}, absl::OkStatus(), std::move(done)});
  for (const TokenWish& wish : wishes) {
    kube::Request request;
    request.method = "POST";
    request.path =
        absl::StrCat(api::PathOf(api::kServiceAccounts, pod.metadata.ns,
                                 pod.spec.service_account_name.empty() ? "default" : pod.spec.service_account_name),
                     "/token");
    request.body = RequestFor(pod, wish);
    client_.Send(std::move(request), owner_.token(), [talk, wish](const absl::StatusOr<kube::Response>& reply) {
      absl::StatusOr<std::string> token = TokenIn(reply);
      if (token.ok()) {
        talk->tokens[wish] = *std::move(token);
      } else {
        talk->wrong =
            absl::Status(token.status().code(), absl::StrCat("failed to fetch token: ", token.status().message()));
      }
      if (--talk->awaited > 0) return;
      talk->wrong.ok() ? talk->done(std::move(talk->tokens)) : talk->done(talk->wrong);
    });
  }
}

absl::Time RenewalOf(const std::set<TokenWish>& wishes, absl::Time asked) {
  absl::Duration wait = absl::Hours(24);
  for (const TokenWish& wish : wishes) wait = std::min(wait, absl::Seconds(wish.seconds) * 4 / 5);
  return asked + wait;
}

}  // namespace gangway::sandbox
