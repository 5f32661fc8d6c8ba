#include "sandbox/kubelet/claim_sync.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/json.h"
#include "api/selector.h"

namespace gangway::sandbox {
namespace {

using api::JsonWriter;

constexpr absl::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
constexpr absl::string_view kProvisionedBy = "pv.kubernetes.io/provisioned-by";

std::string Annotation(const api::ObjectMeta& metadata, absl::string_view key) {
  const auto it = metadata.annotations.find(std::string(key));
  return it == metadata.annotations.end() ? std::string() : it->second;
}

api::Quantity Storage(const api::ResourceList& list) {
  const auto it = list.find("storage");
  return it == list.end() ? api::Quantity() : it->second;
}

bool RefersTo(const Volume& volume, const Claim& claim) {
  return volume.spec.claim && volume.spec.claim->ns == claim.metadata.ns &&
         volume.spec.claim->name == claim.metadata.name &&
         (volume.spec.claim->uid.empty() || volume.spec.claim->uid == claim.metadata.uid);
}

// pkg/volume/util: FindMatchingVolume
bool Fits(const Volume& volume, const Claim& claim) {
  if (volume.metadata.deleting() || (volume.spec.claim ? !RefersTo(volume, claim) : volume.status.phase != "Available"))
    return false;
  const auto filesystem = [](const std::string& mode) { return mode.empty() || mode == "Filesystem"; };
  if (filesystem(volume.spec.volume_mode) != filesystem(claim.spec.volume_mode)) return false;
  if (volume.spec.storage_class_name != claim.spec.storage_class_name.value_or("")) return false;
  if (Storage(volume.spec.capacity) < Storage(claim.spec.resources.requests)) return false;
  const auto offers = [&](const std::string& mode) {
    return std::find(volume.spec.access_modes.begin(), volume.spec.access_modes.end(), mode) !=
           volume.spec.access_modes.end();
  };
  if (!std::all_of(claim.spec.access_modes.begin(), claim.spec.access_modes.end(), offers)) return false;
  if (claim.spec.selector.empty()) return true;
  const auto selector = api::LabelSelector::FromJson(claim.spec.selector.json);
  return selector.ok() && selector->Matches(volume.metadata.labels);
}

struct EphemeralTemplate {
  api::ObjectMeta metadata;
  api::Document spec;
  static constexpr std::string_view kName = "PersistentVolumeClaimTemplate";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&EphemeralTemplate::metadata>("metadata", ""),
                           api::MakeField<&EphemeralTemplate::spec>("spec", ""));
  }
};
struct EphemeralSource {
  EphemeralTemplate claim;
  static constexpr std::string_view kName = "EphemeralVolumeSource";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&EphemeralSource::claim>("volumeClaimTemplate", ""));
  }
};
void WriteClaimRef(JsonWriter& w, const Claim& claim) {
  w.Key("claimRef").BeginObject().Field("apiVersion", "v1").Field("kind", "PersistentVolumeClaim");
  w.Field("namespace", claim.metadata.ns)
      .Field("name", claim.metadata.name)
      .Field("uid", claim.metadata.uid)
      .EndObject();
}
void WriteTexts(JsonWriter& w, absl::string_view key, const std::vector<std::string>& texts) {
  w.Key(key).BeginArray();
  for (const std::string& text : texts) w.String(text);
  w.EndArray();
}

kube::Write Change(const api::Resource& resource, const api::ObjectMeta& metadata, absl::string_view subresource,
                   std::string body) {
  kube::Write write;
  write.verb = kube::Verb::kMergePatch;
  write.resource = &resource;
  write.subresource = std::string(subresource);
  write.ns = metadata.ns;
  write.name = metadata.name;
  write.uid = metadata.uid;
  write.resource_version = metadata.resource_version;
  write.body = std::move(body);
  return write;
}

class ClaimPass {
 public:
  explicit ClaimPass(const ClaimView& view) : view_(view), claim_(view.claim) {}

  kube::Plan Run() {
    if (claim_.bound()) {
      if (Named() == nullptr && !claim_.metadata.deleting()) SetPhase("Lost", nullptr);
      return std::move(plan_);
    }
    if (claim_.metadata.deleting() || claim_.status.phase == "Lost") return {};
    if (!claim_.spec.volume_name.empty()) {
      const Volume* const volume = Named();
      if (volume != nullptr && RefersTo(*volume, claim_) && !volume->spec.claim->uid.empty()) {
        SetPhase("Bound", volume);
      } else if (volume != nullptr && (!volume->spec.claim || RefersTo(*volume, claim_))) {
        Bind(*volume);
      }
      return std::move(plan_);
    }
    const Volume* best = nullptr;
    for (const Volume* volume : view_.volumes) {
      if (!Fits(*volume, claim_)) continue;
      if (volume->spec.claim) {  // made for it
        best = volume;
        break;
      }
      if (best == nullptr || Storage(volume->spec.capacity) < Storage(best->spec.capacity)) best = volume;
    }
    if (best != nullptr && (best->spec.claim || !WaitsForConsumer())) {
      Bind(*best);
    } else {
      Provision();
    }
    return std::move(plan_);
  }

