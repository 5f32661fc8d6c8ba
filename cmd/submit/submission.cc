#include "cmd/submit/submission.h"

#include <cstdio>
#include <optional>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "api/core/objects.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/manifest/yaml_writer.h"

namespace gangway::cmd {
namespace {

namespace json = boost::json;
using api::core::PartialObject;

constexpr absl::Duration kLook = absl::Milliseconds(200);  // between two looks whether the old job is gone
// On objects that were made for a Job that was not there yet: what a submission that broke off left behind is taken
// over by the next.
constexpr char kSubmittedFor[] = "paddle.gangway.io/submitted-for";

std::string NameOf(const api::Resource& resource, const std::string& ns, const std::string& name) {
  return absl::StrCat(View(resource.singular), " ", ns, "/", name);
}

std::string DeletionOf(const std::string& uid, const char* propagation) {
  return api::ToJson(json::object{{"apiVersion", "v1"},
                                  {"kind", "DeleteOptions"},
                                  {"propagationPolicy", propagation},
                                  {"preconditions", json::object{{"uid", uid}}}});
}

class Submitter {
 public:
  Submitter(ApiCaller& caller, const Submission& submission)
      : caller_(caller),
        submission_(submission),
        resource_(*submission.resource),
        ns_(submission.key.ns),
        name_(submission.key.name) {}

  absl::StatusOr<std::string> Run() {
    GW_RETURN_IF_ERROR(MakeRoom());
    for (const convert::Companion& companion : submission_.before) {
      if (const absl::Status made = Create(companion); !made.ok()) return TakeBack(made);
    }
    absl::StatusOr<Bytes> reply = caller_.Call("POST", api::PathOf(resource_, ns_), submission_.json);
    if (!reply.ok()) return TakeBack(About(resource_, name_, reply.status()));
    const absl::StatusOr<PartialObject> job = api::Decode<PartialObject>(**reply);
    if (!job.ok()) return job.status();
    PutLine(stdout, absl::StrCat(NameOf(resource_, ns_, name_), " created"));
    GW_RETURN_IF_ERROR(GiveToJob(job->metadata.uid));
    return job->metadata.uid;
  }

 private:
  struct Made {
    const convert::Companion* companion = nullptr;
    std::string uid;
  };

  absl::Status About(const api::Resource& resource, const std::string& name, const absl::Status& status) const {
    std::string fix;
    if (absl::IsNotFound(status) && &resource == &resource_ &&
        absl::StrContains(status.message(), "could not find the requested resource")) {
      fix = &resource == &api::kJobs
                ? "; has this cluster Volcano's types? gangway crds | kubectl apply --server-side -f -"
                : absl::StrCat("; has this cluster that type? gangway crds ", View(resource.plural), ".",
                               View(resource.group), " | kubectl apply --server-side -f -");
    }
    return absl::Status(status.code(), absl::StrCat(NameOf(resource, ns_, name), ": ", status.message(), fix));
  }

  // A job of the name, if any, is an error or goes.
  absl::Status MakeRoom() {
    const absl::StatusOr<PartialObject> old = caller_.Get<PartialObject>(resource_, ns_, name_);
    if (absl::IsNotFound(old.status())) return absl::OkStatus();
    if (!old.ok()) return About(resource_, name_, old.status());
    if (const api::OwnerReference* const owner = old->metadata.Controller()) {  // it would be made again
      return absl::AlreadyExistsError(absl::StrCat(NameOf(resource_, ns_, name_), " belongs to ", owner->kind, " ",
                                                   owner->name, "; choose ", submission_.another));
    }
    if (!submission_.replace) {
      return absl::AlreadyExistsError(absl::StrCat(NameOf(resource_, ns_, name_),
                                                   " is there already; --replace stops and deletes it first, ",
                                                   submission_.another, " leaves it alone"));
    }
    const absl::Status asked =
        caller_.Call("DELETE", api::PathOf(resource_, ns_, name_), DeletionOf(old->metadata.uid, "Foreground"))
            .status();
    if (!asked.ok() && !absl::IsNotFound(asked)) return About(resource_, name_, asked);
    return WaitUntilGone(old->metadata.uid);
  }

  // The Job goes after its pods: new ones of the same names must not meet them.
  absl::Status WaitUntilGone(const std::string& uid) {
    const absl::Time end = absl::Now() + submission_.patience;
    for (;;) {
      const absl::StatusOr<PartialObject> job = caller_.Get<PartialObject>(resource_, ns_, name_);
      if (absl::IsNotFound(job.status())) break;
      if (!job.ok()) return About(resource_, name_, job.status());
      if (job->metadata.uid != uid)
        return absl::AlreadyExistsError(absl::StrCat(NameOf(resource_, ns_, name_), " was made anew by somebody else"));
      if (absl::Now() >= end) {
        return absl::CancelledError(absl::StrCat(
            NameOf(resource_, ns_, name_), " is not gone within ", absl::FormatDuration(submission_.patience),
            "; it goes when its pods have ended: kubectl get pods -n ", ns_, " -l volcano.sh/job-name=", name_));
      }
      caller_.loop().PostAt(absl::Now() + kLook, owner_.token(), [this] { caller_.loop().Stop(); });
      caller_.loop().Run();
    }
    PutLine(stdout, absl::StrCat(NameOf(resource_, ns_, name_), " deleted"));
    return absl::OkStatus();
  }

