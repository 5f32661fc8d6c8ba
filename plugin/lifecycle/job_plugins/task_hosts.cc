#include "plugin/lifecycle/job_plugins/task_hosts.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::Job;
using api::volcano::TaskSpec;

// The part of a template that names hosts.
struct TemplateNames {
  struct Spec {
    std::string hostname, subdomain;
    static constexpr std::string_view kName = "PodSpec";
    static constexpr bool kView = true;
    static constexpr auto Fields() {
      return api::MakeFields(api::MakeField<&Spec::hostname>("hostname", ""),
                             api::MakeField<&Spec::subdomain>("subdomain", ""));
    }
  };
  Spec spec;
  static constexpr std::string_view kName = "PodTemplateSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return api::MakeFields(api::MakeField<&TemplateNames::spec>("spec", "")); }
};

std::string Address(const Job& job, const TaskSpec& task, const HostNames& names, std::int32_t index) {
  if (!names.hostname.empty()) return absl::StrCat(names.hostname, ".", names.domain);
  return absl::StrCat(job.metadata.name, "-", task.name, "-", index, ".", names.domain);
}

}  // namespace

HostNames HostNamesOf(const Job& job, const TaskSpec& task) {
  TemplateNames names;
  if (!task.pod_template.empty()) {
    // A template that does not decode has no names of its own; building its pods says what is wrong with it.
    if (absl::StatusOr<TemplateNames> read = api::Decode<TemplateNames>(task.pod_template.json); read.ok())
      names = *std::move(read);
  }
  return {names.spec.hostname, names.spec.subdomain.empty() ? job.metadata.name : names.spec.subdomain};
}

std::string AddressOf(const Job& job, const TaskSpec& task, std::int32_t index) {
  return Address(job, task, HostNamesOf(job, task), index);
}

std::vector<std::string> AddressesOf(const Job& job, const TaskSpec& task) {
  const HostNames names = HostNamesOf(job, task);
  const std::int32_t count = names.hostname.empty() ? task.replicas : std::min<std::int32_t>(task.replicas, 1);
  std::vector<std::string> addresses;
  for (std::int32_t i = 0; i < count; ++i) addresses.push_back(Address(job, task, names, i));
  return addresses;
}

const TaskSpec* FindTask(const Job& job, absl::string_view name) {
  for (const TaskSpec& task : job.spec.tasks) {
    if (task.name == name) return &task;
  }
  return nullptr;
}

}  // namespace gangway::lifecycle
