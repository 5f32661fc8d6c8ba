#include "translator/convert/kubeflow_roles.h"

#include <algorithm>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json.h"
#include "base/nearest.h"
#include "base/strings.h"

namespace gangway::convert {
namespace {

namespace kf = api::paddle::kubeflow;

constexpr absl::string_view kSpecs = "spec.paddleReplicaSpecs", kBackoff = "spec.runPolicy.backoffLimit";
constexpr absl::string_view kElasticPolicy = "spec.elasticPolicy";

std::string KeyField(absl::string_view key) {
  const bool plain = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c));
  });
  return plain ? absl::StrCat(kSpecs, ".", key) : absl::StrCat(kSpecs, "[", key, "]");
}

class RoleReader {
 public:
  RoleReader(const kf::PaddleJobSpec& spec, const Annotations& annotations, bool has_etcd, bool strict)
      : spec_(spec), policy_(spec.run_policy), annotations_(annotations), has_etcd_(has_etcd), strict_(strict) {}

  KubeflowRoles Read() && {
    CheckKeys();
    for (const std::string_view key : {kf::kMaster, kf::kWorker}) AddRole(key);
    CheckBackoff();
    LineUp();
    out_.max_restarts = MaxRestarts();
    Arrange(findings());
    return std::move(out_);
  }

 private:
  Findings& findings() { return out_.lineup.findings; }
  void Say(Code code, absl::string_view field, absl::string_view value = {}, absl::string_view rule = {},
           absl::string_view fix = {}) {
    findings().push_back(MakeFinding(code, field, value, rule, fix));
  }

  // As kubeflow's webhook: only its two, in any letter case.
  void CheckKeys() {
    const std::vector<std::string> known{std::string(kf::kMaster), std::string(kf::kWorker)};
    for (const auto& [key, replicas] : spec_.replica_specs) {
      const auto same = std::find_if(known.begin(), known.end(),
                                     [&](const std::string& k) { return absl::EqualsIgnoreCase(k, key); });
      if (same == known.end()) {
        const std::string nearest = Nearest(key, known);
        Say(Code::kRefused, KeyField(key), {}, "a PaddleJob has the roles Master and Worker",
            nearest.empty() ? "remove it" : absl::StrCat("did you mean ", nearest, "?"));
      } else if (FindReplicas(spec_, *same) != &replicas) {
        Say(Code::kRefused, KeyField(key), {}, absl::StrCat("the role ", *same, " is there twice"),
            "remove one of them");
      }
    }
  }

  void AddRole(std::string_view key) {
    const kf::ReplicaSpec* const spec = FindReplicas(spec_, key);
    if (spec == nullptr) return;
    KubeflowRole role;
    for (const auto& [written, replicas] : spec_.replica_specs) {
      if (&replicas == spec) role.field = KeyField(written);
    }
    role.task = absl::AsciiStrToLower(View(key));
    role.spec = spec;
    role.replicas = spec->replicas.value_or(1);
    if (role.replicas < 0) return Say(Code::kReplicas, role.field + ".replicas", absl::StrCat(role.replicas));
    if (role.replicas == 0) return Say(Code::kZeroReplicas, role.field + ".replicas", "0");
    SetRestarts(role);
    sum_ += role.replicas;
    if (sum_ > std::numeric_limits<std::int32_t>::max()) {
      Say(Code::kReplicas, role.field + ".replicas", absl::StrCat(role.replicas),
          "the job would have more pods than a Job can count", "use fewer replicas");
    }
    out_.lineup.tasks.push_back({role.task, role.replicas});
    out_.roles.push_back(std::move(role));
  }

  void SetRestarts(KubeflowRole& role) {
    const std::string field = role.field + ".restartPolicy";
    const std::string& text = role.spec->restart_policy;
    const std::optional<std::int32_t>& limit = policy_.backoff_limit;
    role.by_exit_code = text == "ExitCode";
    role.restart_policy = text == "Never" || role.by_exit_code ? "Never" : "OnFailure";
    if (role.by_exit_code) Say(Code::kExitCode, field, api::JsonString(text));
    if (text == "Always") Say(Code::kRestartAlways, field, api::JsonString(text));
    if (!text.empty() && text != "OnFailure" && text != "Always" && role.restart_policy == "OnFailure") {
      findings().push_back(NoSuchValue(field, text, View(kf::kRestartPolicies), "OnFailure", strict_));
    }
    if (!limit.has_value() || role.restart_policy == "Never") return;
    if (*limit == 0)
      role.restart_policy = "Never";  // the first restart would end the job
    else
      role.container_restarts = limit;
  }

