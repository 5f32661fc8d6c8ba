// Where records go. Used on one loop.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/loop.h"
#include "kube/client/connection.h"
#include "kube/client/http_client.h"

namespace gangway::cmd {

struct Record {
  std::string uid;
  std::string name;  // "default/ctr-volcano-0b6e....json"
  std::string line;  // without its line break
};

class Sink {
 public:
  // Ok: it is kept, now or since an earlier time. Anything else: it may be tried again.
  using Done = absl::AnyInvocable<void(absl::Status)>;
  virtual ~Sink() = default;
  // Which of these it has already, as far as it can say at once.
  virtual absl::StatusOr<std::set<std::string>> Known(const std::set<std::string>& uids) = 0;
  // One at a time. `done` is called from a task of the loop.
  virtual void Put(const Record& record, Done done) = 0;
};

// Lines of a file, each written as a whole and to the disk before it counts. Nobody else of us writes it meanwhile. A
// line that broke off when a machine died goes when the file is opened; a file that is none of ours is left alone. When
// the file is renamed away, the next line begins a new one.
class FileSink final : public Sink {
 public:
  // InvalidArgument names the path and what is wrong with it.
  static absl::StatusOr<std::unique_ptr<FileSink>> Open(Loop& loop, const std::string& path);
  ~FileSink() override;
  absl::StatusOr<std::set<std::string>> Known(const std::set<std::string>& uids) override;
  void Put(const Record& record, Done done) override;

 private:
  FileSink(Loop& loop, std::string path) : loop_(loop), path_(std::move(path)) {}
  absl::Status Reopen();
  absl::Status DropBrokenLine();
  absl::Status Append(const std::string& line);

  Loop& loop_;
  const std::string path_;
  int fd_ = -1;
  Owner owner_;
};

struct StoreOptions {
  std::string url;                             // "https://bucket.s3.eu-central-1.amazonaws.com/jobs"
  std::optional<kube::AwsSigning> signing;     // absent: requests are not signed
  kube::Secret ca;                             // unset: the system's
  absl::Duration patience = absl::Minutes(1);  // of one request
};

// An object for each record, URL/NAMESPACE/NAME-UID.json. One that is there is not written again.
class StoreSink final : public Sink {
 public:
  static absl::StatusOr<std::unique_ptr<StoreSink>> Make(Loop& loop, const StoreOptions& options);
  absl::StatusOr<std::set<std::string>> Known(const std::set<std::string>&) override { return std::set<std::string>(); }
  void Put(const Record& record, Done done) override;

 private:
  explicit StoreSink(std::unique_ptr<kube::HttpClient> client) : client_(std::move(client)) {}
  void Write(Record record, Done done);

  const std::unique_ptr<kube::HttpClient> client_;
  Owner owner_;
};

}  // namespace gangway::cmd