 private:
  const Volume* Named() const {
    const auto it = std::find_if(view_.volumes.begin(), view_.volumes.end(),
                                 [&](const Volume* v) { return v->metadata.name == claim_.spec.volume_name; });
    return it == view_.volumes.end() ? nullptr : *it;
  }
  bool WaitsForConsumer() const {
    return view_.storage_class != nullptr && view_.storage_class->binding_mode == "WaitForFirstConsumer" &&
           Annotation(claim_.metadata, kSelectedNode).empty();
  }

  // Both name each other; their phases follow.
  void Bind(const Volume& volume) {
    if (!volume.spec.claim || volume.spec.claim->uid.empty()) {
      std::string body;
      JsonWriter w(body);
      w.BeginObject().Key("spec").BeginObject();
      WriteClaimRef(w, claim_);
      w.EndObject().EndObject();
      plan_.stages.push_back({Change(api::kPersistentVolumes, volume.metadata, "", std::move(body))});
    }
    if (claim_.spec.volume_name.empty()) {
      std::string body;
      JsonWriter(body)
          .BeginObject()
          .Key("metadata")
          .BeginObject()
          .Key("annotations")
          .BeginObject()
          .Field("pv.kubernetes.io/bind-completed", "yes")
          .Field("pv.kubernetes.io/bound-by-controller", "yes")
          .EndObject()
          .EndObject()
          .Key("spec")
          .BeginObject()
          .Field("volumeName", volume.metadata.name)
          .EndObject()
          .EndObject();
      plan_.stages.push_back({Change(api::kPersistentVolumeClaims, claim_.metadata, "", std::move(body))});
    }
  }

  void SetPhase(absl::string_view phase, const Volume* volume) {
    std::string body;
    JsonWriter w(body);
    w.BeginObject().Key("status").BeginObject().Field("phase", phase);
    if (volume != nullptr) {
      WriteTexts(w, "accessModes", volume->spec.access_modes);
      w.Key("capacity").BeginObject().Field("storage", Storage(volume->spec.capacity).ToString()).EndObject();
    }
    w.EndObject().EndObject();
    plan_.stages.push_back({Change(api::kPersistentVolumeClaims, claim_.metadata, "status", std::move(body))});
    if (volume == nullptr)
      Note(true, "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
  }

  // pv_controller.go: syncUnboundClaim, provisionClaim
  void Provision() {
    const std::string name = claim_.spec.storage_class_name.value_or("");
    if (name.empty()) {
      return Note(false, "FailedBinding", "no persistent volumes available for this claim and no storage class is set");
    }
    if (view_.storage_class == nullptr) {
      return Note(true, "ProvisioningFailed", absl::StrCat("storageclass.storage.k8s.io \"", name, "\" not found"));
    }
    if (WaitsForConsumer())
      return Note(false, "WaitForFirstConsumer", "waiting for first consumer to be created before binding");
    if (view_.storage_class->provisioner != kProvisioner) {
      return Note(false, "ExternalProvisioning",
                  absl::StrCat("Waiting for a volume to be created either by the external provisioner '",
                               view_.storage_class->provisioner,
                               "' or manually by the system administrator. If volume creation is delayed, please "
                               "verify that the provisioner is running and "
                               "correctly registered."));
    }
    const std::string volume = absl::StrCat("pvc-", claim_.metadata.uid);
    kube::Write write;
    write.verb = kube::Verb::kCreate;
    write.resource = &api::kPersistentVolumes;
    write.name = volume;
    JsonWriter w(write.body);
    w.BeginObject().Field("apiVersion", "v1").Field("kind", "PersistentVolume");
    w.Key("metadata")
        .BeginObject()
        .Field("name", volume)
        .Key("annotations")
        .BeginObject()
        .Field(kProvisionedBy, kProvisioner)
        .EndObject()
        .EndObject();
    w.Key("spec")
        .BeginObject()
        .Key("capacity")
        .BeginObject()
        .Field("storage", Storage(claim_.spec.resources.requests).ToString())
        .EndObject();
    WriteTexts(w, "accessModes", claim_.spec.access_modes);
    WriteClaimRef(w, claim_);
    w.Key("hostPath").BeginObject().Field("path", absl::StrCat("/var/lib/sandbox/volumes/", volume)).EndObject();
    w.Field("persistentVolumeReclaimPolicy", view_.storage_class->reclaim_policy).Field("storageClassName", name);
    w.Field("volumeMode", claim_.spec.volume_mode.empty() ? "Filesystem" : claim_.spec.volume_mode)
        .EndObject()
        .EndObject();
    plan_.stages.push_back({std::move(write)});
    Note(false, "ProvisioningSucceeded", absl::StrCat("Successfully provisioned volume ", volume));
  }

  void Note(bool warning, absl::string_view reason, std::string message) {
    kube::EventNote note;
    note.type = warning ? kube::EventNote::Type::kWarning : kube::EventNote::Type::kNormal;
    note.reason = std::string(reason);
    note.message = std::move(message);
    note.regarding = {"v1",
                      "PersistentVolumeClaim",
                      claim_.metadata.ns,
                      claim_.metadata.name,
                      claim_.metadata.uid,
                      claim_.metadata.resource_version,
                      ""};
    plan_.events.push_back(std::move(note));
  }

  const ClaimView& view_;
  const Claim& claim_;
  kube::Plan plan_;
};

}  // namespace

