#include "kube/client/credentials.h"

#include <pthread.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "base/text_file.h"

namespace gangway::kube {
namespace {

// Between two runs of a program whose credentials are refused, run out at once, or do not come.
constexpr absl::Duration kMinRunInterval = absl::Seconds(1);
constexpr absl::Duration kMinRenewInterval = absl::Seconds(2);
constexpr absl::Duration kBeforeExpiry = absl::Seconds(5);  // a request takes its time

std::string VersionOf(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return "";
  return absl::StrCat(info.st_dev, " ", info.st_ino, " ", info.st_size, " ", info.st_mtim.tv_sec, ".",
                      info.st_mtim.tv_nsec);
}

std::string Bearer(absl::string_view token) {
  return token.empty() ? std::string() : absl::StrCat("Authorization: Bearer ", token);
}

}  // namespace

void CredentialSource::FileState::Refresh(bool always) {
  if (path.empty()) return;
  const std::string now = VersionOf(path);
  if (now.empty() || (now == version && !always)) return;
  std::string fresh = ReadTextFile(path).value_or("");
  if (absl::StripAsciiWhitespace(fresh).empty()) return;  // somebody is writing it
  text = std::move(fresh);
  version = now;
}

CredentialClocks CredentialClocks::OfTheMachine() {
  return {&absl::Now,
          [] { return absl::UnixEpoch() + absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch()); }};
}

CredentialSource::CredentialSource(const Connection& connection, absl::Duration program_timeout,
                                   CredentialClocks clocks)
    : connection_(connection), program_timeout_(program_timeout), clocks_(std::move(clocks)) {}

absl::StatusOr<std::unique_ptr<CredentialSource>> CredentialSource::Make(const Connection& connection,
                                                                         absl::Duration program_timeout,
                                                                         CredentialClocks clocks) {
  if (connection.client_certificate.set() != connection.client_key.set()) {
    return absl::InvalidArgumentError("a client certificate and its key go together: one of them is missing");
  }
  if (HasControl(absl::StripAsciiWhitespace(connection.token.data))) {
    return absl::InvalidArgumentError("the token contains control characters");
  }
  std::unique_ptr<CredentialSource> source(new CredentialSource(connection, program_timeout, std::move(clocks)));
  GW_RETURN_IF_ERROR(source->ReadFiles());
  return source;
}

CredentialSource::~CredentialSource() {
  interrupt_.Set();
  if (thread_.joinable()) thread_.join();
}

absl::Status CredentialSource::ReadFiles() {
  struct Named {
    const char* what;
    const Secret* secret;
    FileState* state;
  };
  for (const auto& [what, secret, state] :
       {Named{"client certificate", &connection_.client_certificate, &certificate_},
        Named{"client key", &connection_.client_key, &key_}, Named{"token", &connection_.token, &token_},
        Named{"certificate authority", &connection_.ca, &ca_}}) {
    state->text = secret->data;
    if (!secret->data.empty() || secret->file.empty()) continue;
    state->path = secret->file;
    if (!std::ifstream(secret->file).good())
      return absl::NotFoundError(absl::StrCat(what, ": cannot read the file ", secret->file));
    state->Refresh(true);
  }
  used_program_ = connection_.program.has_value() && !connection_.token.set() && connection_.username.empty();
  Rebuild();
  return absl::OkStatus();
}

void CredentialSource::Rebuild() {
  auto fresh = std::make_shared<Credentials>();
  const absl::string_view token = absl::StripAsciiWhitespace(token_.text);
  if (!HasControl(token)) {
    fresh->authorization = Bearer(token);
  } else if (current_ != nullptr) {
    fresh->authorization = current_->authorization;
  }
  fresh->certificate = certificate_.text;
  fresh->key = key_.text;
  if (current_ == nullptr || *current_ != *fresh) current_ = std::move(fresh);
}

void CredentialSource::RefreshFiles(bool always) {
  token_.Refresh(always);
  certificate_.Refresh(always);
  key_.Refresh(always);
  Rebuild();
}

absl::StatusOr<CredentialsPtr> CredentialSource::Get() {
  if (used_program_) return FromProgram();
  RefreshFiles(false);
  if (connection_.token.set() && current_->authorization.empty()) {
    return absl::UnavailableError(absl::StrCat("no token in the file ", connection_.token.file));
  }
  return current_;
}

bool CredentialSource::Renew(const CredentialsPtr& refused) {
  if (refused != current_) return true;
  if (!used_program_) {
    RefreshFiles(true);
    return refused != current_;
  }
  if (clocks_.steady() - last_run_ < kMinRenewInterval) return false;
  stale_ = true;
  return true;
}

absl::StatusOr<CredentialsPtr> CredentialSource::FromProgram() {
  std::optional<absl::StatusOr<ExecCredential>> result;
  {
    MutexLock lock(mu_);
    if (running_) return CredentialsPtr();
    result.swap(result_);
  }
  if (result.has_value()) {
    thread_.join();
    last_run_ = clocks_.steady();
    failed_ = absl::OkStatus();
    stale_ = false;
    if (result->ok()) {
      const ExecCredential& given = **result;
      current_ = std::make_shared<Credentials>(
          Credentials{Bearer(given.token), given.certificate.empty() ? certificate_.text : given.certificate,
                      given.key.empty() ? key_.text : given.key});
      expires_ = given.expires.value_or(absl::InfiniteFuture());
    } else {
      failed_ = absl::UnavailableError(
          absl::StrCat("credentials: ", connection_.program->command, ": ", result->status().message(),
                       absl::IsNotFound(result->status()) && !connection_.program->install_hint.empty() ? "\n" : "",
                       absl::IsNotFound(result->status()) ? connection_.program->install_hint : ""));
    }
  }
  const bool just_ran = clocks_.steady() - last_run_ < kMinRunInterval;
  if (!failed_.ok() && just_ran) return absl::Status(failed_.code(), std::string(failed_.message()));
  if (failed_.ok() && !stale_ && (just_ran || clocks_.wall() < expires_ - kBeforeExpiry)) return current_;
  StartProgram();
  return CredentialsPtr();
}

void CredentialSource::StartProgram() {
  ca_.Refresh(false);
  {
    MutexLock lock(mu_);
    running_ = true;
  }
  thread_ = std::thread([this] { RunOnThread(); });
}

void CredentialSource::RunOnThread() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  const CredentialProgram& wanted = *connection_.program;
  Program program{wanted.command, wanted.args, wanted.env};
  program.env.emplace_back("KUBERNETES_EXEC_INFO", ExecInfo(connection_, wanted, ca_.text));
  absl::StatusOr<std::string> said = RunProgram(program, program_timeout_, interrupt_);
  // Moved on, never shared between threads: see http_client.cc.
  absl::StatusOr<ExecCredential> result = said.ok() ? ParseExecCredential(*said, wanted.api_version)
                                                    : absl::StatusOr<ExecCredential>(std::move(said).status());
  {
    MutexLock lock(mu_);
    result_ = std::move(result);
    running_ = false;
  }
  arrived_();
}

}  // namespace gangway::kube
