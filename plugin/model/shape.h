// What several pods ask for in the same words, kept once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "plugin/model/facts.h"
#include "plugin/model/names.h"
#include "plugin/model/resources.h"
#include "plugin/phrases/words.h"

namespace gangway::model {

using ShapeId = int;
using ClaimId = int;
using TermId = int;  // of a PodTerm

inline constexpr int kNodeNameKey = -2;  // Requirement::key of a requirement on the node's name

struct Requirement {
  int key = 0;  // interned, or kNodeNameKey
  Op op = Op::kIn;
  std::vector<int> values;       // interned, sorted
  std::int64_t bound = 0;        // of kGt and kLt
  bool bound_is_number = false;  // without one nothing is greater or less
};
using Term = std::vector<Requirement>;

struct Toleration {
  int key = -1;  // -1 = every key
  int value = -1;
  bool every_effect = false;
  bool known_effect = true;
  TaintEffect effect = TaintEffect::kNoSchedule;
  bool exists = false;
};

struct Taint {
  int key = 0, value = 0;
  TaintEffect effect = TaintEffect::kNoSchedule;
};

struct HostPort {
  int protocol = 0;
  int ip = -1;  // -1 = every address
  int port = 0;
  friend bool operator==(const HostPort&, const HostPort&) = default;
};
// Whether two pods that ask for them cannot be on one node.
bool Clash(const std::vector<HostPort>& a, const std::vector<HostPort>& b);

struct Preference {
  int weight = 1;
  Term term;
};

struct PodPreference {
  int weight = 1;
  TermId term = -1;
};

struct Spread {
  TermId term = -1;
  int max_skew = 1, min_domains = 1;
  bool required = true, honors_affinity = true, honors_taints = false;
};

struct Shape {
  Resources request;
  Term selector;
  std::vector<int> selector_topologies;  // of the selector's labels, in its order
  bool has_affinity = false;
  std::vector<Term> affinity;
  std::vector<Preference> preferences;
  std::vector<Toleration> tolerations;
  std::vector<HostPort> ports;
  std::vector<ClaimId> claims;
  std::vector<std::pair<ClaimId, std::string>> made_claims;  // see Wants
  std::vector<TermId> near, away;                            // of its affinity and anti-affinity to pods
  std::vector<PodPreference> pod_preferences;
  std::vector<Spread> spreads;
  std::vector<TermId> matched;  // terms, of whichever pods, that hold for its pods; sorted by their keys
  std::string not_modelled;
  std::string key;             // the canonical text it is found by
  std::size_t wants_size = 0;  // how much of the key is ShapeKey of what is wanted; matched follows
  int users = 0;

  // The term, whosever it is, holds for pods of the shape itself.
  bool Matches(TermId term) const { return std::find(matched.begin(), matched.end(), term) != matched.end(); }
};

// The canonical text of what a pod wants: the same text exactly when the pods fit the same nodes in the same order.
std::string ShapeKey(const Wants& wants);
// But for claims and terms about pods, which are Shapes' to make.
Shape MakeShape(const Wants& wants, Dims& dims, Names& names);

// The part of a key that says what a term asks for, and of a text: lengths make it unambiguous whatever they hold.
void AddTerm(std::string& out, TermFacts term);
void AddPodTerm(std::string& out, const PodTermFacts& term);
void AddText(std::string& out, absl::string_view text);
Term MakeTerm(const TermFacts& facts, Names& names);
// "app=web", "zone in (a,b)", "no gpu": what is asked of labels, in words.
Words RequirementText(const RequirementFacts& requirement);
Words TermText(const Term& term, const Names& names);

}  // namespace gangway::model
