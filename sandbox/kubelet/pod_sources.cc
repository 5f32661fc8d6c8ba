#include "sandbox/kubelet/pod_sources.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gangway::sandbox {
namespace {

enum class Source { kConfigMap, kSecret };

class Search {
 public:
  Search(const HostedPod& pod, const SourceLookup& lookup) : pod_(pod), lookup_(lookup) {}

  MissingSources Run() {
    for (const HostedVolume& volume : pod_.spec.volumes) {
      std::vector<std::string> wrong;
      if (volume.config_map)
        Keep(OfVolume(Source::kConfigMap, volume.config_map->name, volume.config_map->items,
                      volume.config_map->optional),
             wrong);
      if (volume.secret)
        Keep(OfVolume(Source::kSecret, volume.secret->name, volume.secret->items, volume.secret->optional), wrong);
      if (volume.projected) {
        for (const Projection& source : volume.projected->sources) {
          if (source.config_map)
            Keep(OfVolume(Source::kConfigMap, source.config_map->name, source.config_map->items,
                          source.config_map->optional),
                 wrong);
          if (source.secret)
            Keep(OfVolume(Source::kSecret, source.secret->name, source.secret->items, source.secret->optional), wrong);
        }
      }
      // k8s.io/apimachinery, util/errors: Aggregate
      if (!wrong.empty()) {
        const std::string all = absl::StrJoin(wrong, ", ");
        out_.mounts.push_back(absl::StrCat("MountVolume.SetUp failed for volume \"", volume.name,
                                           "\" : ", wrong.size() == 1 ? all : absl::StrCat("[", all, "]")));
      }
      if (volume.claim) LookForClaim(volume.name, volume.claim->claim_name);
      if (!volume.ephemeral.empty()) LookForClaim(volume.name, absl::StrCat(pod_.metadata.name, "-", volume.name));
    }
    for (const auto* const containers : {&pod_.spec.init_containers, &pod_.spec.containers}) {
      for (const HostedContainer& container : *containers) LookForEnvironment(container);
    }
    for (const SourceKey& secret : pod_.spec.image_pull_secrets) {
      if (!secret.name.empty() && lookup_.secret(secret.name) == nullptr) out_.pull_secrets.push_back(secret.name);
    }
    return std::move(out_);
  }

 private:
  static void Keep(std::string why, std::vector<std::string>& wrong) {
    if (!why.empty()) wrong.push_back(std::move(why));
  }
  const SourceObject* Find(Source source, const std::string& name) const {
    return source == Source::kConfigMap ? lookup_.config_map(name) : lookup_.secret(name);
  }
  static std::string NotFound(Source source, const std::string& name) {
    return absl::StrCat(source == Source::kConfigMap ? "configmap" : "secret", " \"", name, "\" not found");
  }

  // "" when it can be mounted (pkg/volume/configmap, pkg/volume/secret: MakePayload).
  std::string OfVolume(Source source, const std::string& name, const std::vector<KeyToPath>& items,
                       bool optional) const {
    const SourceObject* const object = Find(source, name);
    if (object == nullptr) return optional ? "" : NotFound(source, name);
    for (const KeyToPath& item : items) {
      if (optional || object->Has(item.key)) continue;
      return absl::StrCat(source == Source::kConfigMap ? "configmap references non-existent config key: "
                                                       : "references non-existent secret key: ",
                          item.key);
    }
    return "";
  }

  // pkg/kubelet/volumemanager/populator: getPVCExtractPV
  void LookForClaim(const std::string& volume, const std::string& claim) {
    const std::string* const phase = lookup_.claim_phase(claim);
    if (phase != nullptr && *phase == "Bound") return;
    const std::string why =
        phase == nullptr
            ? absl::StrCat("failed to fetch PVC from API server: persistentvolumeclaims \"", claim, "\" not found")
            : "PVC is not bound";
    out_.mounts.push_back(absl::StrCat("Unable to attach or mount volumes: unmounted volumes=[", volume,
                                       "], unattached volumes=[], failed to process volumes=[", volume,
                                       "]: error processing PVC ", pod_.metadata.ns, "/", claim, ": ", why));
  }

  // pkg/kubelet: makeEnvironmentVariables; the first that is missing is told.
  void LookForEnvironment(const HostedContainer& container) {
    for (const EnvFromSource& source : container.env_from) {
      if (source.config_map && Lacks(container.name, Source::kConfigMap, *source.config_map)) return;
      if (source.secret && Lacks(container.name, Source::kSecret, *source.secret)) return;
    }
    for (const EnvVar& variable : container.env) {
      if (!variable.value_from) continue;
      if (variable.value_from->config_map &&
          Lacks(container.name, Source::kConfigMap, *variable.value_from->config_map))
        return;
      if (variable.value_from->secret && Lacks(container.name, Source::kSecret, *variable.value_from->secret)) return;
    }
  }
  bool Lacks(const std::string& container, Source source, const SourceKey& wanted) {
    const SourceObject* const object = Find(source, wanted.name);
    if (wanted.optional || (object != nullptr && (wanted.key.empty() || object->Has(wanted.key)))) return false;
    out_.containers[container] = object == nullptr ? NotFound(source, wanted.name)
                                                   : absl::StrCat("couldn't find key ", wanted.key, " in ",
                                                                  source == Source::kConfigMap ? "ConfigMap" : "Secret",
                                                                  " ", pod_.metadata.ns, "/", wanted.name);
    return true;
  }

  const HostedPod& pod_;
  const SourceLookup& lookup_;
  MissingSources out_;
};

}  // namespace

MissingSources FindMissingSources(const HostedPod& pod, const SourceLookup& lookup) {
  return Search(pod, lookup).Run();
}

}  // namespace gangway::sandbox
