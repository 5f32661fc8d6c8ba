#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "base/system_error.h"
#include "kube/client/kubeconfig.h"

namespace gangway::kube {
namespace {

absl::Status Failed(const std::string& path, absl::string_view what) {
  return SystemError(absl::StrCat(path, ": ", what), errno);
}

absl::Status WriteAll(int fd, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return absl::UnavailableError(std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return absl::OkStatus();
}

}  // namespace

// Scalars as JSON strings: YAML reads every one of them as the string it is.
std::string RenderKubeconfig(const KubeconfigEntry& entry) {
  const std::string name = api::JsonString(entry.context);
  std::string out = absl::StrCat("apiVersion: v1\nkind: Config\ncurrent-context: ", name, "\nclusters:\n- name: ", name,
                                 "\n  cluster:\n    server: ", api::JsonString(entry.server), "\n");
  if (!entry.ca_data.empty()) {
    absl::StrAppend(&out, "    certificate-authority-data: ", absl::Base64Escape(entry.ca_data), "\n");
  }
  const auto add_context = [&](const std::string& context) {
    absl::StrAppend(&out, "- name: ", context, "\n  context:\n    cluster: ", name, "\n    user: ", context, "\n");
  };
  out.append("contexts:\n");
  add_context(name);
  for (const KubeconfigUser& user : entry.users) add_context(api::JsonString(user.name));
  absl::StrAppend(&out, "users:\n- name: ", name, "\n  user:");
  if (entry.token.empty()) {
    out.append(" {}\n");
  } else {
    absl::StrAppend(&out, "\n    token: ", api::JsonString(entry.token), "\n");
  }
  for (const KubeconfigUser& user : entry.users) {
    absl::StrAppend(&out, "- name: ", api::JsonString(user.name),
                    "\n  user:\n    client-certificate-data: ", absl::Base64Escape(user.certificate),
                    "\n    client-key-data: ", absl::Base64Escape(user.key), "\n");
  }
  return out;
}

absl::Status WriteKubeconfig(const std::string& path, const KubeconfigEntry& entry) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (std::error_code error; !folder.empty()) {
    std::filesystem::create_directories(folder, error);
    if (error)
      return absl::UnavailableError(absl::StrCat(folder.string(), ": cannot make the folder: ", error.message()));
  }
  std::string fresh = absl::StrCat(path, ".XXXXXX");
  const int fd = mkostemp(fresh.data(), O_CLOEXEC);  // mode 0600
  if (fd < 0) return Failed(path, "cannot write beside it");
  const absl::Status written = WriteAll(fd, RenderKubeconfig(entry));
  const bool closed = close(fd) == 0;
  if (written.ok() && closed && std::rename(fresh.c_str(), path.c_str()) == 0) return absl::OkStatus();
  const absl::Status failed = written.ok() ? Failed(path, "cannot put it in place")
                                           : absl::Status(written.code(), absl::StrCat(path, ": ", written.message()));
  unlink(fresh.c_str());
  return failed;
}

}  // namespace gangway::kube
