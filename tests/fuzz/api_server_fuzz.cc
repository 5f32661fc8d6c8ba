// Requests to the sandbox's API server, up to eight, divided by lines "%%": a line "PATCH
// /api/v1/namespaces/default/pods/a?fieldManager=m", headers, an empty line, a body. Every request is answered; a
// refusal is a Status and changes nothing; what was written can be read in every form, and written back as it was read
// it changes nothing.
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json.h"
#include "api/json_value.h"
#include "base/simulated_loop.h"
#include "sandbox/apiserver/api_server.h"
#include "tests/fuzz/fuzz_target.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxRequests = 8;
constexpr const char* kForms[] = {"application/json", "application/json;as=Table;v=v1;g=meta.k8s.io",
                                  "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"};

kube::Request RequestOf(absl::string_view text) {
  kube::Request out;
  const auto line = [&text] {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const absl::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return one;
  };
  const std::pair<absl::string_view, absl::string_view> first = absl::StrSplit(line(), absl::MaxSplits(' ', 1));
  const std::pair<std::string, std::string> target = absl::StrSplit(first.second, absl::MaxSplits('?', 1));
  out.method = std::string(first.first);
  out.path = target.first;
  out.query = target.second;
  for (absl::string_view header = line(); !header.empty(); header = line()) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(header, absl::MaxSplits(": ", 1));
    if (parts.first == "Content-Type") out.content_type = std::string(parts.second);
    if (parts.first == "Accept") out.accept = std::string(parts.second);
  }
  out.body = std::string(text);
  return out;
}

std::string TextAt(const json::value& object, const char* a, const char* b) {
  const json::object* const members = object.if_object();
  const json::value* const inner = members == nullptr ? nullptr : members->if_contains(a);
  const json::value* const value =
      inner == nullptr || !inner->is_object() ? nullptr : inner->get_object().if_contains(b);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

class Visit {
 public:
  explicit Visit(absl::string_view shown) : shown_(shown), server_(loop_, {}) {}

  void Ask(const kube::Request& request) {
    const std::uint64_t before = server_.store().revision();
    if (sandbox::ApiServer::IsWatch(request)) return Watch(request);
    const kube::Response response = server_.Handle(request, {"fuzz"});
    RequireAnswer(request, response);
    if (!response.ok()) return Require(server_.store().revision() == before, "a refusal changes nothing", shown_);
    if (server_.store().revision() == before) return;
    ++came_out;
    RequireReadable(request, *response.body);
  }
  void Settle() {
    Require(loop_.RunUntilIdle(absl::Seconds(5), 100'000), "the server comes to rest", shown_);
    Require(streams_ok_, "frames hold complete JSON", shown_);
  }

 private:
  kube::Response Send(std::string method, std::string path, std::string body, std::string accept) {
    kube::Request request;
    request.method = std::move(method);
    request.path = std::move(path);
    request.body = std::move(body);
    request.accept = std::move(accept);
    return server_.Handle(request, {"fuzz"});
  }

  void RequireAnswer(const kube::Request& request, const kube::Response& response) {
    const std::string& body = *response.body;
    Require(response.code >= 200 && response.code < 600, "every request has an answer", shown_);
    Require(body.size() <= 40 * request.body.size() + (2u << 20), "an answer is in proportion", body);
    if (absl::StartsWith(response.content_type, "text/plain") || body.empty()) return;
    Require(api::ParseCompletely(body, {.max_bytes = 64u << 20, .max_depth = 250}).ok(), "an answer is complete JSON",
            absl::StrCat(body, "\n", shown_));
    if (response.ok()) return;
    const json::value status = *api::ParseJson(body);
    Require(status.at("kind") == "Status" && status.at("code").to_number<int>() == response.code,
            "a refusal is a Status that says so", body);
  }

  // The object that a write answered, where it now is.
  void RequireReadable(const kube::Request& request, const std::string& body) {
    const absl::StatusOr<json::value> written = api::ParseJson(body);
    const std::string name = written.ok() ? TextAt(*written, "metadata", "name") : "";
    if (name.empty() || TextAt(*written, "metadata", "uid").empty()) return;
    const std::string path = request.method == "POST" ? absl::StrCat(request.path, "/", name) : request.path;
    const kube::Response read = Send("GET", path, "", kForms[0]);
    if (read.code == 404 || read.code == 405) return;  // it was deleted, or this is no place of an object
    for (const char* form : kForms) RequireAnswer(request, Send("GET", path, "", form));
    Require(read.code == 200, "what was written can be read", absl::StrCat(*read.body, "\n", shown_));
    const std::uint64_t before = server_.store().revision();
    const kube::Response back = Send("PUT", path, *read.body, kForms[0]);
    if (back.code == 405 || back.code == 404) return;
    Require(back.code == 200, "what was read can be written back",
            absl::StrCat(*read.body, "\n", *back.body, "\n", shown_));
    Require(server_.store().revision() == before, "what is written back as it was read changes nothing",
            absl::StrCat(*read.body, "\n", *back.body, "\n", shown_));
  }

  void Watch(const kube::Request& request) {
    sandbox::ApiServer::WatchAnswer answer = server_.StartWatch(
        request, {"fuzz"},
        [this](const std::vector<kube::Frame>& frames) {
          for (const kube::Frame& frame : frames)
            streams_ok_ =
                streams_ok_ && api::ParseCompletely(*frame.object, {.max_bytes = 64u << 20, .max_depth = 250}).ok();
        },
        [](const absl::Status&) {});
    if (answer.refused.has_value()) RequireAnswer(request, *answer.refused);
    watches_.push_back(std::move(answer.watch));
  }

  const absl::string_view shown_;
  SimulatedLoop loop_{1};
  sandbox::ApiServer server_;
  std::vector<std::unique_ptr<kube::Watch>> watches_;
  bool streams_ok_ = true;
};

}  // namespace
}  // namespace gangway::testutil

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gangway::testutil;
  const absl::string_view text = TextOf(data, size);
  const std::vector<absl::string_view> requests = PartsOf(text);
  Visit visit(text);
  for (std::size_t i = 0; i < std::min(requests.size(), kMaxRequests); ++i) visit.Ask(RequestOf(requests[i]));
  visit.Settle();
  return 0;
}
