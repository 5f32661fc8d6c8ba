#include "cmd/gangway/crds_command.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/crd/crd.h"
#include "base/nearest.h"
#include "cmd/gangway/exit_code.h"
#include "cmd/gangway/output.h"

namespace gangway::cmd {

namespace {

using api::DefinedType;

const DefinedType* Find(const std::vector<DefinedType>& types, const std::string& name) {
  const auto at = std::find_if(types.begin(), types.end(), [&](const DefinedType& type) { return api::CrdName(*type.resource) == name; });
  return at == types.end() ? nullptr : &*at;
}

}  // namespace

int PrintCrds(const std::vector<std::string>& names) {
  std::vector<DefinedType> types = api::VolcanoTypes();
  if (!names.empty()) {
    for (const DefinedType& type : api::PaddleTypes()) types.push_back(type);
  }
  for (const std::string& name : names) {
    if (Find(types, name) != nullptr) continue;
    std::vector<std::string> known;
    for (const DefinedType& type : types) known.push_back(api::CrdName(*type.resource));
    const std::string near = Nearest(name, known);
    Say("crds", absl::StrCat("there is no ", name, near.empty() ? "" : absl::StrCat("; did you mean ", near, "?"), near.empty() ? "; known: " : " Known: ", absl::StrJoin(known, ", ")));
    return kNoAnswer;
  }
  std::string out;
  for (const DefinedType& type : types) {
    const std::string name = api::CrdName(*type.resource);
    if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end()) continue;
    absl::StrAppend(&out, out.empty() ? "" : "---\n", api::CrdYaml(type));
  }
  return PutExact(stdout, out) ? kDone : kNoAnswer;
}

}  // namespace gangway::cmd
