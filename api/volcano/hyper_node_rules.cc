// What its definition says, and that each member is selected in one way, which Volcano's says as a rule in CEL
// (volcano: config/crd/volcano/bases/topology.volcano.sh_hypernodes.yaml); and that it selects by what can be read
// (volcano: webhooks/admission/hypernodes).
#include "absl/strings/str_cat.h"
#include "api/field_table.h"
#include "api/selector.h"
#include "api/volcano/hyper_node.h"
#include "api/volcano/judge.h"
#include "base/pattern.h"

namespace gangway::api::volcano {
namespace {

// What selects by a rule must be one: else it selects nothing, and who waits for the HyperNode waits for ever.
void CheckRules(const MemberSelector& selector, const std::string& field, FieldErrors& errors) {
  if (selector.regex_match.has_value() && !selector.regex_match->pattern.empty()) {
    const std::string& text = selector.regex_match->pattern;
    if (const auto pattern = Pattern::Compile(text); !pattern.ok())
      AddInvalid(errors, absl::StrCat(field, ".regexMatch.pattern"), JsonString(text),
                 absl::StrCat("is no regular expression in Go's syntax: ", pattern.status().message()),
                 "write one such as ^node-[0-9]+$");
  }
  if (!selector.label_match.has_value()) return;
  if (const auto labels = api::LabelSelector::FromJson(Encode(*selector.label_match)); !labels.ok())
    AddInvalid(errors, absl::StrCat(field, ".labelMatch"), "\"object\"", std::string(labels.status().message()));
}

void CheckMembers(const HyperNodeSpec& spec, FieldErrors& errors) {
  for (std::size_t i = 0; i < spec.members.size(); ++i) {
    const MemberSelector& selector = spec.members[i].selector;
    CheckRules(selector, absl::StrCat("spec.members[", i, "].selector"), errors);
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
