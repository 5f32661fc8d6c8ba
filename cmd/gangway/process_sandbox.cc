#include "cmd/gangway/process_sandbox.h"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace gangway::cmd {
namespace {

namespace paths = std::filesystem;

std::string Variable(const char* name) {
  const char* const value = getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

absl::StatusOr<sandbox::ImageFolder> ReadImage(const std::string& text) {
  GW_ASSIGN_OR_RETURN(sandbox::ImageFolder image, sandbox::ParseImageFolder(text));
  std::error_code error;
  image.folder = paths::canonical(image.folder, error);
  if (error || !paths::is_directory(image.folder, error))
    return absl::InvalidArgumentError(absl::StrCat("--image ", text, ": there is no such folder"));
  image.python = paths::exists(paths::path(image.folder) / "pyvenv.cfg", error);
  return image;
}

absl::StatusOr<std::string> MakeClaimsFolder(const std::string& asked, const std::string& folder) {
  if (asked.empty()) return folder + "/claims";
  std::error_code error;
  paths::create_directories(asked, error);
  const std::string absolute = paths::canonical(asked, error);
  if (error) return absl::InvalidArgumentError(absl::StrCat("--volumes ", asked, ": ", error.message()));
  return absolute;
}

}  // namespace

absl::StatusOr<ProcessSandbox> StartProcessSandbox(const SandboxFlags& flags, Loop& loop) {
  if (!flags.finish.empty() || !flags.fail.empty() || !flags.log.empty())
    return absl::InvalidArgumentError(
        "--finish, --fail and --log are for simulated containers: leave --run=process out");
  if (flags.start_delay != SandboxFlags().start_delay || flags.stop_delay != SandboxFlags().stop_delay)
    return absl::InvalidArgumentError(
        "--start-delay and --stop-delay are for simulated containers: leave --run=process out");
  ProcessSandbox out;
  for (const std::string& text : flags.images) {
    GW_ASSIGN_OR_RETURN(sandbox::ImageFolder image, ReadImage(text));
    out.options.images.push_back(std::move(image));
  }
  std::string folder = (paths::temp_directory_path() / "gangway-process-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    return absl::UnavailableError(absl::StrCat("cannot make a folder in ", paths::temp_directory_path().string()));
  std::error_code error;
  const auto claims = MakeClaimsFolder(flags.volumes, folder);
  if (!claims.ok()) {
    paths::remove_all(folder, error);
    return claims.status();
  }
  out.options.folder = folder;
  out.options.claims = *claims;
  out.options.claims_by_name = !flags.volumes.empty();
  out.options.shared_network = flags.network == "shared";
  out.options.path = Variable("PATH");
  out.options.home = Variable("HOME");
  out.options.working_dir = paths::current_path(error).string();
  sandbox::HostSetup setup;
  setup.folder = folder;
  setup.shared_network = out.options.shared_network;
  setup.cgroup = paths::path(folder).filename();
  setup.api_server_ip = kApiServerIp;
  setup.api_server_port = kApiServerPort;
  const std::string program = paths::read_symlink("/proc/self/exe", error);
  auto host = sandbox::HostClient::Start(loop, program, setup);
  if (!host.ok()) {
    paths::remove_all(folder, error);  // a host that did not even start has not
    return absl::Status(host.status().code(), absl::StrCat("--run=process: ", host.status().message()));
  }
  out.host = *std::move(host);
  return out;
}

std::vector<std::string> WarningsOf(const ProcessSandbox& process) {
  std::vector<std::string> out = {
      "Containers are processes of this machine, and no security boundary: run what you trust.",
      process.options.images.empty()
          ? "Images are not pulled: the machine's own programs run; --image NAME=FOLDER names others."
          : "Images are not pulled: those of --image are folders, for all others the machine's own programs run."};
  if (process.options.shared_network)
    out.emplace_back("Pods share the machine's network, each with a loopback address of its own.");
  for (const std::string& note : process.host->notes()) out.push_back(note);
  return out;
}

}  // namespace gangway::cmd
