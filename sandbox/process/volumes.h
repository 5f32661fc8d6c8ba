// What the volumes of a pod are on this machine, and where its containers see them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sandbox/kubelet/hosted_pod.h"
#include "sandbox/process/environment.h"
#include "sandbox/process/orders.h"

namespace gangway::sandbox {

struct VolumeFile {
  std::string path, content;  // below the volume
  int mode = 0644;
  std::optional<TokenWish> token{};  // it is this one, and written anew before it ends
};

struct PodVolume {
  enum class Kind {
    kEmpty,   // a folder that goes with the pod
    kMemory,  // the same, in memory
    kFiles,   // a folder with these files, which goes with the pod
    kHost,    // `folder`, of the machine
    kClaim,   // `folder`, of its claim; made when it is not there
  };
  std::string name;
  Kind kind = Kind::kEmpty;
  std::string folder;
  std::string host_type;          // kHost: DirectoryOrCreate, File...
  std::int64_t memory_bytes = 0;  // kMemory; 0: no limit
  std::vector<VolumeFile> files;
  bool read_only = false;
};

struct VolumeFolders {
  std::string pod;             // of the pod's own volumes
  std::string claims;          // NAMESPACE/CLAIM below
  bool claims_by_name = true;  // false: NAMESPACE/CLAIM/UID
};

// Of the claim of this name and UID.
std::string ClaimFolder(const VolumeFolders& folders, absl::string_view ns, absl::string_view claim,
                        absl::string_view uid);

// Every volume of the pod. InvalidArgument in a kubelet's words, `MountVolume.SetUp failed for volume "x" : ...`: what
// it is cannot be had here, or names a file outside of itself.
absl::StatusOr<std::vector<PodVolume>> VolumesOf(const PodKnowledge& facts, const VolumeFolders& folders);

// Which tokens they are to have, each once.
std::set<TokenWish> TokenWishesOf(const HostedPod& pod);

// Where a container sees them, in the order of their depth. `declared`: what a subPathExpr may name. InvalidArgument
// names the mount that is wrong.
absl::StatusOr<std::vector<Mount>> MountsOf(const HostedContainer& container, const std::vector<PodVolume>& volumes,
                                            const Environment& declared);

// Whether `path` is relative and stays where it is: no part of it is "..".
bool StaysBelow(absl::string_view path);

}  // namespace gangway::sandbox
