#include "sandbox/process/image.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace gangway::sandbox {
namespace {

constexpr absl::string_view kUsualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// "registry:5000/team/train:v1@sha256:..." without tag and digest.
absl::string_view WithoutTag(absl::string_view image) {
  image = image.substr(0, image.find('@'));
  const std::size_t slash = image.rfind('/'), colon = image.rfind(':');
  const bool tagged = colon != absl::string_view::npos && (slash == absl::string_view::npos || colon > slash);
  return tagged ? image.substr(0, colon) : image;
}

}  // namespace

absl::StatusOr<ImageFolder> ParseImageFolder(absl::string_view text) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
  const auto wrong = [&](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("--image ", text, ": ", why));
  };
  if (parts.first.empty() || parts.second.empty()) return wrong("write NAME=FOLDER, such as paddle:2.6=/opt/venv");
  if (parts.second.find_first_of(",:\\") != std::string::npos)
    return wrong("a folder with a comma, a colon or a backslash in its name cannot be mounted");
  return ImageFolder{parts.first, parts.second};
}

const ImageFolder* FolderOf(const std::vector<ImageFolder>& folders, absl::string_view image) {
  for (const ImageFolder& each : folders) {
    if (each.name == "*" || each.name == image || each.name == WithoutTag(image)) return &each;
  }
  return nullptr;
}

Environment EnvironmentOfImage(const ImageFolder* folder, absl::string_view host_path, absl::string_view host_home) {
  const std::string path(host_path.empty() ? kUsualPath : host_path), home(host_home.empty() ? "/" : host_home);
  if (folder == nullptr) return {{"PATH", path}, {"HOME", home}};
  if (!folder->python) return {{"PATH", std::string(kUsualPath)}, {"HOME", "/root"}};
  return {{"PATH", absl::StrCat(folder->folder, "/bin:", path)}, {"HOME", home}, {"VIRTUAL_ENV", folder->folder}};
}

}  // namespace gangway::sandbox