  std::string Marked(const convert::Companion& companion) const {
    absl::StatusOr<json::value> object = api::ParseJson(companion.json);
    if (!object.ok() || !object->is_object()) return companion.json;
    json::object& metadata = (*object).get_object()["metadata"].as_object();
    json::value& annotations = metadata["annotations"];
    if (!annotations.is_object()) annotations.emplace_object();
    annotations.get_object()[kSubmittedFor] = name_;
    return api::ToJson(*object);
  }

  absl::Status Create(const convert::Companion& companion) {
    const api::Resource& resource = *companion.resource;
    absl::StatusOr<Bytes> reply = caller_.Call("POST", api::PathOf(resource, ns_), Marked(companion));
    if (absl::IsAlreadyExists(reply.status())) reply = TakeOver(companion);
    if (!reply.ok()) return About(resource, companion.name, reply.status());
    const absl::StatusOr<PartialObject> made = api::Decode<PartialObject>(**reply);
    if (!made.ok()) return made.status();
    made_.push_back({&companion, made->metadata.uid});
    PutLine(stdout, absl::StrCat(NameOf(resource, ns_, companion.name), " created"));
    return absl::OkStatus();
  }

  // Only what an earlier submission of this job left without an owner.
  absl::StatusOr<Bytes> TakeOver(const convert::Companion& companion) {
    const api::Resource& resource = *companion.resource;
    GW_ASSIGN_OR_RETURN(const PartialObject there, caller_.Get<PartialObject>(resource, ns_, companion.name));
    const auto mark = there.metadata.annotations.find(kSubmittedFor);
    const bool ours =
        mark != there.metadata.annotations.end() && mark->second == name_ && there.metadata.owner_references.empty();
    if (!ours) {
      const std::string whose = there.metadata.owner_references.empty()
                                    ? "is there already, and no submission of this job made it"
                                    : absl::StrCat("belongs to ", there.metadata.owner_references.front().kind, " ",
                                                   there.metadata.owner_references.front().name);
      return absl::AlreadyExistsError(absl::StrCat(whose, "; delete it or choose ", submission_.another));
    }
    GW_RETURN_IF_ERROR(
        caller_.Call("DELETE", api::PathOf(resource, ns_, companion.name), DeletionOf(there.metadata.uid, "Background"))
            .status());
    return caller_.Call("POST", api::PathOf(resource, ns_), Marked(companion));
  }

  absl::Status TakeBack(const absl::Status& why) {
    for (const Made& made : made_) {
      const absl::Status gone = caller_
                                    .Call("DELETE", api::PathOf(*made.companion->resource, ns_, made.companion->name),
                                          DeletionOf(made.uid, "Background"))
                                    .status();
      if (gone.ok())
        PutLine(stdout, absl::StrCat(NameOf(*made.companion->resource, ns_, made.companion->name), " deleted again"));
    }
    return why;
  }

  // They go with the Job, and a deletion of the Job in the foreground waits for them.
  absl::Status GiveToJob(const std::string& uid) {
    for (const Made& made : made_) {
      const json::object owner{{"apiVersion", resource_.ApiVersion()},
                               {"kind", std::string(resource_.kind)},
                               {"name", name_},
                               {"uid", uid},
                               {"blockOwnerDeletion", true}};
      const json::object patch{{"metadata", json::object{{"uid", made.uid},
                                                         {"ownerReferences", json::array{owner}},
                                                         {"annotations", json::object{{kSubmittedFor, nullptr}}}}}};
      const absl::Status given = caller_
                                     .Call("PATCH", api::PathOf(*made.companion->resource, ns_, made.companion->name),
                                           api::ToJson(patch), "", "application/merge-patch+json")
                                     .status();
      if (!given.ok()) {
        return absl::Status(given.code(),
                            absl::StrCat(NameOf(*made.companion->resource, ns_, made.companion->name),
                                         ": the job runs, but this will not go with it: ", given.message()));
      }
    }
    return absl::OkStatus();
  }

  ApiCaller& caller_;
  const Submission& submission_;
  const api::Resource& resource_;
  const std::string ns_, name_;
  std::vector<Made> made_;
  Owner owner_;
};

}  // namespace

absl::StatusOr<std::string> ObjectsYaml(const std::vector<convert::Companion>& before, const std::string& job) {
  std::string out;
  for (const convert::Companion& companion : before) {
    GW_ASSIGN_OR_RETURN(const std::string yaml, api::YamlOf(companion.json));
    absl::StrAppend(&out, yaml, "---\n");
  }
  GW_ASSIGN_OR_RETURN(const std::string yaml, api::YamlOf(job));
  return absl::StrCat(out, yaml);
}

absl::StatusOr<api::volcano::VolumeSpec> ClaimOf(const std::string& text) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
  if (parts.first.empty() || !absl::StartsWith(parts.second, "/") || absl::StrContains(parts.second, ":")) {
    return absl::InvalidArgumentError(
        absl::StrCat("--volume-claim ", text, ": write the claim's name and a path, such as corpus:/data"));
  }
  api::volcano::VolumeSpec out;
  out.volume_claim_name = parts.first;
  out.mount_path = parts.second;
  return out;
}

absl::StatusOr<std::string> Submit(ApiCaller& caller, const Submission& submission) {
  return Submitter(caller, submission).Run();
}

}  // namespace gangway::cmd
