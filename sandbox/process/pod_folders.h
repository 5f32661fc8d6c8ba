// The files of pods on this machine: volumes, /etc/hosts, what containers write, what they leave behind.
//
//   FOLDER/pods/UID/volumes/NAME, /hosts, /runs/CONTAINER/NUMBER/scratch and /message
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sandbox/process/volumes.h"

namespace gangway::sandbox {

class PodFolders {
 public:
  // `folder` is there. Claims are kept below `claims`; `claims_by_name`: see VolumeFolders.
  PodFolders(std::string folder, std::string claims, bool claims_by_name = true)
      : folder_(std::move(folder)), claims_(std::move(claims)), claims_by_name_(claims_by_name) {}

  VolumeFolders Of(const std::string& uid) const;
  std::string Hosts(const std::string& uid) const;
  std::string Run(const std::string& uid, absl::string_view container, int number) const;
  std::string Message(const std::string& uid, absl::string_view container, int number) const;

  // Errors in a kubelet's words. A folder of the machine that is to be there and is not is one; where no type was asked
  // for, an empty folder takes its place, and `volume` says so. `group`: to whom what is not the machine's is given.
  absl::Status MakeVolume(const std::string& uid, PodVolume& volume, std::optional<std::int64_t> group = {}) const;
  // Of a volume that was made; in place, so that containers which have it mounted see the new text.
  absl::Status RewriteFile(const PodVolume& volume, const VolumeFile& file) const;
  // In place: containers that have it mounted see the new text.
  absl::Status WriteHosts(const std::string& uid, absl::string_view text) const;
  // A resolv.conf for pods that reach no name server, the same for all; its path.
  absl::StatusOr<std::string> MakeResolver() const;
  // The folders of a run, its message empty.
  absl::Status MakeRun(const std::string& uid, absl::string_view container, int number) const;
  // What it left there, at most 4096 bytes; "" when there is nothing.
  std::string ReadMessage(const std::string& uid, absl::string_view container, int number) const;

 private:
  std::string Pod(const std::string& uid) const;

  const std::string folder_, claims_;
  const bool claims_by_name_;
};

}  // namespace gangway::sandbox
