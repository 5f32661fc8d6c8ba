// The Secrets of the job plugin ssh, as far as a decision needs to know them, and the keys they are made of.
//
// Secrets are neither listed nor watched: the right to do so is the right to read every Secret there is. What is known
// of one comes from the replies to our own writes, and after a restart of ours, or one of the Job, from asking for it
// by its name. Every answer is asked for without the data (kube/runtime/write_request.h), so no key comes back to us.
// Used on one loop.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "api/volcano/job.h"
#include "base/loop.h"
#include "kube/client/client.h"
#include "kube/plan/plan.h"
#include "plugin/controller/job_index.h"
#include "plugin/controller/ssh_keys.h"

namespace gangway::controller {

class SshSecrets {
 public:
  // `news`: the Job should be looked at again. `trouble`: why its Secret cannot be asked for, or no key be made.
  using OnNews = std::function<void(const JobKey&)>;
  using OnTrouble = std::function<void(const JobKey&, const absl::Status&)>;
  // The client and the keys must outlive this.
  SshSecrets(Loop& loop, kube::Client& client, SshKeys& keys, OnNews on_news, OnTrouble on_trouble);

  // Adds to the view what is known: the Secret, or the key that one is to be made of. False while it is not known
  // whether there is one: then nothing can be decided, and there will be news.
  bool Fill(const JobKey& key, lifecycle::JobView& view);
  // The answer to a write; those about other resources are ignored.
  void ObserveReply(const kube::Write& write, const kube::Response& response);
  // The Job is gone.
  void Forget(const JobKey& key) { entries_.erase(key); }
  // Whether the name is held by the Secret of an earlier Job of this name, which the garbage collector is about to
  // remove.
  bool HeldByPredecessor(const JobKey& key) const;

 private:
  enum class Known { kNothing, kAbsent, kThere };
  struct Entry {
    std::string job_uid;
    std::uint64_t number = 0;  // of the entry; answers to questions of another one are dropped
    Known known = Known::kNothing;
    lifecycle::OwnedObject secret;  // when there
    std::int32_t restarts = 0;      // of the Job or parts of it, when it was last asked for
    bool asking = false;
    std::uint64_t writes = 0;  // answered; a question that was asked before one is out of date
    int failures = 0;          // of questions, in a row
    bool predecessor = false;
    bool making_key = false;
    std::optional<lifecycle::SshKeyPair>
        key;  // kept until the Secret is there, so that a write that is repeated says the same
  };

  Entry& EntryFor(const JobKey& key, const api::volcano::Job& job);
  Entry* Find(const JobKey& key, std::uint64_t number);
  void TakeKey(const JobKey& key, Entry& entry);
  void Ask(const JobKey& key, Entry& entry);
  void SendNext();
  void Answered(const JobKey& key, std::uint64_t number, std::uint64_t writes,
                const absl::StatusOr<kube::Response>& reply);
  void Learn(Entry& entry, const JobKey& key, absl::string_view json);
  void NewsAt(absl::Time when, const JobKey& key, std::uint64_t number);

  struct Question {
    JobKey key;
    std::uint64_t number = 0;
  };

  Loop& loop_;
  kube::Client& client_;
  SshKeys& keys_;
  const OnNews on_news_;
  const OnTrouble on_trouble_;
  absl::flat_hash_map<JobKey, Entry> entries_;
  std::uint64_t entries_made_ = 0;
  std::deque<Question> questions_;
  int in_flight_ = 0;
  Owner owner_;
};

}  // namespace gangway::controller