kube::Plan SyncClaim(const ClaimView& view) { return ClaimPass(view).Run(); }

kube::Plan MakeEphemeralClaims(const HostedPod& pod, absl::FunctionRef<bool(const std::string& claim)> is_there) {
  kube::Plan plan;
  if (pod.metadata.deleting() || pod.ended()) return plan;
  std::vector<kube::Write> writes;
  for (const HostedVolume& volume : pod.spec.volumes) {
    const std::string name = absl::StrCat(pod.metadata.name, "-", volume.name);
    if (volume.ephemeral.empty() || is_there(name)) continue;
    EphemeralSource source;
    if (!api::DecodeInto(volume.ephemeral.json, api::TypeOf<EphemeralSource>(), &source).status.ok()) continue;
    const EphemeralTemplate& like = source.claim;
    kube::Write& write = writes.emplace_back();
    write.verb = kube::Verb::kCreate;
    write.resource = &api::kPersistentVolumeClaims;
    write.ns = pod.metadata.ns;
    write.name = name;
    JsonWriter w(write.body);
    w.BeginObject().Field("apiVersion", "v1").Field("kind", "PersistentVolumeClaim").Key("metadata").BeginObject();
    w.Field("name", name).Field("namespace", pod.metadata.ns);
    for (const auto& [key, texts] :
         {std::pair("labels", &like.metadata.labels), std::pair("annotations", &like.metadata.annotations)}) {
      w.Key(key).BeginObject();
      for (const auto& [label, value] : *texts) w.Field(label, value);
      w.EndObject();
    }
    w.Key("ownerReferences")
        .BeginArray()
        .BeginObject()
        .Field("apiVersion", "v1")
        .Field("kind", "Pod")
        .Field("name", pod.metadata.name);
    w.Field("uid", pod.metadata.uid)
        .Field("controller", true)
        .Field("blockOwnerDeletion", true)
        .EndObject()
        .EndArray()
        .EndObject();
    w.Key("spec").Raw(like.spec.empty() ? "{}" : like.spec.json).EndObject();
  }
  if (!writes.empty()) plan.stages.push_back(std::move(writes));
  return plan;
}

bool GoesWithItsClaim(const Volume& volume) {
  return volume.spec.reclaim_policy == "Delete" && Annotation(volume.metadata, kProvisionedBy) == kProvisioner;
}

kube::Plan SyncVolume(const Volume& volume, const Claim* claim) {
  kube::Plan plan;
  if (volume.metadata.deleting()) return plan;
  std::string phase = "Available";
  if (volume.spec.claim && !volume.spec.claim->uid.empty()) {
    const bool there = claim != nullptr && claim->metadata.uid == volume.spec.claim->uid;
    phase = there ? "Bound" : "Released";
    if (!there && GoesWithItsClaim(volume)) {
      kube::Write write;
      write.verb = kube::Verb::kDelete;
      write.resource = &api::kPersistentVolumes;
      write.name = volume.metadata.name;
      write.uid = volume.metadata.uid;
      plan.stages.push_back({std::move(write)});
      return plan;
    }
  }
  if (volume.status.phase == phase) return plan;
  std::string body;
  JsonWriter(body).BeginObject().Key("status").BeginObject().Field("phase", phase).EndObject().EndObject();
  plan.stages.push_back({Change(api::kPersistentVolumes, volume.metadata, "status", std::move(body))});
  return plan;
}

}  // namespace gangway::sandbox
