#include "cmd/gangway/crds_command.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/crd/crd.h"

namespace gangway::cmd {

using api::volcano::CustomType;
using api::volcano::CustomTypes;

int PrintCrds(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const CustomType& type : CustomTypes()) known.push_back(api::CrdName(*type.resource));
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::fprintf(stderr, "gangway crds: there is no %s; known: %s\n", name.c_str(), absl::StrJoin(known, ", ").c_str());
    return 2;
  }
  std::string out;
  for (const CustomType& type : CustomTypes()) {
    const std::string name = api::CrdName(*type.resource);
    if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end()) continue;
    absl::StrAppend(&out, out.empty() ? "" : "---\n", api::CrdYaml(type));
  }
  std::fputs(out.c_str(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace gangway::cmd
