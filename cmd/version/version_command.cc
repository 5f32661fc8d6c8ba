#include "cmd/version/version_command.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/crd/crd.h"
#include "api/json_path.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/resource.h"
#include "cmd/terminal/output.h"
#include "cmd/terminal/version.h"
#include "cmd/version/program_files.h"
#include "cmd/version/server_types.h"
#include "kube/client/kubeconfig.h"

namespace gangway::cmd {
namespace {

constexpr char kVersionCommand[] = "version";

// Whether the API server has the type without a definition, as the embedded one does.
bool IsBuiltIn(ApiCaller& caller, const api::Resource& resource) {
  const absl::StatusOr<Bytes> body = caller.Call("GET", absl::StrCat("/apis/", resource.ApiVersion()));
  const absl::StatusOr<boost::json::value> list = body.ok() ? api::ParseJson(**body) : body.status();
  if (!list.ok()) return false;
  const boost::json::array& resources = api::ListAt(*list, {"resources"});
  return std::any_of(resources.begin(), resources.end(),
                     [&](const boost::json::value& one) { return api::TextAt(one, {"name"}) == resource.plural; });
}

}  // namespace

VersionCommand::VersionCommand(CommandLine app)
    : command_(app.Add(kVersionCommand, "print the version; with --check, whether it is whole and fits the cluster")) {
  command_.Footer(
      "--check compares the program and its libraries with the sums that came with them (share/gangway/SHA256SUMS "
      "beside bin), and the types of the API server, "
      "where one is named, with those that this version works with: crds prints them.\n"
      "Exit code: 0 nothing is wrong, 1 something is, 2 the API server does not answer.");
  command_.AddSwitch("--check", check_, "look at the installation, and at the cluster's types");
  command_.AddSwitch("--strict", strict_,
                     "with --check: all types of Volcano must be there, with every field that this version knows");
  AddServerFlags(command_, server_);
}

bool VersionCommand::chosen() const { return command_.chosen(); }

int VersionCommand::Run() const {
  if (!check_ && (strict_ || server_.given()))
    return Complain(kVersionCommand, absl::InvalidArgumentError("--strict and a server are of --check: add it"));
  if (!Put(stdout, absl::StrCat(VersionLine(), "\n"))) return kNoAnswer;
  if (!check_) return kDone;
  const int files = CheckInstallation();
  return std::max(files, CheckServer());
}

int VersionCommand::CheckInstallation() const {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const absl::StatusOr<FilesReport> report = CheckFiles(program);
  if (absl::IsNotFound(report.status())) {
    PutLine(stdout, "files: there are no sums to compare them with, as where the program was built");
    return kDone;
  }
  if (!report.ok()) return Complain(kVersionCommand, report.status());
  for (const std::string& finding : report->findings) PutLine(stdout, absl::StrCat("files: ", finding));
  if (!report->findings.empty()) return kNo;
  PutLine(stdout, absl::StrCat("files: ", report->files, " are as they were packaged"));
  return kDone;
}

int VersionCommand::CheckServer() const {
  if (!server_.given() && absl::IsNotFound(kube::FindConnection("", "").status())) {
    PutLine(stdout, "cluster: none is named, so its types were not looked at");
    return kDone;
  }
  const absl::StatusOr<std::unique_ptr<ApiCaller>> caller = ApiCaller::Make(server_);
  if (!caller.ok()) return Complain(kVersionCommand, caller.status());
  int code = kDone, whole = 0;
  for (const api::KindRow& kind : api::Kinds()) {
    if (!kind.custom() || kind.on_request) continue;
    const std::string name = api::CrdName(*kind.resource);
    const absl::StatusOr<Bytes> body = (*caller)->Call("GET", api::PathOf(api::kCustomResourceDefinitions, "", name));
    boost::json::value theirs;
    if (body.ok()) {
      const absl::StatusOr<boost::json::value> read = api::ParseJson(**body);
      if (!read.ok()) return Complain(kVersionCommand, read.status());
      theirs = *read;
    } else if (!absl::IsNotFound(body.status())) {
      return Complain(kVersionCommand, body.status());
    } else if (IsBuiltIn(**caller, *kind.resource)) {
      ++whole;
      continue;
    }
    const TypeReport report = CompareType(kind, theirs, strict_);
    if (report.wrong) code = kNo;
    if (report.finding.empty())
      ++whole;
    else
      PutLine(stdout, absl::StrCat("cluster: ", report.wrong ? "" : "note: ", name, " ", report.finding));
  }
  PutLine(stdout, absl::StrCat("cluster: ", whole, " types are those of this version"));
  if (code != kDone)
    PutLine(stdout,
            "cluster: gangway crds | kubectl apply --server-side -f - brings Volcano's types up to this version");
  return code;
}

}  // namespace gangway::cmd
