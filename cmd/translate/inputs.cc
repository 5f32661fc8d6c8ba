#include "cmd/translate/inputs.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace gangway::cmd {
namespace {

namespace fs = std::filesystem;

// One byte more than a manifest may have, so that the reader can say that it is too large.
std::string ReadSome(std::istream& in) {
  const std::size_t most = api::ManifestLimits().max_bytes + 1;
  std::string text;
  char chunk[64 << 10];
  while (text.size() < most && in.good()) {
    in.read(chunk, static_cast<std::streamsize>(std::min(sizeof(chunk), most - text.size())));
    text.append(chunk, static_cast<std::size_t>(in.gcount()));
  }
  return text;
}

// The manifests right in a folder, by name.
absl::StatusOr<std::vector<std::string>> FilesIn(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string extension = at->path().extension().string();
    std::error_code ignored;  // of a link that leads nowhere: reading it says so
    const bool manifest = extension == ".yaml" || extension == ".yml" || extension == ".json";
    if (manifest && !at->is_directory(ignored)) files.push_back(at->path().string());
  }
  if (error) return absl::NotFoundError(absl::StrCat(folder, ": ", error.message()));
  if (files.empty())
    return absl::NotFoundError(absl::StrCat(folder, ": there is no .yaml, .yml or .json file in this folder"));
  std::sort(files.begin(), files.end());
  return files;
}

absl::StatusOr<std::vector<api::MixedDocument>> ReadInput(const std::string& path) {
  if (path == "-") return api::ReadMixedManifest(ReadSome(std::cin), "standard input");
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": ", std::strerror(errno)));
  return api::ReadMixedManifest(ReadSome(file), path);
}

}  // namespace

void AddInputs(CommandLine command, std::vector<std::string>& inputs) {
  command
      .Add("-f,--filename", inputs,
           "file, folder (its .yaml, .yml and .json files), or - for standard input (repeatable)")
      .Required();
}

std::vector<api::MixedDocument> ReadInputs(const std::vector<std::string>& inputs,
                                           std::vector<std::string>& unreadable) {
  std::vector<api::MixedDocument> documents;
  const auto cannot = [&](const absl::Status& status) { unreadable.emplace_back(status.message()); };
  for (const std::string& input : inputs) {
    std::vector<std::string> files{input};
    std::error_code ignored;  // what is no folder is read as a file
    const bool folder = input != "-" && fs::is_directory(input, ignored);
    if (folder) {
      absl::StatusOr<std::vector<std::string>> found = FilesIn(input);
      if (!found.ok()) cannot(found.status());
      files = found.ok() ? *std::move(found) : std::vector<std::string>();
    }
    for (const std::string& file : files) {
      absl::StatusOr<std::vector<api::MixedDocument>> read = ReadInput(file);
      if (!read.ok()) {
        cannot(read.status());
      } else if (read->empty() && !folder) {
        unreadable.push_back(absl::StrCat(file == "-" ? "standard input" : file, ": there is no object in it"));
      } else {
        std::move(read->begin(), read->end(), std::back_inserter(documents));
      }
    }
  }
  return documents;
}

}  // namespace gangway::cmd
