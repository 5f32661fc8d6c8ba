#include "cmd/snapshot/snapshot_command.h"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "api/core/objects.h"
#include "assembly/components.h"
#include "base/counted.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "cmd/snapshot/file/snapshot.h"

namespace gangway::cmd {
namespace {

constexpr char kSnapshotCommand[] = "snapshot";

std::string QueryOf(const assembly::Reads::Selection& selection) {
  std::string out;
  if (!selection.labels.empty()) out = absl::StrCat("labelSelector=", PercentEncode(selection.labels));
  if (!selection.fields.empty())
    absl::StrAppend(&out, out.empty() ? "" : "&", "fieldSelector=", PercentEncode(selection.fields));
  return out;
}

// Every selection of it, an object once.
absl::Status AddAll(ApiCaller& caller, const assembly::Reads& reads, snapshot::SnapshotWriter& writer) {
  std::vector<assembly::Reads::Selection> selections = reads.selections;
  if (selections.empty()) selections.emplace_back();
  absl::flat_hash_set<std::string> added;
  for (const assembly::Reads::Selection& selection : selections) {
    GW_ASSIGN_OR_RETURN(const std::vector<std::string> items, caller.ListJson(*reads.resource, "", QueryOf(selection)));
    for (const std::string& item : items) {
      GW_ASSIGN_OR_RETURN(const api::core::PartialObject object, api::Decode<api::core::PartialObject>(item));
      if (!added.insert(absl::StrCat(object.metadata.ns, "/", object.metadata.name)).second) continue;
      GW_RETURN_IF_ERROR(writer.Add(*reads.resource, item));
    }
  }
  return absl::OkStatus();
}

// For the owner alone: objects may say what others should not know. What was there is replaced as a whole.
absl::Status WriteFile(const std::string& path, absl::string_view text) {
  const std::string fresh = absl::StrCat(path, ".", getpid(), ".tmp");
  const auto failed = [&] {
    const absl::Status status = absl::InvalidArgumentError(absl::StrCat("-o ", path, ": ", std::strerror(errno)));
    unlink(fresh.c_str());
    return status;
  };
  const int file = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return failed();
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      close(file);
      return failed();
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (close(file) != 0 || rename(fresh.c_str(), path.c_str()) != 0) return failed();
  return absl::OkStatus();
}

}  // namespace

SnapshotCommand::SnapshotCommand(CommandLine app)
    : command_(
          app.Add(kSnapshotCommand, "write what the scheduler and the controllers read of a cluster to one file")) {
  command_.Footer(
      "The file is a List, as kubectl takes it, and has nothing of Secrets. gangway simulate and gangway sandbox "
      "--apply "
      "take it.\n"
      "Exit code: 0 written, 1 something may not be read (the rest is written), 2 a flag is wrong, the API server does "
      "not answer, or the file cannot be written.\n\n"
      "  gangway snapshot -o cluster.json\n"
      "  gangway snapshot --anonymise | gzip > cluster.json.gz");
  AddServerFlags(command_, server_);
  command_.Add("-o,--output", file_, "file to write, which its owner alone may read; default: standard output");
  command_.AddSwitch("--anonymise", anonymise_,
                     "only fields that are read, with pseudonyms for names, label values and images");
}

bool SnapshotCommand::chosen() const { return command_.chosen(); }

absl::StatusOr<int> SnapshotCommand::Take() const {
  GW_ASSIGN_OR_RETURN(const std::unique_ptr<ApiCaller> caller, ApiCaller::Make(server_));
  snapshot::SnapshotWriter writer(absl::Now(), anonymise_);
  int exit_code = kDone;
  for (const assembly::Reads& reads : assembly::AllReads(caller->loop(), caller->client(), {})) {
    if (!snapshot::IsKept(*reads.resource)) continue;
    const absl::Status status = AddAll(*caller, reads, writer);
    if (status.ok() || absl::IsNotFound(status)) continue;  // a type that is not served
    if (!absl::IsPermissionDenied(status)) return status;
    Say(kSnapshotCommand, absl::StrCat(View(reads.resource->plural), " are left out: ", status.message(),
                                       "; whoever may, gives you list on them (docs/rbac.md)"));
    exit_code = kNo;
  }
  const std::size_t objects = writer.objects();
  const std::string text = std::move(writer).Finish();
  if (file_.empty()) return PutExact(stdout, text) ? exit_code : kNoAnswer;
  GW_RETURN_IF_ERROR(WriteFile(file_, text));
  Note(absl::StrCat(file_, ": ", Counted(objects, "object")));
  return exit_code;
}

int SnapshotCommand::Run() const {
  log::Options logs;
  logs.level = log::Level::kError;  // what goes wrong is told in the command's own words
  log::Configure(std::move(logs));
  const absl::StatusOr<int> code = Take();
  return code.ok() ? *code : Complain(kSnapshotCommand, code.status());
}

}  // namespace gangway::cmd
