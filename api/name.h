// Kubernetes' rules for names and labels, and what it says when they are broken.
//
// Each function returns the complaints, none when the text is good. They are Kubernetes' own sentences
// (k8s.io/apimachinery/pkg/util/validation), ready to stand after `metadata.name: Invalid value: "x": `.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace gangway::api {

using Complaints = std::vector<std::string>;

inline constexpr int kMaxLabelLength = 63;       // DNS labels, label values, name parts
inline constexpr int kMaxSubdomainLength = 253;  // DNS subdomains

Complaints CheckDns1123Label(absl::string_view text);
Complaints CheckDns1123Subdomain(absl::string_view text);
Complaints CheckDns1035Label(absl::string_view text);  // names of services
// [prefix/]name: keys of labels and annotations, names of resources and finalizers.
Complaints CheckQualifiedName(absl::string_view text);
Complaints CheckLabelValue(absl::string_view text);
inline Complaints CheckLabelKey(absl::string_view text) { return CheckQualifiedName(text); }
// Keys of config maps and secrets.
Complaints CheckConfigMapKey(absl::string_view text);
// A name that can be one segment of a path: not "." or "..", no '/', no '%'.
Complaints CheckPathSegment(absl::string_view text);

inline constexpr absl::string_view kDns1123LabelRegex = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
inline constexpr absl::string_view kDns1123SubdomainRegex =
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";

}  // namespace gangway::api
