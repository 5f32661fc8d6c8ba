#include "api/volcano/admission.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/volcano/admission_rules.h"
#include "api/volcano/defaults.h"
#include "api/volcano/fill_in.h"
#include "api/volcano/judge.h"
#include "api/volcano/kinds.h"
#include "base/strings.h"

namespace gangway::api::volcano {
namespace {

using boost::json::value;

// The CRD demands the key `containers`; that the list is not empty is a rule of pod templates. `object` has the spec of
// a job; `path` is where it stands: "" or "spec.jobTemplate.".
void CheckTemplateSchema(const value& object, FieldErrors& errors, absl::string_view path = {}) {
  const value* spec = Member(object, "spec");
  const value* tasks = spec == nullptr ? nullptr : Member(*spec, "tasks");
  if (tasks == nullptr || !tasks->is_array()) return;
  for (std::size_t i = 0; i < tasks->get_array().size(); ++i) {
    const value* pod_template = Member(tasks->get_array()[i], "template");
    const value* pod_spec = pod_template == nullptr ? nullptr : Member(*pod_template, "spec");
    if (pod_spec != nullptr && pod_spec->is_object() && Member(*pod_spec, "containers") == nullptr) {
      AddError(errors, FieldError::Type::kRequired, absl::StrCat(path, "spec.tasks[", i, "].template.spec.containers"),
               "", "a pod needs at least one container");
    }
  }
}

// False also for members in another order, which then only costs time. As text: Boost's comparison of objects is six
// times slower.
bool SameSpec(const value& before, const value& after) {
  const value* old_spec = Member(before, "spec");
  const value* new_spec = Member(after, "spec");
  return old_spec != nullptr && new_spec != nullptr && ToJson(*old_spec) == ToJson(*new_spec);
}

Verdict AdmitJob(const AdmissionRequest& request, value* written, const QueueLookup& queues) {
  value& object = *written;
  const Judge judge(request, written);
  const bool create = request.operation == Operation::kCreate;
  if (!create && SameSpec(*request.old_object, object)) return {};  // labels and the like
  if (FieldErrors errors = TypeErrors<JobSpec>(object); !errors.empty()) return judge.Invalid(std::move(errors));
  if (create) ApplyJobDefaults(object);
  const Job job = DecodeObject<Job, JobSpec>(object);
  FieldErrors refused;
  CheckDurations(job.spec, refused);  // the mutating webhook stumbles over these, before the schema is asked
  if (!refused.empty()) return judge.Refused(std::move(refused));
  FieldErrors errors = SchemaErrors<JobSpec>(object);
  CheckTemplateSchema(object, errors);
  if (!errors.empty()) return judge.Invalid(std::move(errors));
  if (create) {
    CheckJobCreate(job, object, queues, refused);
  } else {
    CheckJobUpdate(DecodeObject<Job, JobSpec>(*request.old_object), job, refused);
  }
  return refused.empty() ? Verdict() : judge.Refused(std::move(refused));
}

Verdict AdmitPodGroup(const AdmissionRequest& request, value* written, const QueueLookup& queues) {
  value& object = *written;
  const Judge judge(request, written);
  if (FieldErrors errors = TypeErrors<PodGroupSpec>(object); !errors.empty()) return judge.Invalid(std::move(errors));
  if (request.operation == Operation::kCreate) ApplyPodGroupDefaults(object, request.namespace_queue);
  if (FieldErrors errors = SchemaErrors<PodGroupSpec>(object); !errors.empty()) return judge.Invalid(std::move(errors));
  FieldErrors refused;
  if (request.operation == Operation::kCreate) {
    CheckPodGroupCreate(DecodeObject<PodGroup, PodGroupSpec>(object), queues, refused);
  }
  return refused.empty() ? Verdict() : judge.Refused(std::move(refused));
}

Verdict AdmitQueue(const AdmissionRequest& request, value* object, const QueueLookup& queues) {
  const Judge judge(request, object);
  FieldErrors refused;
  if (request.operation == Operation::kDelete) {
    CheckQueueDelete(request.name, queues, refused);
    return refused.empty() ? Verdict() : judge.Refused(std::move(refused));
  }
  if (FieldErrors errors = TypeErrors<QueueSpec>(*object); !errors.empty()) return judge.Invalid(std::move(errors));
  if (request.operation == Operation::kCreate) ApplyQueueDefaults(*object);
  if (FieldErrors errors = SchemaErrors<QueueSpec>(*object); !errors.empty()) return judge.Invalid(std::move(errors));
  const Queue after = DecodeObject<Queue, QueueSpec>(*object);
  if (request.operation == Operation::kUpdate) {
    const Queue before = DecodeObject<Queue, QueueSpec>(*request.old_object);
    CheckQueueWrite(&before, after, queues, refused);
  } else {
    CheckQueueWrite(nullptr, after, queues, refused);
  }
  return refused.empty() ? Verdict() : judge.Refused(std::move(refused));
}

Verdict AdmitJobFlow(const AdmissionRequest& request, value* written, const QueueLookup&) {
  value& object = *written;
  const Judge judge(request, written);
  if (request.operation == Operation::kUpdate && SameSpec(*request.old_object, object)) return {};
  if (FieldErrors errors = TypeErrors<JobFlowSpec>(object); !errors.empty()) return judge.Invalid(std::move(errors));
  if (FieldErrors errors = SchemaErrors<JobFlowSpec>(object); !errors.empty()) return judge.Invalid(std::move(errors));
  FieldErrors refused;
  CheckFlows(DecodeObject<JobFlow, JobFlowSpec>(object).spec, refused);
  return refused.empty() ? Verdict() : judge.Refused(std::move(refused));
}

// Its jobs are judged when they are made.
Verdict AdmitJobTemplate(const AdmissionRequest& request, value* written, const QueueLookup&) {
  value& object = *written;
  const Judge judge(request, written);
  if (FieldErrors errors = TypeErrors<JobSpec>(object); !errors.empty()) return judge.Invalid(std::move(errors));
  FieldErrors errors = SchemaErrors<JobSpec>(object);
  CheckTemplateSchema(object, errors);
  return errors.empty() ? Verdict() : judge.Invalid(std::move(errors));
}

// Its jobs are judged when they are made, as Volcano does.
Verdict AdmitCronJob(const AdmissionRequest& request, value* written, const QueueLookup&) {
  value& object = *written;
  const Judge judge(request, written);
  if (request.operation == Operation::kUpdate && SameSpec(*request.old_object, object)) return {};
  if (FieldErrors errors = TypeErrors<CronJobSpec>(object); !errors.empty()) return judge.Invalid(std::move(errors));
  if (request.operation == Operation::kCreate) ApplyCronJobDefaults(object);
  FieldErrors errors = SchemaErrors<CronJobSpec>(object);
  const value* spec = Member(object, "spec");
  const value* job_template = spec == nullptr ? nullptr : Member(*spec, "jobTemplate");
  if (job_template != nullptr) CheckTemplateSchema(*job_template, errors, "spec.jobTemplate.");
  if (!errors.empty()) return judge.Invalid(std::move(errors));
  FieldErrors refused;
  CheckCronJob(DecodeObject<CronJob, CronJobSpec>(object), refused);
  return refused.empty() ? Verdict() : judge.Refused(std::move(refused));
}

// The defaults of an object whose types are wrong are not filled in: it is refused anyway.
template <class Spec, void (*Apply)(value&)>
void Fill(const AdmissionRequest&, value& object) {
  if (TypeErrors<Spec>(object).empty()) Apply(object);
}
void FillPodGroup(const AdmissionRequest& request, value& group) {
  if (TypeErrors<PodGroupSpec>(group).empty()) ApplyPodGroupDefaults(group, request.namespace_queue);
}

const Admission* AdmissionOf(const Resource* resource) {
  const std::span<const KindRow> kinds = Kinds();
  const auto at =
      std::find_if(kinds.begin(), kinds.end(), [&](const KindRow& row) { return row.resource == resource; });
  return at == kinds.end() ? nullptr : at->admission;
}

}  // namespace

const Admission kJobAdmission{.judge = AdmitJob, .fill_in = Fill<JobSpec, ApplyJobDefaults>, .mutating_webhook = true};
const Admission kPodGroupAdmission{.judge = AdmitPodGroup, .fill_in = FillPodGroup, .mutating_webhook = true};
const Admission kQueueAdmission{
    .judge = AdmitQueue, .fill_in = Fill<QueueSpec, ApplyQueueDefaults>, .deletions = true, .mutating_webhook = true};
const Admission kJobFlowAdmission{.judge = AdmitJobFlow};
const Admission kJobTemplateAdmission{.judge = AdmitJobTemplate, .validating_webhook = false};
const Admission kCronJobAdmission{.judge = AdmitCronJob, .fill_in = Fill<CronJobSpec, ApplyCronJobDefaults>};

void FillIn(const AdmissionRequest& request, value& object) {
  const Admission* const admission = AdmissionOf(request.resource);
  if (request.operation == Operation::kCreate && admission != nullptr && admission->fill_in != nullptr)
    admission->fill_in(request, object);
}

QueueLookup LookupIn(absl::Span<const Queue> queues) {
  std::map<std::string, QueueFacts, std::less<>> facts;
  for (const Queue& queue : queues) {
    QueueFacts& fact = facts[queue.metadata.name];
    fact.state = queue.status.state;
    fact.parent = queue.spec.parent;
    const auto pods = queue.status.allocated.find("pods");
    if (pods != queue.status.allocated.end()) fact.allocated_pods = pods->second.Units().value_or(0);
  }
  for (const auto& [name, fact] : facts) {
    const std::string parent = fact.parent.empty() && name != kRootQueue ? std::string(kRootQueue) : fact.parent;
    const auto it = facts.find(parent);
    if (it != facts.end()) it->second.children.push_back(name);
  }
  return [facts = std::move(facts)](absl::string_view name) -> std::optional<QueueFacts> {
    const auto it = facts.find(StdView(name));
    if (it == facts.end()) return std::nullopt;
    return it->second;
  };
}

Verdict Admit(const AdmissionRequest& request, value* object, const QueueLookup& queues) {
  const Admission* const admission = AdmissionOf(request.resource);
  if (admission == nullptr || (request.operation == Operation::kDelete && !admission->deletions)) return {};
  return admission->judge(request, object, queues);
}

}  // namespace gangway::api::volcano
