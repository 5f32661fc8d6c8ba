// What its definition says, and that each member is selected in one way, which Volcano's says as a rule in CEL
// (volcano: config/crd/volcano/bases/topology.volcano.sh_hypernodes.yaml).
#include "absl/strings/str_cat.h"
#include "api/volcano/hyper_node.h"
#include "api/volcano/judge.h"

namespace gangway::api::volcano {
namespace {

void CheckMembers(const HyperNodeSpec& spec, FieldErrors& errors) {
  for (std::size_t i = 0; i < spec.members.size(); ++i) {
    const MemberSelector& selector = spec.members[i].selector;
    const int ways = int{selector.exact_match.has_value()} + int{selector.regex_match.has_value()} +
                     int{selector.label_match.has_value()};
    if (ways == 1) continue;
    AddInvalid(errors, absl::StrCat("spec.members[", i, "].selector"), "\"object\"",
               "exactly one of exactMatch, regexMatch and labelMatch must be given",
               ways == 0 ? "say which nodes are meant" : "keep one of them");
  }
}

Verdict AdmitHyperNode(const AdmissionRequest& request, boost::json::value* object, const QueueLookup&) {
  const Judge judge(request, object);
  if (FieldErrors errors = TypeErrors<HyperNodeSpec>(*object); !errors.empty()) return judge.Invalid(std::move(errors));
  FieldErrors errors = SchemaErrors<HyperNodeSpec>(*object);
  CheckMembers(DecodeObject<HyperNode, HyperNodeSpec>(*object).spec, errors);
  return errors.empty() ? Verdict() : judge.Invalid(std::move(errors));
}

}  // namespace

const Admission kHyperNodeAdmission{.judge = AdmitHyperNode};

}  // namespace gangway::api::volcano
