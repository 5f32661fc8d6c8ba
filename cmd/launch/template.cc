#include "cmd/launch/template.h"

#include <algorithm>
#include <limits>

#include <boost/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json_value.h"
#include "api/quantity.h"
#include "base/status_macros.h"
#include "cmd/submit/submission.h"
#include "translator/convert/names.h"

namespace gangway::cmd {
namespace {

namespace json = boost::json;

constexpr int kMaxNameFromCommand = 40;  // with suffix, task and index it stays a host name
constexpr char kContainer[] = "paddle";

absl::Status CheckQuantity(absl::string_view flag, const std::string& text) {
  if (text.empty()) return absl::OkStatus();
  const absl::StatusOr<api::Quantity> quantity = api::Quantity::Parse(text);
  if (quantity.ok() && !quantity->negative() && !quantity->zero()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " ", text, ": write a quantity greater than 0, such as 8, 500m or 32Gi"));
}

absl::StatusOr<json::array> EnvOf(const std::vector<std::string>& env) {
  json::array out;
  std::vector<std::string> names;
  for (const std::string& each : env) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(each, absl::MaxSplits('=', 1));
    if (parts.first.empty() || !absl::StrContains(each, "=")) {
      return absl::InvalidArgumentError(absl::StrCat("--env ", each, ": write NAME=VALUE, such as FLAGS_v=1"));
    }
    if (std::find(names.begin(), names.end(), parts.first) != names.end())
      return absl::InvalidArgumentError(absl::StrCat("--env ", parts.first, ": is given twice; leave one out"));
    names.push_back(parts.first);
    out.push_back(json::object{{"name", parts.first}, {"value", parts.second}});
  }
  return out;
}

// `gpus` is none of a parameter server's.
absl::StatusOr<std::string> TemplateOf(const Wish& wish, std::int64_t gpus) {
  json::object resources;
  if (!wish.cpu.empty()) resources["cpu"] = wish.cpu;
  if (!wish.memory.empty()) resources["memory"] = wish.memory;
  if (gpus > 0) resources[wish.gpu_resource] = absl::StrCat(gpus);
  json::array command, mounts, volumes;
  for (const std::string& word : wish.command) command.push_back(json::string(word));
  std::vector<std::string> known;
  for (const std::string& text : wish.claims) {
    GW_ASSIGN_OR_RETURN(const api::volcano::VolumeSpec claim, ClaimOf(text));
    const std::string& name = claim.volume_claim_name;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      known.push_back(name);
      volumes.push_back(json::object{{"name", name}, {"persistentVolumeClaim", json::object{{"claimName", name}}}});
    }
    mounts.push_back(json::object{{"name", name}, {"mountPath", claim.mount_path}});
  }
  if (!wish.shared_memory.empty()) {
    volumes.push_back(json::object{
        {"name", "shm"}, {"emptyDir", json::object{{"medium", "Memory"}, {"sizeLimit", wish.shared_memory}}}});
    mounts.push_back(json::object{{"name", "shm"}, {"mountPath", "/dev/shm"}});
  }
  json::object container{{"name", kContainer}, {"image", wish.image}, {"command", std::move(command)}};
  GW_ASSIGN_OR_RETURN(json::array env, EnvOf(wish.env));
  if (!env.empty()) container["env"] = std::move(env);
  // Devices have no request without a limit, and of the rest the two are the same, so that a pod is Guaranteed.
  if (!resources.empty()) container["resources"] = json::object{{"limits", resources}, {"requests", resources}};
  if (!mounts.empty()) container["volumeMounts"] = std::move(mounts);
  json::object spec{{"containers", json::array{std::move(container)}}};
  if (!volumes.empty()) spec["volumes"] = std::move(volumes);
  return api::ToJson(json::object{{"spec", std::move(spec)}});
}

absl::Status CheckCount(absl::string_view flag, std::int64_t count) {
  if (count >= 0 && count <= std::numeric_limits<std::int32_t>::max()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(flag, " ", count, ": is no number of pods"));
}

absl::Status Check(const Wish& wish) {
  if (wish.command.empty())
    return absl::InvalidArgumentError("there is no command: write it after --, such as -- python train.py");
  if (wish.image.empty()) return absl::InvalidArgumentError("--image is empty: which image do the pods run?");
  GW_RETURN_IF_ERROR(CheckCount("--workers", wish.workers));
  GW_RETURN_IF_ERROR(CheckCount("--ps", wish.servers));
  if (wish.workers == 0) return absl::InvalidArgumentError("--workers 0: a job has at least one worker");
  if (wish.gpus < 0) return absl::InvalidArgumentError(absl::StrCat("--gpus ", wish.gpus, ": must be 0 or more"));
  GW_RETURN_IF_ERROR(CheckQuantity("--cpu", wish.cpu));
  GW_RETURN_IF_ERROR(CheckQuantity("--memory", wish.memory));
  GW_RETURN_IF_ERROR(CheckQuantity("--shm", wish.shared_memory));
  return absl::OkStatus();
}

}  // namespace

std::string NameOfCommand(const std::vector<std::string>& command, absl::string_view suffix) {
  absl::string_view word = command.empty() ? absl::string_view("job") : absl::string_view(command.front());
  for (const std::string& each : command) {
    if (!absl::EndsWith(each, ".py") && !absl::EndsWith(each, ".sh")) continue;
    word = absl::string_view(each).substr(0, each.size() - 3);
    break;
  }
  word = word.substr(word.rfind('/') + 1);
  return absl::StrCat(convert::SuggestName(word, kMaxNameFromCommand), "-", suffix);
}

absl::StatusOr<api::paddle::PaddleJob> JobOf(const Wish& wish) {
  GW_RETURN_IF_ERROR(Check(wish));
  api::paddle::PaddleJob job;
  job.api_version = api::paddle::kPaddleJobs.ApiVersion();
  job.kind = "PaddleJob";
  job.metadata.name = wish.name;
  job.metadata.ns = wish.ns;
  job.spec.worker.emplace();
  job.spec.worker->replicas = static_cast<std::int32_t>(wish.workers);
  GW_ASSIGN_OR_RETURN(job.spec.worker->pod_template.json, TemplateOf(wish, wish.gpus));
  if (wish.servers > 0) {
    job.spec.ps.emplace();
    job.spec.ps->replicas = static_cast<std::int32_t>(wish.servers);
    GW_ASSIGN_OR_RETURN(job.spec.ps->pod_template.json, TemplateOf(wish, 0));
  }
  if (!wish.queue.empty() || !wish.priority_class.empty()) {
    job.spec.scheduling_policy.emplace();
    job.spec.scheduling_policy->queue = wish.queue;
    job.spec.scheduling_policy->priority_class = wish.priority_class;
  }
  return job;
}

}  // namespace gangway::cmd
