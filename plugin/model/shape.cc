#include "plugin/model/shape.h"
#include "plugin/phrases/phrases.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gangway::model {
namespace {

Toleration InternToleration(const TolerationFacts& fact, Names& names) {
  Toleration toleration;
  toleration.key = fact.key.empty() ? -1 : names.Intern(fact.key);
  toleration.value = names.Intern(fact.value);
  toleration.exists = fact.exists;
  if (fact.effect.empty()) {
    toleration.every_effect = true;
  } else if (fact.effect == "NoSchedule") {
    toleration.effect = TaintEffect::kNoSchedule;
  } else if (fact.effect == "PreferNoSchedule") {
    toleration.effect = TaintEffect::kPreferNoSchedule;
  } else if (fact.effect == "NoExecute") {
    toleration.effect = TaintEffect::kNoExecute;
  } else {
    toleration.known_effect = false;
  }
  return toleration;
}

RequirementFacts FactsOf(const Requirement& requirement, const Names& names) {
  RequirementFacts facts{
      requirement.key == kNodeNameKey ? "" : std::string(names.Text(requirement.key)), requirement.op, {}};
  for (const int value : requirement.values) facts.values.emplace_back(names.Text(value));
  return facts;
}

}  // namespace

void AddText(std::string& out, absl::string_view text) { absl::StrAppend(&out, text.size(), ":", text); }

void AddTerm(std::string& out, TermFacts term) {
  for (RequirementFacts& requirement : term) std::sort(requirement.values.begin(), requirement.values.end());
  std::sort(term.begin(), term.end());
  absl::StrAppend(&out, "(", term.size());
  for (const RequirementFacts& requirement : term) {
    AddText(out, requirement.key);
    absl::StrAppend(&out, ",", static_cast<int>(requirement.op), ",", requirement.values.size());
    for (const std::string& value : requirement.values) AddText(out, value);
  }
  out += ')';
}

void AddPodTerm(std::string& out, const PodTermFacts& term) {
  AddText(out, term.topology_key);
  std::vector<std::string> namespaces = term.selector.namespaces;
  std::sort(namespaces.begin(), namespaces.end());
  absl::StrAppend(&out, "n", namespaces.size());
  for (const std::string& ns : namespaces) AddText(out, ns);
  if (term.selector.namespace_selector.has_value()) AddTerm(out, *term.selector.namespace_selector);
  out += 'p';
  AddTerm(out, term.selector.pods);
}

Term MakeTerm(const TermFacts& facts, Names& names) {
  Term term;
  for (const RequirementFacts& fact : facts) {
    Requirement requirement;
    requirement.key = fact.key.empty() ? kNodeNameKey : names.Intern(fact.key);
    requirement.op = fact.op;
    for (const std::string& value : fact.values) requirement.values.push_back(names.Intern(value));
    std::sort(requirement.values.begin(), requirement.values.end());
    if (fact.values.size() == 1) {
      requirement.bound_is_number = absl::SimpleAtoi(fact.values.front(), &requirement.bound);
    }
    term.push_back(std::move(requirement));
  }
  return term;
}

Words RequirementText(const RequirementFacts& requirement) {
  const absl::string_view key = requirement.key.empty() ? "name" : absl::string_view(requirement.key);
  const std::string values = absl::StrJoin(requirement.values, ",");
  switch (requirement.op) {
    case Op::kIn:
      return requirement.values.size() == 1 ? Words::Name(absl::StrCat(key, "=", values))
                                            : Words(phrases::kLabelIn, key, values);
    case Op::kNotIn:
      return {phrases::kLabelNotIn, key, values};
    case Op::kExists:
      return Words::Name(key);
    case Op::kDoesNotExist:
      return {phrases::kWithoutLabel, key};
    case Op::kGt:
      return Words::Name(absl::StrCat(key, ">", values));
    case Op::kLt:
      return Words::Name(absl::StrCat(key, "<", values));
  }
  return {};
}

Words TermText(const Term& term, const Names& names) {
  std::vector<Words> parts;
  for (const Requirement& requirement : term) parts.push_back(RequirementText(FactsOf(requirement, names)));
  return Words::Joined(std::move(parts), phrases::kAnd);
}

