#include "cmd/archive/archive_command.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/counted.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "cmd/archive/archiver.h"
#include "cmd/archive/credentials.h"
#include "cmd/terminal/exit_code.h"
#include "cmd/terminal/output.h"

namespace gangway::cmd {
namespace {

constexpr char kArchiveCommand[] = "archive";

std::optional<std::string> FromEnvironment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

absl::Status OfFlag(const absl::Status& status) {
  return status.ok() ? status : absl::InvalidArgumentError(status.message());
}

}  // namespace

ArchiveCommand::ArchiveCommand(CommandLine app)
    : command_(app.Add(kArchiveCommand,
                       "keep finished jobs, with their pods' ends and events, in a file or an object "
                       "store")) {
  command_.Footer(
      "A line of JSON for each Volcano Job and PaddleJob that has ended or was deleted, once, over restarts of this "
      "command and of its machine. It follows until it is ended. See docs/commands.md.\n"
      "With --hold jobs carry a finalizer until they are in the archive, so that neither ttlSecondsAfterFinished nor "
      "kubectl delete is faster; --release takes it off all jobs.\n"
      "Exit code: 0 ended, or all is done with --once or --release; 1 the API server refused something; 2 a flag, a "
      "file or a credential is wrong; 3 with --once something could not be archived.\n\n"
      "  gangway archive --file /var/lib/gangway/jobs.jsonl --hold\n"
      "  gangway archive --to https://bucket.s3.eu-central-1.amazonaws.com/jobs --region eu-central-1\n"
      "  gangway archive --file jobs.jsonl --once && jq -r '[.namespace,.name,.phase]|@tsv' jobs.jsonl");
  AddServerFlags(command_, flags_.server);
  command_.Add("-n,--namespace", flags_.namespaces, "only these (repeatable); default: all").OneEach();
  command_.Add("--file", flags_.file, "append lines to this file");
  command_.Add("--to", flags_.url, "put objects URL/NAMESPACE/NAME-UID.json into this store");
  command_.Add("--region", flags_.region, "of the store; default: AWS_REGION, or us-east-1");
  command_.Add("--credentials-file", flags_.credentials_file,
               "as ~/.aws/credentials, profile default; default: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  command_.AddSwitch("--unsigned", flags_.is_unsigned, "the store asks for no credentials");
  command_.Add("--ca-file", flags_.ca_file, "who vouches for the store (PEM); default: the system's authorities");
  command_.AddSwitch("--hold", flags_.hold, "keep jobs that are deleted until they are in the archive");
  command_.AddSwitch("--release", flags_.release, "archive nothing, and take the finalizer of --hold off all jobs");
  command_.AddSwitch("--once", flags_.once, "what has ended by now, then end");
}

bool ArchiveCommand::chosen() const { return command_.chosen(); }

absl::Status ArchiveCommand::Check() const {
  const auto wrong = [](absl::string_view what) { return absl::InvalidArgumentError(what); };
  if (flags_.release) {
    if (!flags_.file.empty() || !flags_.url.empty() || flags_.hold || flags_.once)
      return wrong("--release archives nothing: leave out --file, --to, --hold and --once");
    return absl::OkStatus();
  }
  if (flags_.file.empty() && flags_.url.empty()) return wrong("where to? give --file, --to or both");
  if (flags_.url.empty() &&
      (flags_.is_unsigned || !flags_.credentials_file.empty() || !flags_.region.empty() || !flags_.ca_file.empty()))
    return wrong("--region, --credentials-file, --ca-file and --unsigned are for --to");
  if (flags_.is_unsigned && !flags_.credentials_file.empty())
    return wrong("--unsigned and --credentials-file: leave one out");
  if (flags_.once && flags_.hold) return wrong("--once and --hold: nobody would let go of the jobs; leave one out");
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::unique_ptr<Sink>>> ArchiveCommand::Sinks(Loop& loop) const {
  std::vector<std::unique_ptr<Sink>> sinks;
  if (!flags_.file.empty()) {
    absl::StatusOr<std::unique_ptr<FileSink>> file = FileSink::Open(loop, flags_.file);
    if (!file.ok()) return absl::InvalidArgumentError(absl::StrCat("--file ", file.status().message()));
    sinks.push_back(*std::move(file));
  }
  if (!flags_.url.empty()) {
    StoreOptions options;
    options.url = flags_.url;
    options.ca.file = flags_.ca_file;
    if (!flags_.is_unsigned) {
      GW_ASSIGN_OR_RETURN(options.signing, FindAwsSigning(flags_.credentials_file, flags_.region, FromEnvironment));
    }
    absl::StatusOr<std::unique_ptr<StoreSink>> store = StoreSink::Make(loop, options);
    if (!store.ok()) return absl::InvalidArgumentError(absl::StrCat("--to: ", store.status().message()));
    sinks.push_back(*std::move(store));
  }
  return sinks;
}

int ArchiveCommand::Run() const {
  log::Options logs;
  logs.format = IsTerminal(stderr) ? log::Format::kText : log::Format::kJson;
  log::Configure(std::move(logs));
  if (const absl::Status flags = Check(); !flags.ok()) return Complain(kArchiveCommand, flags);
  kube::HttpClientOptions http;
  http.user_agent = "gangway-archive";
  const absl::StatusOr<std::unique_ptr<ApiCaller>> caller = ApiCaller::Make(flags_.server, std::move(http));
  if (!caller.ok()) return Complain(kArchiveCommand, caller.status());
  if (flags_.once || flags_.release) {  // else it waits for the server
    const absl::StatusOr<Bytes> answer = (*caller)->Call("GET", "/version");
    if (!answer.ok()) return Complain(kArchiveCommand, answer.status());
  }
  AsioLoop& loop = (*caller)->loop();
  absl::StatusOr<std::vector<std::unique_ptr<Sink>>> sinks = Sinks(loop);
  if (!sinks.ok()) return Complain(kArchiveCommand, OfFlag(sinks.status()));
  std::optional<absl::Status> end;
  ArchiverOptions options;
  options.namespaces = flags_.namespaces;
  options.hold = flags_.hold;
  options.once = flags_.once;
  options.release = flags_.release;
  Archiver archiver(loop, (*caller)->client(), *std::move(sinks), std::move(options), [&](absl::Status status) {
    end = std::move(status);
    loop.Stop();
  });
  archiver.Start();
  Owner owner;
  loop.OnSignals({SIGINT, SIGTERM}, owner.token(), [&](int) {
    end = absl::OkStatus();
    loop.Stop();
  });
  while (!end.has_value()) loop.Run();
  log::Flush();
  if (!end->ok()) return Complain(kArchiveCommand, *end);
  if (flags_.release) {
    Put(stdout, absl::StrCat(Counted(archiver.written(), "job"), " released\n"));
  } else {
    Put(stdout, absl::StrCat(Counted(archiver.written(), "job"), " archived, ", archiver.known(),
                             archiver.known() == 1 ? " was" : " were", " there before\n"));
  }
  return kDone;
}

}  // namespace gangway::cmd
