// Whether the files of an installation are those that were packaged.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gangway::cmd {

// The SHA-256 of a file, in lower case hex. NotFound and the like, with its path, when it cannot be read.
absl::StatusOr<std::string> Sha256OfFile(const std::filesystem::path& file);

struct FileSum {
  std::string sha256, path;  // relative to the installation's folder
};
// What sha256sum writes: "<64 hex digits>  <path>" a line. InvalidArgument names the line that is none.
absl::StatusOr<std::vector<FileSum>> ReadSums(absl::string_view text);

struct FilesReport {
  int files = 0;                      // that were compared
  std::vector<std::string> findings;  // "bin/gangway: is another file than the one that was packaged"
};
// Of a program in PREFIX/bin: the files that PREFIX/share/gangway/SHA256SUMS names (scripts/dist, scripts/image write
// it). NotFound: there is no such list, as where the program was built and not installed.
absl::StatusOr<FilesReport> CheckFiles(const std::filesystem::path& program);

}  // namespace gangway::cmd
