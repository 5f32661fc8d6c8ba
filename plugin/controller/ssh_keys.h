// Where key pairs for the job plugin ssh come from.
#pragma once

#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "base/loop.h"
#include "plugin/lifecycle/job_plugins/ssh_key.h"

namespace gangway::controller {

// One pair, made with OpenSSL: RSA of 2048 bits. Takes a tenth of a second, now and then half of one: not on a loop.
absl::StatusOr<lifecycle::SshKeyPair> MakeSshKeyPair();

class SshKeys {
 public:
  using Done = absl::AnyInvocable<void(absl::StatusOr<lifecycle::SshKeyPair>)>;
  virtual ~SshKeys() = default;
  // On the loop. `done` is a task of it, run later under `owner`; a pair that nobody is left to take is lost.
  virtual void Take(Token owner, Done done) = 0;
};

// Makes each on the loop itself, and holds it up: for simulated loops, which know no other threads.
class LoopSshKeys : public SshKeys {
 public:
  explicit LoopSshKeys(Loop& loop) : loop_(loop) {}
  void Take(Token owner, Done done) override;

 private:
  Loop& loop_;
};

// Makes them on threads of its own, which start with the first pair that is asked for. Used on its loop, which must
// outlive it.
class ThreadedSshKeys : public SshKeys {
 public:
  // `stock`: so many pairs are made ahead once there is demand, so that the Job after the first one waits for none.
  explicit ThreadedSshKeys(Loop& loop, int threads = 1, int stock = 4);
  // Waits for the pairs that are being made, one for each thread.
  ~ThreadedSshKeys() override;
  void Take(Token owner, Done done) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gangway::controller
