// An API server on a simulated loop, asked in process, and answers that tests can look into.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/simulated_loop.h"
#include "gtest/gtest.h"
#include "sandbox/apiserver/api_server.h"
#include "sandbox/apiserver/draft/draft.h"

namespace gangway::testutil {

// A parsed body; fields by path with dots, "" when absent. A number in the path is an index of a list.
class Json {
 public:
  explicit Json(absl::string_view text) : draft_(*sandbox::Draft::Parse(text)) {}
  const boost::json::value* Find(absl::string_view path) const {
    const boost::json::value* value = &draft_.root();
    for (std::string part; !path.empty() && value != nullptr;) {
      // A label key has dots of its own: "metadata.labels/a.b/c".
      const std::size_t end = path.find_first_of("./");
      part = std::string(path.substr(0, end));
      path = end == absl::string_view::npos ? absl::string_view() : path.substr(end + 1);
      if (value->is_object()) {
        value = value->get_object().if_contains(part);
      } else if (value->is_array()) {
        const std::size_t index = std::stoul(part);
        value = index < value->get_array().size() ? &value->get_array()[index] : nullptr;
      } else {
        value = nullptr;
      }
    }
    return value;
  }
  bool Has(absl::string_view path) const { return Find(path) != nullptr; }
  std::string Text(absl::string_view path) const {
    const boost::json::value* value = Find(path);
    if (value == nullptr) return "";
    if (value->is_string()) return std::string(sandbox::AbslView(value->get_string()));
    if (value->is_bool()) return value->get_bool() ? "true" : "false";
    if (value->is_int64()) return absl::StrCat(value->get_int64());
    return value->is_null() ? "null" : "?";
  }
  std::size_t Size(absl::string_view path) const {
    const boost::json::value* value = Find(path);
    return value == nullptr || !value->is_array() ? 0 : value->get_array().size();
  }
  const sandbox::Draft& draft() const { return draft_; }

 private:
  sandbox::Draft draft_;
};

struct Answer {
  int code = 0;
  std::string body, content_type;
  std::vector<std::string> warnings;
  std::optional<absl::Duration> retry_after;
  Json json() const { return Json(body); }
  std::string Text(absl::string_view path) const { return json().Text(path); }
};
inline void PrintTo(const Answer& answer, std::ostream* out) { *out << answer.code << " " << answer.body; }

inline constexpr absl::string_view kPods = "/api/v1/namespaces/default/pods";
inline constexpr absl::string_view kConfigMaps = "/api/v1/namespaces/default/configmaps";
inline constexpr absl::string_view kJobs = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs";
inline constexpr absl::string_view kPodGroups = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups";
inline constexpr absl::string_view kQueues = "/apis/scheduling.volcano.sh/v1beta1/queues";

// What goes with a request beside its body.
struct Sent {
  std::string query = {}, content_type = {}, accept = {};
};

class ServerTest : public ::testing::Test {
 protected:
  explicit ServerTest(sandbox::ApiServerOptions options = {}) : server_(loop_, Journalled(std::move(options))) {}

  Answer Do(absl::string_view method, absl::string_view path, absl::string_view body = {}, Sent sent = {}) {
    kube::Request request;
    request.method = std::string(method);
    request.path = std::string(path);
    request.query = std::move(sent.query);
    request.content_type = std::move(sent.content_type);
    request.accept = std::move(sent.accept);
    request.body = std::string(body);
    const kube::Response response = server_.Handle(request, {"test"});
    return {response.code, *response.body, response.content_type, response.warnings, response.retry_after};
  }
  Answer Get(absl::string_view path, std::string query = {}) {
    return Do("GET", path, {}, {.query = std::move(query)});
  }
  Answer Post(absl::string_view path, absl::string_view body, std::string query = {}) {
    return Do("POST", path, body, {.query = std::move(query)});
  }
  Answer Put(absl::string_view path, absl::string_view body, std::string query = {}) {
    return Do("PUT", path, body, {.query = std::move(query)});
  }
  Answer Patch(absl::string_view path, absl::string_view body, std::string type = "merge", std::string query = {}) {
    const std::string media = type == "json"        ? "application/json-patch+json"
                              : type == "strategic" ? "application/strategic-merge-patch+json"
                              : type == "merge"     ? "application/merge-patch+json"
                                                    : type;
    return Do("PATCH", path, body, {.query = std::move(query), .content_type = media});
  }
  Answer Delete(absl::string_view path, absl::string_view body = {}, std::string query = {}) {
    return Do("DELETE", path, body, {.query = std::move(query)});
  }

  static std::string PodJson(absl::string_view name, absl::string_view more_metadata = {},
                             absl::string_view more_spec = {}) {
    return absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name, "\"", more_metadata,
                        R"(},"spec":{"containers":[{"name":"main","image":"busybox:1"}])", more_spec, "}}");
  }
  static std::string ConfigMapJson(absl::string_view name, absl::string_view more_metadata = {}) {
    return absl::StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")", name, "\"", more_metadata,
                        R"(},"data":{"a":"1"}})");
  }
  static std::string JobJson(absl::string_view name, int replicas = 2) {
    return absl::StrCat(
        R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")", name,
        R"("},"spec":{"schedulerName":"volcano","tasks":[{"name":"w","replicas":)", replicas,
        R"(,"template":{"spec":{"containers":[{"name":"w","image":"i"}],"restartPolicy":"Never"}}}]}})");
  }
  std::string PodPath(absl::string_view name) { return absl::StrCat(kPods, "/", name); }
  Answer Bind(absl::string_view pod, absl::string_view node) {
    return Post(absl::StrCat(kPods, "/", pod, "/binding"),
                absl::StrCat(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":")", pod,
                             R"("},"target":{"kind":"Node","name":")", node, R"("}})"));
  }
  // The server's own revision; every test that expects "nothing was written" compares it.
  std::uint64_t revision() const { return server_.store().revision(); }
  // Lets collectors and watches do their work.
  void Settle() { loop_.RunUntilIdle(); }

  SimulatedLoop loop_{1};
  std::vector<sandbox::JournalRecord> journal_;
  sandbox::ApiServer server_;

 private:
  sandbox::ApiServerOptions Journalled(sandbox::ApiServerOptions options) {
    options.journal = [this](const sandbox::JournalRecord& record) { journal_.push_back(record); };
    return options;
  }
};

}  // namespace gangway::testutil
