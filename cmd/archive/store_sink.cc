#include <utility>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cmd/archive/sink.h"

namespace gangway::cmd {
namespace {

constexpr std::size_t kMaxAnswer = std::size_t{64} << 10;
constexpr std::size_t kMaxQuoted = 300;

// What a store says is XML, mostly; the code and its beginning are enough for who knows it.
absl::Status Refused(const Record& record, const kube::Response& response) {
  const std::string body = OneLine(absl::string_view(*response.body).substr(0, kMaxQuoted));
  return absl::UnavailableError(
      absl::StrCat("the store answers ", response.code, " to ", record.name, body.empty() ? "" : ": ", body));
}

}  // namespace

absl::StatusOr<std::unique_ptr<StoreSink>> StoreSink::Make(Loop& loop, const StoreOptions& options) {
  kube::Connection connection;
  connection.server = options.url;
  connection.ca = options.ca;
  connection.signing = options.signing;
  kube::HttpClientOptions http;
  http.user_agent = "gangway-archive";
  http.connect_timeout = std::min(absl::Duration(absl::Seconds(10)), options.patience);
  http.request_timeout = options.patience;
  http.compress = false;
  http.max_response_bytes = kMaxAnswer;
  GW_ASSIGN_OR_RETURN(std::unique_ptr<kube::HttpClient> client,
                      kube::HttpClient::Make(loop, std::move(connection), std::move(http)));
  return std::unique_ptr<StoreSink>(new StoreSink(std::move(client)));
}

// A store that does not say whether it has the object (403 without the right to list) is given it again: the same name,
// the same job.
void StoreSink::Put(const Record& record, Done done) {
  kube::Request request;
  request.method = "HEAD";
  request.path = absl::StrCat("/", record.name);
  client_->Send(std::move(request), owner_.token(),
                [this, record = record, done = std::move(done)](absl::StatusOr<kube::Response> answer) mutable {
                  if (!answer.ok()) return done(answer.status());
                  if (answer->ok()) return done(absl::OkStatus());
                  if (answer->code != 404 && answer->code != 403) return done(Refused(record, *answer));
                  Write(std::move(record), std::move(done));
                });
}

void StoreSink::Write(Record record, Done done) {
  kube::Request request;
  request.method = "PUT";
  request.path = absl::StrCat("/", record.name);
  request.body = absl::StrCat(record.line, "\n");
  client_->Send(std::move(request), owner_.token(),
                [record = std::move(record), done = std::move(done)](absl::StatusOr<kube::Response> answer) mutable {
                  if (!answer.ok()) return done(answer.status());
                  done(answer->ok() ? absl::OkStatus() : Refused(record, *answer));
                });
}

}  // namespace gangway::cmd
