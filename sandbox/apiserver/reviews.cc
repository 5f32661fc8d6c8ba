#include "sandbox/apiserver/reviews.h"

#include <array>
#include <vector>

#include "absl/strings/str_split.h"
#include "base/strings.h"

namespace gangway::sandbox {
namespace {

constexpr api::Resource kWhoAmI{"authentication.k8s.io", "v1", "selfsubjectreviews", "selfsubjectreview",
                                "SelfSubjectReview",     false};
constexpr api::Resource kLocalAccess{"authorization.k8s.io",      "v1",
                                     "localsubjectaccessreviews", "localsubjectaccessreview",
                                     "LocalSubjectAccessReview",  true};
constexpr api::Resource kOwnAccess{"authorization.k8s.io",     "v1",
                                   "selfsubjectaccessreviews", "selfsubjectaccessreview",
                                   "SelfSubjectAccessReview",  false};
constexpr api::Resource kOwnRules{"authorization.k8s.io",   "v1", "selfsubjectrulesreviews", "selfsubjectrulesreview",
                                  "SelfSubjectRulesReview", false};
constexpr api::Resource kAccess{"authorization.k8s.io", "v1", "subjectaccessreviews", "subjectaccessreview",
                                "SubjectAccessReview",  false};
constexpr std::array kReviews{&kWhoAmI, &kLocalAccess, &kOwnAccess, &kOwnRules, &kAccess};

}  // namespace

std::span<const api::Resource* const> Reviews() { return kReviews; }

const api::Resource* FindReview(absl::string_view path) {
  const std::vector<absl::string_view> parts =
      absl::StrSplit(path, '/');  // "", "apis", group, version, ["namespaces", its name,] plural
  if (parts.size() < 5 || parts[1] != "apis") return nullptr;
  for (const api::Resource* review : kReviews) {
    const bool here = parts.size() == (review->namespaced ? 7u : 5u) &&
                      (!review->namespaced || (parts[4] == "namespaces" && !parts[5].empty()));
    if (here && parts[2] == View(review->group) && parts[3] == View(review->version) &&
        parts.back() == View(review->plural))
      return review;
  }
  return nullptr;
}

}  // namespace gangway::sandbox