  void CheckBackoff() {
    if (!policy_.backoff_limit.has_value()) return;
    const std::string value = absl::StrCat(*policy_.backoff_limit);
    if (*policy_.backoff_limit < 0)
      Say(Code::kRefused, kBackoff, value, "must be at least 0", "leave it out to have the usual number of restarts");
    const auto counting = std::count_if(out_.roles.begin(), out_.roles.end(),
                                        [](const KubeflowRole& r) { return r.container_restarts.has_value(); });
    if (counting > 1) Say(Code::kBackoff, kBackoff, value);
  }

  // With masters the job is theirs: when they have succeeded it has.
  void LineUp() {
    Lineup& lineup = out_.lineup;
    if (lineup.tasks.empty() && !HasErrors(findings())) {
      Say(Code::kEmpty, kSpecs, {}, {}, "give Worker at least one replica");
      return;
    }
    if (lineup.tasks.empty()) return;
    const bool masters = lineup.tasks[0].name == "master";
    const bool wanted = spec_.elastic_policy.has_value();
    if (wanted && masters) Say(Code::kUnused, kElasticPolicy, {}, "servers cannot be elastic");
    if (wanted && !masters && !has_etcd_) {
      Say(Code::kUnused, kElasticPolicy, {}, "elastic training needs an etcd, and there is none",
          absl::StrCat("name one in ", AnnotationField("elastic-etcd"), ", or remove it"));
    }
    lineup.elastic = wanted && !masters && has_etcd_;
    lineup.mode = masters                                          ? Mode::kServers
                  : lineup.tasks[0].replicas > 1 || lineup.elastic ? Mode::kCollective
                                                                   : Mode::kSingle;
    lineup.completing_task = lineup.tasks[0].name;
  }

  // kubeflow counts the pods it makes again for their exit code against the backoffLimit, too.
  std::optional<std::int32_t> MaxRestarts() {
    if (annotations_.max_restarts_given) return std::nullopt;
    const bool none = policy_.backoff_limit == 0;  // the first restart is the end
    if (out_.lineup.elastic) {
      const std::optional<std::int32_t>& restarts = spec_.elastic_policy->max_restarts;
      if (restarts.value_or(0) < 0 || restarts == std::numeric_limits<std::int32_t>::max()) {
        Say(Code::kRefused, absl::StrCat(kElasticPolicy, ".maxRestarts"), absl::StrCat(*restarts),
            "must be from 0 to 2147483646", "leave it out to have the usual number of restarts");
      }
      return !restarts.has_value() && none ? 0 : restarts;
    }
    if (none) return 0;
    const bool by_exit_code =
        std::any_of(out_.roles.begin(), out_.roles.end(), [](const KubeflowRole& r) { return r.by_exit_code; });
    if (!by_exit_code || !policy_.backoff_limit.has_value()) return std::nullopt;
    return std::min(*policy_.backoff_limit, std::numeric_limits<std::int32_t>::max() - 1);
  }

  const kf::PaddleJobSpec& spec_;
  const kf::RunPolicy& policy_;
  const Annotations& annotations_;
  const bool has_etcd_, strict_;
  std::int64_t sum_ = 0;
  KubeflowRoles out_;
};

}  // namespace

KubeflowRoles ReadKubeflowRoles(const kf::PaddleJobSpec& spec, const Annotations& annotations, bool has_etcd,
                                bool strict) {
  return RoleReader(spec, annotations, has_etcd, strict).Read();
}

Finding NoSuchValue(absl::string_view field, absl::string_view text, absl::string_view values, absl::string_view taken,
                    bool strict) {
  const std::vector<std::string> known = absl::StrSplit(values, ',');
  const std::string nearest = Nearest(text, known);
  return MakeFinding(
      strict ? Code::kEnum : Code::kEnumIgnored, field, api::JsonString(text),
      strict ? absl::StrCat("must be one of ", values) : absl::StrCat("is none of ", values, ": ", taken, " is taken"),
      nearest.empty() ? "" : absl::StrCat("did you mean ", nearest, "?"));
}

}  // namespace gangway::convert
