#include "bench/e2e/pod_ends.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "api/resource.h"
#include "base/check.h"
#include "bench/e2e/load.h"

namespace gangway::bench {

PodEnds::PodEnds(const testutil::ControlPlane& plane) {
  kube::HttpClientOptions client_options;
  client_options.user_agent = "pod-ends";
  auto client = kube::HttpClient::Make(loop_.loop(), plane.admin_connection(), std::move(client_options));
  GW_CHECK(client.ok());
  client_ = *std::move(client);
  loop_.Run([&] {
    owner_ = std::make_unique<Owner>();
    kube::InformerOptions options;
    options.field_selector = "spec.nodeName!=";
    options.keep_objects = false;
    pods_ = std::make_unique<kube::Informer<api::core::Pod>>(loop_.loop(), *client_, api::kPods, std::move(options));
    pods_->Start([this](const api::NamespacedName& key, const auto&, const auto& after) {
      if (after == nullptr) gone_.push_back(absl::Now());
      if (after == nullptr || !after->metadata.deleting() || !uids_.insert(after->metadata.uid).second) return;
      seen_.push_back(absl::Now());
      kube::Request request;
      request.method = "DELETE";
      request.path = api::PathOf(api::kPods, key.ns, key.name);
      request.body = absl::StrCat(R"({"gracePeriodSeconds":0,"preconditions":{"uid":")", after->metadata.uid, R"("}})");
      client_->Send(std::move(request), owner_->token(), [](absl::StatusOr<kube::Response>) {});  // gone already: fine
    });
  });
}

PodEnds::~PodEnds() {
  loop_.Run([&] {
    pods_.reset();
    owner_.reset();
  });
  loop_.Join();
  client_.reset();
}

int PodEnds::count() {
  return loop_.Run([&] { return static_cast<int>(seen_.size()); });
}

absl::Time PodEnds::WaitFor(int count, absl::Duration patience) { return Await(loop_, seen_, count, patience); }
absl::Time PodEnds::WaitForGone(int count, absl::Duration patience) { return Await(loop_, gone_, count, patience); }

}  // namespace gangway::bench
