// admission.k8s.io/v1 AdmissionReview, as the side that asks has it. Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "boost/json/object.hpp"
#include "boost/json/value.hpp"
#include "kube/client/client.h"
#include "sandbox/apiserver/api_server.h"
#include "sandbox/apiserver/refusal.h"
#include "sandbox/apiserver/webhooks.h"

namespace gangway::sandbox {

// authentication.k8s.io/v1 UserInfo.
boost::json::object UserInfo(const User& user);

// The request of a review but for its uid, object and oldObject. `asked_as` is the resource in the version in which the
// webhook is asked; that of `what` is the one of the request.
boost::json::object ReviewRequest(const Admission& what, const api::Resource& asked_as, const User& user,
                                  boost::json::object options);

struct ReviewAnswer {
  bool allowed = false;
  Refusal refused;    // when it is not
  std::string patch;  // a JSON patch; "": none
  std::vector<std::string> warnings;
};
// Of what the webhook answered. An error says what is wrong with it, in kube-apiserver's words.
absl::StatusOr<ReviewAnswer> ReadReviewAnswer(const Webhook& webhook, absl::string_view uid,
                                              const kube::Response& response);

}  // namespace gangway::sandbox
