// What a container's image is on this machine: by default the machine's own programs, or a folder that --image names.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sandbox/process/environment.h"

namespace gangway::sandbox {

struct ImageFolder {
  std::string name;     // of images, with or without tag; "*": of all
  std::string folder;   // absolute
  bool python = false;  // a Python virtual environment; otherwise it is what the container sees as /
};

// "NAME=FOLDER". InvalidArgument says what is wrong with it. Whether it is a virtual environment the caller finds out.
absl::StatusOr<ImageFolder> ParseImageFolder(absl::string_view text);

// The first that fits an image; nullptr: the machine's programs.
const ImageFolder* FolderOf(const std::vector<ImageFolder>& folders, absl::string_view image);

// The environment that an image brings: PATH and HOME of whoever started the sandbox where the machine's programs run,
// its own where it is a folder of its own.
Environment EnvironmentOfImage(const ImageFolder* folder, absl::string_view host_path, absl::string_view host_home);

}  // namespace gangway::sandbox
