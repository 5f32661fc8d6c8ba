// What a connection shows of itself, as it is now: files are read again when they change, a credential program is run
// again when what it gave has run out or was refused. Private to this folder.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "kube/client/connection.h"
#include "kube/client/exec_credential.h"
#include "kube/client/run_program.h"

namespace gangway::kube {

struct Credentials {
  std::string authorization;     // the whole header; "" = none
  std::string certificate, key;  // PEM; "" = none
  friend bool operator==(const Credentials&, const Credentials&) = default;
};
using CredentialsPtr = std::shared_ptr<const Credentials>;

struct CredentialClocks {
  std::function<absl::Time()> wall;    // what a program's answer speaks of
  std::function<absl::Time()> steady;  // what our own pauses are measured by: nobody sets it
  static CredentialClocks OfTheMachine();
};

// Used on one thread; programs run on one of its own.
class CredentialSource {
 public:
  // Reads the files; NotFound names the one that cannot be read, InvalidArgument what cannot be used.
  static absl::StatusOr<std::unique_ptr<CredentialSource>> Make(
      const Connection& connection, absl::Duration program_timeout,
      CredentialClocks clocks = CredentialClocks::OfTheMachine());
  // Ends a program that runs.
  ~CredentialSource();
  CredentialSource(const CredentialSource&) = delete;
  CredentialSource& operator=(const CredentialSource&) = delete;

  // Before the first Get: what to call, on another thread, when a program has ended that Get did not wait for.
  void OnArrival(std::function<void()> arrived) { arrived_ = std::move(arrived); }
  // Null: a program is at work, the arrival will be told. Unavailable: it failed; it is not run again for a moment.
  absl::StatusOr<CredentialsPtr> Get();
  // The server refused these. True: Get gives others, or will.
  bool Renew(const CredentialsPtr& refused);

 private:
  // A secret and the state of the file that it was read from.
  struct FileState {
    std::string path, version, text;
    // Reads it again when it changed, or `always`; what cannot be read leaves the last text.
    void Refresh(bool always);
  };

  CredentialSource(const Connection& connection, absl::Duration program_timeout, CredentialClocks clocks);
  absl::Status ReadFiles();
  void Rebuild();
  void RefreshFiles(bool always);
  absl::StatusOr<CredentialsPtr> FromProgram();
  void StartProgram();
  void RunOnThread();

  const Connection connection_;
  const absl::Duration program_timeout_;
  const CredentialClocks clocks_;
  std::function<void()> arrived_;
  FileState token_, certificate_, key_, ca_;
  CredentialsPtr current_;

  // Of the program's.
  bool used_program_ = false;
  absl::Time expires_ = absl::InfiniteFuture();  // by the wall clock
  absl::Time last_run_ = absl::InfinitePast();   // by the steady one
  absl::Status failed_;
  bool stale_ = true;
  Interrupt interrupt_;
  std::thread thread_;
  Mutex mu_;
  bool running_ ABSL_GUARDED_BY(mu_) = false;
  std::optional<absl::StatusOr<ExecCredential>> result_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gangway::kube
