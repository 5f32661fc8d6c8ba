#include "translator/convert/mode.h"

#include <limits>

#include "absl/strings/str_cat.h"

namespace gangway::convert {
namespace {

struct RoleReplicas {
  std::string name;
  const std::optional<std::int32_t>& replicas;
  bool has_pods() const { return replicas.value_or(0) > 0; }
  std::string field() const { return absl::StrCat("spec.", name, ".replicas"); }
};

// Numbers that are none, and more pods than a Job can count.
void CheckReplicas(const std::vector<RoleReplicas>& roles, Findings& findings) {
  std::int64_t sum = 0;
  for (const RoleReplicas& role : roles) {
    const std::int32_t replicas = role.replicas.value_or(0);
    if (replicas < 0) findings.push_back(MakeFinding(Code::kReplicas, role.field(), absl::StrCat(replicas)));
    sum += replicas;
    if (replicas > 0 && sum > std::numeric_limits<std::int32_t>::max()) {
      findings.push_back(MakeFinding(Code::kReplicas, role.field(), absl::StrCat(replicas),
                                     "the job would have more pods than a Job can count", "use fewer replicas"));
    }
  }
}

}  // namespace

std::string_view ModeName(Mode mode) {
  switch (mode) {
    case Mode::kServers:
      return "PS";
    case Mode::kCollective:
      return "Collective";
    case Mode::kSingle:
      return "Single";
  }
  return "";
}

Lineup LineUp(const Roles& roles) {
  const RoleReplicas ps{"ps", roles.ps}, worker{"worker", roles.worker}, heter{"heter", roles.heter};
  Lineup out;
  CheckReplicas({ps, worker, heter}, out.findings);
  for (const RoleReplicas& role : {ps, worker, heter}) {
    if (role.has_pods()) out.tasks.push_back({role.name, *role.replicas});
    if (role.replicas == 0) out.findings.push_back(MakeFinding(Code::kZeroReplicas, role.field(), "0"));
  }
  if (HasErrors(out.findings)) {
    Arrange(out.findings);
    return out;
  }
  if (out.tasks.empty()) out.findings.push_back(MakeFinding(Code::kEmpty, "spec"));
  if (heter.has_pods() && !(ps.has_pods() && worker.has_pods()))
    out.findings.push_back(MakeFinding(Code::kHeter, "spec.heter"));

  out.elastic = roles.elastic.value_or(0) > 0;
  if (roles.elastic.has_value() && !out.elastic) {
    out.findings.push_back(MakeFinding(Code::kElastic0, "spec.elastic", absl::StrCat(*roles.elastic)));
  }
  if (out.elastic && (ps.has_pods() || !worker.has_pods())) {
    out.findings.push_back(
        MakeFinding(Code::kElastic, "spec.elastic", absl::StrCat(*roles.elastic),
                    ps.has_pods() ? "servers cannot be elastic" : "there are no workers that could be elastic",
                    "remove spec.elastic"));
  }
  if (ps.has_pods() && !worker.has_pods() && !heter.has_pods()) {
    out.findings.push_back(MakeFinding(Code::kUnused, "spec.ps", {},
                                       "servers without workers: nobody trains, and the job ends when the servers do",
                                       "add spec.worker"));
  }

  const bool several = worker.replicas.value_or(0) > 1 || out.elastic;
  out.mode = ps.has_pods() ? Mode::kServers : several ? Mode::kCollective : Mode::kSingle;
  if (worker.has_pods()) out.completing_task = worker.name;
  Arrange(out.findings);
  return out;
}

}  // namespace gangway::convert
