// Facts of a whole cluster, as a command reads them.
#pragma once

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/explain/suggest.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::testutil {

struct FactsBuilder {
  FactsBuilder() { facts.queues.push_back(Queue("default")); }
  FactsBuilder& Nodes(int count, int cpu = 16) {
    for (int i = 0; i < count; ++i)
      facts.nodes.push_back(Node(absl::StrCat("node-", absl::Dec(i, absl::kZeroPad3)), cpu));
    return *this;
  }
  // A gang of equal pods; those before `bound` run on node-000, node-001 and so on, `per_node` each.
  FactsBuilder& AddGang(const std::string& name, int min_member, int tasks, std::int64_t milli, int bound = 0,
                        int per_node = 1) {
    facts.gangs.push_back(Gang(name, min_member));
    if (bound > 0) facts.gangs.back().phase = model::GangPhase::kRunning;
    for (int i = 0; i < tasks; ++i) {
      model::PodFacts pod = Pod(name, "w", i, Cpu(milli));
      if (i < bound) {
        pod.node = absl::StrCat("node-", absl::Dec(i / per_node, absl::kZeroPad3));
        pod.phase = model::PodPhase::kRunning;
      }
      facts.pods.push_back(std::move(pod));
    }
    return *this;
  }
  model::GangFacts& GangOf(const std::string& name) {
    for (model::GangFacts& gang : facts.gangs) {
      if (gang.name == name) return gang;
    }
    return facts.gangs.emplace_back(Gang(name, 1));
  }
  model::NodeFacts& NodeAt(std::size_t index) { return facts.nodes[index]; }

  explain::ClusterFacts facts;
};

// Facts and the trial on them, which points into them.
struct Explained {
  explicit Explained(const FactsBuilder& builder) : facts(builder.facts), trial(facts, {}, At(10)) {}
  explain::Explanation Of(const std::string& gang) {
    explain::Explanation out = *trial.Explain({"default", gang});
    out.suggestions = explain::Suggest(trial, out);
    return out;
  }
  const explain::ClusterFacts facts;
  explain::Trial trial;
};

}  // namespace gangway::testutil
