#include "cmd/gangway/crds_command.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/crd/crd.h"
#include "api/kinds/kinds.h"
#include "base/nearest.h"
#include "cmd/terminal/exit_code.h"
#include "cmd/terminal/output.h"

namespace gangway::cmd {

namespace {

using api::KindRow;

// Without names Volcano's; by name Paddle's, too.
std::vector<KindRow> Offered(bool by_name) {
  std::vector<KindRow> out;
  for (const KindRow& kind : api::Kinds()) {
    if (kind.origin == api::Origin::kVolcano || (by_name && kind.custom() && !kind.on_request)) out.push_back(kind);
  }
  return out;
}

}  // namespace

int PrintCrds(const std::vector<std::string>& names) {
  const std::vector<KindRow> kinds = Offered(!names.empty());
  std::vector<std::string> known;
  for (const KindRow& kind : kinds) known.push_back(api::CrdName(*kind.resource));
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = Nearest(name, known);
    Say("crds", absl::StrCat("there is no ", name, near.empty() ? "" : absl::StrCat("; did you mean ", near, "?"),
                             near.empty() ? "; known: " : " Known: ", absl::StrJoin(known, ", ")));
    return kNoAnswer;
  }
  std::string out;
  for (const KindRow& kind : kinds) {
    const std::string name = api::CrdName(*kind.resource);
    if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end()) continue;
    absl::StrAppend(&out, out.empty() ? "" : "---\n", api::CrdYaml(kind));
  }
  return PutExact(stdout, out) ? kDone : kNoAnswer;
}

}  // namespace gangway::cmd
