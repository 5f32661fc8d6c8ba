#include "tests/e2e/gangway_process.h"

#include <unistd.h>

#include <regex>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/raw_socket.h"

namespace gangway::testutil {
namespace {

std::vector<std::string> Argv(const std::string& program, const std::string& command, const std::string& kubeconfig,
                              const std::vector<std::string>& flags) {
  std::vector<std::string> argv{program.empty() ? GW_GANGWAY : program, command, "--kubeconfig=" + kubeconfig,
                                "--health-addr=127.0.0.1:0", "--metrics-addr=127.0.0.1:0"};
  argv.insert(argv.end(), flags.begin(), flags.end());
  return argv;
}

}  // namespace

GangwayProcess::GangwayProcess(const std::string& folder, const std::string& name, const std::string& command,
                               const std::string& kubeconfig, const std::vector<std::string>& flags,
                               const std::string& program)
    : name_(name),
      log_(absl::StrCat(folder, "/", name, ".log")),
      process_(Argv(program, command, kubeconfig, flags), log_) {}

std::string GangwayProcess::Get(const std::string& page, const std::string& path) const {
  // {"msg":"serving","what":"health","url":"http://127.0.0.1:40123"}
  const std::regex address(
      absl::StrCat(R"re("what":"(?:\w+ and )?)re", page, R"re(.*"url":"http://127\.0\.0\.1:(\d+)")re"));
  const std::string log = ReadFile(log_);
  std::smatch match;
  if (!std::regex_search(log, match, address)) return "";
  RawSocket socket(static_cast<std::uint16_t>(std::stoi(match[1])));
  socket.Send(absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
  return socket.ReadToEnd();
}

bool GangwayProcess::WaitReady() {
  return Eventually([&] { return process_.Ended() || absl::StartsWith(Get("health", "/readyz"), "HTTP/1.1 200"); }) &&
         !process_.Ended();
}

std::string GangwayProcess::Log() const { return absl::StrCat("== ", name_, "\n", ReadFile(log_)); }

ProcessUse UseOf(pid_t pid) {
  ProcessUse use;
  const std::string stat = ReadFile(absl::StrCat("/proc/", pid, "/stat"));
  std::istringstream fields(stat.substr(stat.rfind(')') + 2));  // the name may hold anything
  std::string field;
  for (int i = 3; fields >> field; ++i) {
    if (i == 14 || i == 15) use.cpu_seconds += std::stod(field) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  std::istringstream status(ReadFile(absl::StrCat("/proc/", pid, "/status")));
  for (std::string line; std::getline(status, line);) {
    const auto kibibytes = [&] { return std::stod(line.substr(line.find(':') + 1)); };
    if (absl::StartsWith(line, "VmRSS:")) use.resident_mebibytes = kibibytes() / 1024;
    if (absl::StartsWith(line, "RssAnon:")) use.anonymous_mebibytes = kibibytes() / 1024;
  }
  return use;
}

}  // namespace gangway::testutil