namespace {

template <class T, class F>  // void(const T&)
void InOrder(const std::vector<T>& list, F visit) {
  if (std::is_sorted(list.begin(), list.end())) {
    for (const T& each : list) visit(each);
    return;
  }
  std::vector<T> sorted = list;
  std::sort(sorted.begin(), sorted.end());
  for (const T& each : sorted) visit(each);
}

void AddShapeKey(std::string& key, const Wants& wants) {
  InOrder(wants.requests, [&key](const auto& request) {
    if (request.second == 0) return;
    AddText(key, request.first);
    absl::StrAppend(&key, "=", request.second, ";");
  });
  absl::StrAppend(&key, "|s", wants.selector.size());
  InOrder(wants.selector, [&key](const auto& label) {
    AddText(key, label.first);
    AddText(key, label.second);
  });
  if (wants.has_affinity) {
    absl::StrAppend(&key, "|a", wants.affinity.size());
    for (const TermFacts& term : wants.affinity) AddTerm(key, term);
  }
  absl::StrAppend(&key, "|p", wants.preferences.size());
  for (const PreferenceFacts& preference : wants.preferences) {
    absl::StrAppend(&key, preference.weight);
    AddTerm(key, preference.term);
  }
  absl::StrAppend(&key, "|t", wants.tolerations.size());
  InOrder(wants.tolerations, [&key](const TolerationFacts& toleration) {
    AddText(key, toleration.key);
    AddText(key, toleration.value);
    AddText(key, toleration.effect);
    key += toleration.exists ? 'e' : 'q';
  });
  absl::StrAppend(&key, "|h", wants.host_ports.size());
  InOrder(wants.host_ports, [&key](const HostPortFacts& port) {
    AddText(key, port.protocol);
    AddText(key, port.ip);
    absl::StrAppend(&key, port.port, ";");
  });
  if (!wants.claims.empty()) {
    absl::StrAppend(&key, "|c", wants.claims.size());
    for (const std::string& claim : wants.claims) AddText(key, claim);
    for (const auto& [claim, uid] : wants.made_claims) {
      AddText(key += 'm', claim);
      AddText(key, uid);
    }
  }
  for (const PodTermFacts& term : wants.pod_affinity) {
    key += "|n";
    AddPodTerm(key, term);
  }
  for (const PodTermFacts& term : wants.pod_anti_affinity) {
    key += "|f";
    AddPodTerm(key, term);
  }
  for (const PodPreferenceFacts& preference : wants.pod_preferences) {
    absl::StrAppend(&key, "|w", preference.weight, ",");
    AddPodTerm(key, preference.term);
  }
  for (const SpreadFacts& spread : wants.spreads) {
    absl::StrAppend(&key, "|d", spread.max_skew, ",", spread.min_domains, spread.required ? "r" : "w",
                    spread.honors_affinity ? "a" : "", spread.honors_taints ? "t" : "");
    AddPodTerm(key, spread.term);
  }
  AddText(key, wants.not_modelled);
}

}  // namespace

std::string ShapeKey(const Wants& wants) {
  std::string key;
  AddShapeKey(key, wants);
  return key;
}

Shape MakeShape(const Wants& wants, Dims& dims, Names& names) {
  Shape shape;
  shape.request = dims.Intern(wants.requests);
  for (const auto& [key, value] : wants.selector) {
    Requirement requirement;
    requirement.key = names.Intern(key);
    requirement.values = {names.Intern(value)};
    shape.selector.push_back(std::move(requirement));
  }
  shape.has_affinity = wants.has_affinity;
  for (const TermFacts& term : wants.affinity) shape.affinity.push_back(MakeTerm(term, names));
  for (const PreferenceFacts& preference : wants.preferences) {
    shape.preferences.push_back({preference.weight, MakeTerm(preference.term, names)});
  }
  for (const TolerationFacts& toleration : wants.tolerations) {
    shape.tolerations.push_back(InternToleration(toleration, names));
  }
  for (const HostPortFacts& port : wants.host_ports) {
    const bool any = port.ip.empty() || port.ip == "0.0.0.0";
    shape.ports.push_back(
        {names.Intern(port.protocol.empty() ? "TCP" : port.protocol), any ? -1 : names.Intern(port.ip), port.port});
  }
  shape.not_modelled = wants.not_modelled;
  return shape;
}

bool Clash(const std::vector<HostPort>& a, const std::vector<HostPort>& b) {
  return std::any_of(a.begin(), a.end(), [&](const HostPort& x) {
    return std::any_of(b.begin(), b.end(), [&](const HostPort& y) {
      return x.port == y.port && x.protocol == y.protocol && (x.ip == -1 || y.ip == -1 || x.ip == y.ip);
    });
  });
}

}  // namespace gangway::model
