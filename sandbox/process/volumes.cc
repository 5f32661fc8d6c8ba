#include "sandbox/process/volumes.h"

#include <limits.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace gangway::sandbox {
namespace {

absl::Status CannotMount(const std::string& volume, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("MountVolume.SetUp failed for volume \"", volume, "\" : ", why));
}

// Of a config map or a secret: all keys, or those of `items` under their paths.
void AddFiles(const SourceObject* object, bool secret, const std::vector<KeyToPath>& items, int mode,
              std::vector<VolumeFile>& out) {
  if (object == nullptr) return;  // optional
  if (!items.empty()) {
    for (const KeyToPath& item : items) {
      if (object->Has(item.key))
        out.push_back({item.path, ValueOf(*object, item.key, secret), item.mode.value_or(mode)});
    }
    return;
  }
  for (const auto* const data : {&object->data, &object->binary_data}) {
    for (const auto& [key, value] : *data) out.push_back({key, ValueOf(*object, key, secret), mode});
  }
}

absl::Status AddDownward(const PodKnowledge& facts, const DownwardVolume& source, int mode,
                         std::vector<VolumeFile>& out) {
  for (const DownwardFile& item : source.items) {
    const int own = item.mode.value_or(mode);
    if (item.field) {
      GW_ASSIGN_OR_RETURN(std::string value, FieldOf(facts, item.field->field_path));
      out.push_back({item.path, std::move(value), own});
    } else if (item.resource) {
      static const HostedContainer kNobody;
      GW_ASSIGN_OR_RETURN(std::string value, ResourceOf(facts, kNobody, *item.resource));
      out.push_back({item.path, std::move(value), own});
    }
  }
  return absl::OkStatus();
}

