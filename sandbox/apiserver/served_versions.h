// Which kinds a server serves: those of the catalogue but the alpha versions that nobody has asked it for, and those
// that definitions have declared.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "api/kind.h"

namespace gangway::sandbox {

class DeclaredKinds;

class ServedVersions {
 public:
  // "scheduling.k8s.io/v1alpha2"
  explicit ServedVersions(std::vector<std::string> asked_for, const DeclaredKinds& declared)
      : asked_for_(std::move(asked_for)), declared_(declared) {}

  // nullptr: there is none.
  const api::Resource* Find(absl::string_view group, absl::string_view version, absl::string_view plural) const;
  const api::Resource* FindKind(absl::string_view api_version, absl::string_view kind) const;
  bool HasGroup(absl::string_view group) const;
  // Also without what definitions have declared.
  bool HasBuiltInGroup(absl::string_view group) const;
  // In discovery's order: the catalogue's, then what was declared.
  void ForEach(absl::FunctionRef<void(const api::KindRow&)> visit) const;

 private:
  bool Has(const api::KindRow& kind) const;

  const std::vector<std::string> asked_for_;
  const DeclaredKinds& declared_;
};

}  // namespace gangway::sandbox
