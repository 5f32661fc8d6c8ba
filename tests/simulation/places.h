// Where pods come to lie, judged from the journal in Kubernetes' and Volcano's words: near which pods and apart from
// which, with which volumes, in which HyperNode. A part of the Checker.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/core/storage.h"
#include "api/selector.h"
#include "api/volcano/hyper_node.h"
#include "api/volcano/scheduling.h"
#include "sandbox/apiserver/journal.h"

namespace gangway::testutil {

enum class Rule;

class Places {
 public:
  struct Rules {
    std::string scheduler;
    absl::Duration known;    // after it changed so long, the scheduler knows of it
    absl::Duration settles;  // the bindings of one decision arrive within
    bool bindings_fail =
        false;  // some are refused: what others of the same decision were placed by may be missing then
  };
  using Pods = std::map<api::NamespacedName, api::core::Pod>;
  using GroupOf = std::function<const api::volcano::PodGroup*(const api::core::Pod&)>;
  using Tell = std::function<void(Rule, const std::string&)>;

  // `pods` are those the Checker keeps.
  Places(Rules rules, const Pods& pods, GroupOf group_of, Tell tell)
      : rules_(std::move(rules)), pods_(pods), group_of_(std::move(group_of)), tell_(std::move(tell)) {}

  // Before the pods change.
  void Settle(absl::Time now);
  // Nodes, claims, volumes, HyperNodes.
  void OnRecord(const sandbox::JournalRecord& record, const std::string& where);
  // nullptr: it was not there, or has gone.
  void OnPod(const api::core::Pod* before, const api::core::Pod* after, absl::Time now);
  void OnBinding(const api::core::Pod& pod, absl::Time now, const std::string& where);
  void Disturbed(absl::Time until) { disturbed_ = std::max(disturbed_, until); }

  // When its node was chosen: one that waited for its gang's volumes was given it before.
  absl::Time ChosenAt(const api::core::Pod& pod, absl::Time bound) const;
  // One of its claims was bound to a volume that is gone, or is said to be lost: nobody can bind the pod.
  bool LostVolume(const api::core::Pod& pod) const;

 private:
  struct Term {
    api::LabelSelector selector;
    std::set<std::string> namespaces;  // empty: the pod's own
    std::string key;
  };
  struct Spread {
    Term term;
    int max_skew = 1, min_domains = 1;
    bool honors_affinity = true, honors_taints = false;
    std::string text;  // as it was written
  };
  struct Wants {
    std::vector<Term> near, apart;
    std::vector<Spread> spreads;
    std::vector<std::string> claims;
  };
  struct SeenClaim {
    api::core::PersistentVolumeClaim claim;
    std::optional<absl::Time> asked;  // when the scheduler last wrote for it
    absl::Time bound = absl::InfinitePast(), ceased = absl::InfinitePast();
  };
  struct Departed {
    api::core::Pod pod;
    absl::Time at;
  };
  // A pod whose neighbours may still be on their way.
  struct Settling {
    api::NamespacedName key;
    std::string uid, where;
    absl::Time bound, chosen;
    bool first = false;  // nothing was there that it wants to be near, but itself
  };

  static Wants WantsOf(const api::core::Pod& pod);
  static Term TermOf(const std::string& json);
  static bool Selects(const Term& term, const api::core::Pod& from, const api::core::Pod& pod);
  static bool AllSelect(const std::vector<Term>& terms, const api::core::Pod& from, const api::core::Pod& pod);
  const Wants& KnownWants(const api::core::Pod& pod) const;
  std::optional<std::string> DomainOf(const std::string& node, const std::string& key) const;
  bool Alike(const std::string& node, const std::string& other, const std::string& key) const;
  bool StoodStill(absl::Time chosen) const;

  void OnNode(const sandbox::JournalRecord& record);
  void OnClaim(const sandbox::JournalRecord& record, const std::string& where);
  void OnVolume(const sandbox::JournalRecord& record, const std::string& where);
  void CheckApart(const api::core::Pod& pod, const std::string& where);
  void CheckVolumes(const api::core::Pod& pod, absl::Time now, absl::Time chosen, const std::string& where);
  void CheckTopology(const api::core::Pod& pod, const std::string& where);
  bool LieTogether(const api::volcano::NetworkTopologySpec& topology, const std::vector<const api::core::Pod*>& pods);
  void AddNodesOf(const api::volcano::HyperNode& of, std::set<std::string>& seen, std::set<std::string>& nodes) const;
  void JudgeSettled(const Settling& settling);
  void JudgeNear(const Settling& settling, const api::core::Pod& pod, const Wants& wants);
  void JudgeSpread(const Settling& settling, const api::core::Pod& pod, const Wants& wants, const Spread& spread);
  bool CountsFor(const api::core::Pod& pod, const Wants& wants, const Spread& spread,
                 const api::core::Node& node) const;
  bool OneHasLeft(const Term& term, const api::core::Pod& pod, absl::Time since) const;
  const std::set<std::string>& NodesOf(const api::volcano::HyperNode& hyper_node);

  const Rules rules_;
  const Pods& pods_;
  const GroupOf group_of_;
  const Tell tell_;
  std::map<std::string, api::core::Node> nodes_;
  std::map<std::string, api::volcano::HyperNode> hyper_nodes_;
  std::map<std::string, std::set<std::string>> nodes_of_;  // by HyperNode, as far as asked
  std::map<api::NamespacedName, SeenClaim> claims_;
  std::map<std::string, api::core::PersistentVolume> volumes_;
  std::map<std::string, absl::Time> volumes_gone_;
  mutable std::map<std::string, Wants> wants_;  // by UID
  std::vector<Departed> departed_;              // that ended, went or began to, of late
  std::vector<Settling> settling_;
  absl::Time moved_ = absl::InfinitePast();  // when nodes or HyperNodes changed last
  absl::Time disturbed_ = absl::InfinitePast();
};

}  // namespace gangway::testutil