absl::Status AddProjected(const PodKnowledge& facts, const ProjectedVolume& source, std::vector<VolumeFile>& out) {
  const int mode = source.default_mode.value_or(0644);
  for (const Projection& part : source.sources) {
    if (part.config_map)
      AddFiles(facts.sources.config_map(part.config_map->name), false, part.config_map->items, mode, out);
    if (part.secret) AddFiles(facts.sources.secret(part.secret->name), true, part.secret->items, mode, out);
    if (part.downward) GW_RETURN_IF_ERROR(AddDownward(facts, *part.downward, mode, out));
    if (part.token) {
      const TokenWish wish{part.token->audience, part.token->expiration_seconds};
      const auto token = facts.tokens == nullptr ? PodTokens::const_iterator() : facts.tokens->find(wish);
      if (facts.tokens == nullptr || token == facts.tokens->end())
        return absl::InvalidArgumentError("failed to fetch token: there is none");
      out.push_back({part.token->path, token->second, mode, wish});
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<PodVolume> VolumeOf(const PodKnowledge& facts, const HostedVolume& asked, const VolumeFolders& folders) {
  PodVolume out;
  out.name = asked.name;
  out.folder = absl::StrCat(folders.pod, "/", asked.name);
  const auto claim = [&](const std::string& name) {
    out.kind = PodVolume::Kind::kClaim;
    const std::string* const uid = facts.sources.claim_uid ? facts.sources.claim_uid(name) : nullptr;
    out.folder = ClaimFolder(folders, facts.pod.metadata.ns, name, uid == nullptr ? "" : *uid);
  };
  if (asked.empty_dir) {
    out.kind = asked.empty_dir->medium == "Memory" ? PodVolume::Kind::kMemory : PodVolume::Kind::kEmpty;
    if (asked.empty_dir->size_limit && out.kind == PodVolume::Kind::kMemory) {
      GW_ASSIGN_OR_RETURN(out.memory_bytes, asked.empty_dir->size_limit->Units());
    }
  } else if (asked.host_path) {
    out.kind = PodVolume::Kind::kHost;
    out.folder = asked.host_path->path;
    out.host_type = asked.host_path->type;
    if (!absl::StartsWith(out.folder, "/"))
      return absl::InvalidArgumentError(absl::StrCat("hostPath ", out.folder, " is no absolute path"));
  } else if (asked.claim) {
    claim(asked.claim->claim_name);
    out.read_only = asked.claim->read_only;
  } else if (!asked.ephemeral.empty()) {
    out.kind = PodVolume::Kind::kEmpty;  // its claim comes and goes with the pod, and so does what is on it
  } else {
    out.kind = PodVolume::Kind::kFiles;
    out.read_only = true;
    if (asked.config_map) {
      AddFiles(facts.sources.config_map(asked.config_map->name), false, asked.config_map->items,
               asked.config_map->default_mode.value_or(0644), out.files);
    } else if (asked.secret) {
      AddFiles(facts.sources.secret(asked.secret->name), true, asked.secret->items,
               asked.secret->default_mode.value_or(0644), out.files);
    } else if (asked.downward) {
      GW_RETURN_IF_ERROR(AddDownward(facts, *asked.downward, asked.downward->default_mode.value_or(0644), out.files));
    } else if (asked.projected) {
      GW_RETURN_IF_ERROR(AddProjected(facts, *asked.projected, out.files));
    } else {
      return absl::InvalidArgumentError(
          "volumes of this kind cannot be had on this machine; there are emptyDir, hostPath, persistentVolumeClaim, "
          "ephemeral, configMap, secret, downwardAPI and projected");
    }
    for (const VolumeFile& file : out.files) {
      if (!StaysBelow(file.path))
        return absl::InvalidArgumentError(absl::StrCat("path ", file.path, " leaves the volume"));
    }
  }
  return out;
}

std::size_t Depth(absl::string_view path) {
  return static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
}

}  // namespace

bool StaysBelow(absl::string_view path) {
  if (path.empty() || path.front() == '/' || absl::StrContains(path, '\0')) return false;
  const std::vector<absl::string_view> parts = absl::StrSplit(path, '/');
  return std::find(parts.begin(), parts.end(), "..") == parts.end();
}

std::string ClaimFolder(const VolumeFolders& folders, absl::string_view ns, absl::string_view claim,
                        absl::string_view uid) {
  std::string out = absl::StrCat(folders.claims, "/", ns, "/", claim);
  if (!folders.claims_by_name && !uid.empty()) absl::StrAppend(&out, "/", uid);
  return out;
}

absl::StatusOr<std::vector<PodVolume>> VolumesOf(const PodKnowledge& facts, const VolumeFolders& folders) {
  std::vector<PodVolume> out;
  for (const HostedVolume& asked : facts.pod.spec.volumes) {
    auto volume = VolumeOf(facts, asked, folders);
    if (!volume.ok()) return CannotMount(asked.name, volume.status().message());
    out.push_back(*std::move(volume));
  }
  return out;
}

std::set<TokenWish> TokenWishesOf(const HostedPod& pod) {
  std::set<TokenWish> out;
  for (const HostedVolume& volume : pod.spec.volumes) {
    if (!volume.projected) continue;
    for (const Projection& part : volume.projected->sources)
      if (part.token) out.insert({part.token->audience, part.token->expiration_seconds});
  }
  return out;
}

absl::StatusOr<std::vector<Mount>> MountsOf(const HostedContainer& container, const std::vector<PodVolume>& volumes,
                                            const Environment& declared) {
  std::vector<Mount> out;
  for (const VolumeMount& asked : container.volume_mounts) {
    std::string missing;
    const auto find = [&](absl::string_view name) -> const std::string* {
      for (const auto& [known, value] : declared)
        if (known == name && !value.empty()) return &value;
      absl::StrAppend(&missing, missing.empty() ? "" : ", ", name);
      return nullptr;
    };
    const auto volume =
        std::find_if(volumes.begin(), volumes.end(), [&](const PodVolume& each) { return each.name == asked.name; });
    const auto wrong = [&](absl::string_view why) {
      return absl::InvalidArgumentError(absl::StrCat("mount ", asked.mount_path, " of volume ", asked.name, ": ", why));
    };
    if (volume == volumes.end()) return wrong("there is no such volume");
    if (asked.mount_path.empty() || !StaysBelow(asked.mount_path.substr(asked.mount_path.front() == '/' ? 1 : 0)))
      return wrong("must be a folder below /");
    const std::string sub_path =
        asked.sub_path_expr.empty() ? asked.sub_path : ExpandReferences(asked.sub_path_expr, find);
    if (!missing.empty()) return wrong(absl::StrCat("missing value for ", missing));
    if (sub_path.size() >= PATH_MAX) return wrong("its subPath is longer than a path may be");
    if (!sub_path.empty() && !StaysBelow(sub_path))
      return wrong(absl::StrCat("subPath ", sub_path, " leaves the volume"));
    Mount mount;
    mount.source = volume->folder;
    mount.sub_path = sub_path;
    mount.make_sub_path = !volume->read_only;
    mount.target = absl::StartsWith(asked.mount_path, "/") ? asked.mount_path : absl::StrCat("/", asked.mount_path);
    mount.read_only = asked.read_only || volume->read_only;
    out.push_back(std::move(mount));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Mount& a, const Mount& b) { return Depth(a.target) < Depth(b.target); });
  return out;
}

}  // namespace gangway::sandbox
