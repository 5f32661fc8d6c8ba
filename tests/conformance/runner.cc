#include "tests/conformance/runner.h"

#include <chrono>
#include <latch>
#include <map>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "sandbox/apiserver/protobuf/protobuf_bodies.h"
#include "tests/conformance/match.h"
#include "tests/conformance/normal.h"
#include "tests/conformance/proto_body.h"
#include "tests/conformance/text.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

constexpr std::chrono::seconds kEventually{30};

const json::value* Find(const json::object& in, absl::string_view name) {
  return in.if_contains({name.data(), name.size()});
}

std::string MediaTypeOf(absl::string_view word) {
  if (word == "json" || word == "merge" || word == "strategic") {
    return absl::StrCat("application/", word,
                        word == "json"    ? "-patch+json"
                        : word == "merge" ? "-patch+json"
                                          : "-merge-patch+json");
  }
  if (word == "apply") return "application/apply-patch+yaml";
  return std::string(word);
}

std::string AcceptOf(absl::string_view word) {
  if (word == "table") return "application/json;as=Table;v=v1;g=meta.k8s.io";
  if (word == "metadata") return "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
  if (word == "metadata-list") return "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
  return std::string(word);
}

// "pods"; "jobs.batch" where Volcano has a plural too, which "jobs" is.
const api::Resource* ResourceOf(absl::string_view name) {
  for (const bool custom : {true, false}) {
    for (const api::KindRow& kind : api::Kinds()) {
      const api::Resource& resource = *kind.resource;
      const bool meant =
          View(resource.plural) == name || absl::StrCat(View(resource.plural), ".", View(resource.group)) == name;
      if (meant && kind.custom() == custom) return &resource;
    }
  }
  return nullptr;
}

class CaseRun {
 public:
  CaseRun(const Case& c, Server& server, const std::string& ns)
      : case_(c), server_(server), normalizer_({{ns, "<ns>"}, {Large(), "<large>"}}) {
    variables_["ns"] = ns;
    variables_["large"] = Large();
  }

  std::string Go() {
    const json::value body = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", variables_["ns"]}}}};
    const auto made = server_.Send({.method = "POST",
                                    .path = "/api/v1/namespaces",
                                    .query = {},
                                    .content_type = {},
                                    .accept = {},
                                    .body = api::ToJson(body)});
    if (!made.ok()) return absl::StrCat("its namespace: ", made.status().ToString());
    if (made->code != 201) return absl::StrCat("its namespace: ", made->code, " ", *made->body);
    for (const Step& step : case_.steps) {
      if (std::string wrong = Take(step); !wrong.empty())
        return absl::StrCat(step.where, ": ", Line(step), "\n", wrong);
    }
    return "";
  }

  json::array TakeSeen() { return std::move(seen_); }

 private:
  static std::string Large() { return std::string(600 << 10, 'x'); }

  std::string Line(const Step& step) const { return absl::StrCat(step.verb, " ", Fill(step.target)); }

  std::string Take(const Step& step) {
    if (step.verb == "WATCH") return StartWatch(step);
    if (step.verb == "FRAMES") return ExpectFrames(step);
    if (step.verb == "END") return ExpectEnd(step);
    if (step.verb == "AT-ONCE") return AskAtOnce(step);
    if (step.verb == "COMPACT") {
      const absl::Status status = server_.Compact();
      return status.ok() ? "" : status.ToString();
    }
    const json::value* eventually = Find(step.fields, "eventually");
    if (eventually == nullptr || !eventually->as_bool()) return Ask(step);
    const auto until = std::chrono::steady_clock::now() + kEventually;
    while (true) {
      std::string wrong = Ask(step);
      if (wrong.empty() || std::chrono::steady_clock::now() > until) return wrong;
      seen_.pop_back();
      std::this_thread::sleep_for(
          std::chrono::milliseconds(50));  // a state without notification: looked at, not waited for
    }
  }

  // <name> becomes what was saved under that name.
  std::string Fill(const std::string& text) const {
    std::string out = text;
    for (const auto& [name, value] : variables_) {
      if (absl::StrContains(out, '<')) out = absl::StrReplaceAll(out, {{absl::StrCat("<", name, ">"), value}});
    }
    return out;
  }
  json::value Fill(const json::value& value) const {
    if (value.is_string()) return json::string(Fill(ToText(value.get_string())));
    if (value.is_array()) {
      json::array out;
      for (const json::value& element : value.get_array()) out.push_back(Fill(element));
      return out;
    }
    if (!value.is_object()) return value;
    json::object out;
    for (const json::key_value_pair& member : value.get_object()) {
      out.insert_or_assign(Fill(ToText(member.key())), Fill(member.value()));
    }
    return out;
  }

  // A path that begins without a slash is a resource's in the case's namespace, or outside of any: "pods/a/status".
  kube::Request RequestOf(const Step& step, const api::Resource** resource, std::string* subresource) const {
    kube::Request request;
    request.method = step.verb == "WATCH" ? "GET" : step.verb;
    const std::vector<std::string> halves = absl::StrSplit(Fill(step.target), absl::MaxSplits('?', 1));
    if (halves.size() == 2) request.query = halves[1];
    request.path = halves[0];
    if (!absl::StartsWith(halves[0], "/")) {
      std::vector<std::string> parts = absl::StrSplit(halves[0], '/');
      *resource = ResourceOf(parts[0]);
      parts.resize(3);
      *subresource = parts[2];
      if (*resource != nullptr) {
        request.path = api::PathOf(**resource, (*resource)->namespaced ? variables_.at("ns") : "", parts[1], parts[2]);
      }
    }
    if (const json::value* query = Find(step.fields, "query"); query != nullptr) {
      for (const json::key_value_pair& pair : query->get_object()) {
        const std::string value =
            pair.value().is_string() ? Fill(ToText(pair.value().get_string())) : api::ToJson(pair.value());
        absl::StrAppend(&request.query, request.query.empty() ? "" : "&", PercentEncode(ToText(pair.key())), "=",
                        PercentEncode(value));
      }
    }
    request.accept = AcceptOf(TextOf(step.fields, "accept"));
    request.content_type = MediaTypeOf(TextOf(step.fields, "type"));
    if (request.content_type.empty() && request.method == "PATCH") request.content_type = MediaTypeOf("merge");
    return request;
  }

  // Bodies of whole objects need not say what the path says.
  static void FillInKind(const api::Resource& resource, absl::string_view subresource, json::object& body) {
    std::string api_version = resource.ApiVersion(), kind(resource.kind);
    if (subresource == "eviction") api_version = "policy/v1", kind = "Eviction";
    if (subresource == "binding") api_version = "v1", kind = "Binding";
    if (subresource == "scale") api_version = "autoscaling/v1", kind = "Scale";
    if (subresource == "token") api_version = "authentication.k8s.io/v1", kind = "TokenRequest";
    if (!body.contains("apiVersion")) body["apiVersion"] = api_version;
    if (!body.contains("kind")) body["kind"] = kind;
  }

  // With its body, as it is sent.
  absl::StatusOr<kube::Request> Compose(const Step& step) const {
    const api::Resource* resource = nullptr;
    std::string subresource;
    kube::Request request = RequestOf(step, &resource, &subresource);
    if (resource == nullptr && !absl::StartsWith(request.path, "/")) {
      return absl::InvalidArgumentError(absl::StrCat("there is no resource ", request.path));
    }
    const json::value* body = Find(step.fields, "body");
    if (body == nullptr) {
      request.body = Fill(TextOf(step.fields, "text"));
      return request;
    }
    json::value filled = Fill(*body);
    const bool whole = step.verb == "POST" || step.verb == "PUT" || absl::StrContains(request.content_type, "apply");
    if (whole && resource != nullptr && filled.is_object()) FillInKind(*resource, subresource, filled.get_object());
    const json::value* proto = Find(step.fields, "proto");
    if (proto == nullptr || !proto->get_bool()) {
      request.body = api::ToJson(filled);
      return request;
    }
    GW_ASSIGN_OR_RETURN(request.body, ToProtobuf(filled));
    request.content_type = std::string(sandbox::kProtobufMediaType);
    return request;
  }

  std::string Ask(const Step& step) {
    absl::StatusOr<kube::Request> request = Compose(step);
    if (!request.ok()) return std::string(request.status().message());
    const absl::StatusOr<kube::Response> response = server_.Send(*std::move(request));
    seen_.push_back(response.ok() ? json::value(normalizer_.Of(*response)) : json::value("no answer"));
    if (!response.ok()) return response.status().ToString();
    return Judge(step, *response);
  }

  // "201", "409 Conflict": of which there are as many as the case says, whoever was first.
  static std::string Told(const absl::StatusOr<kube::Response>& response) {
    if (!response.ok()) return "no answer";
    const absl::StatusOr<json::value> body = api::ParseJson(*response->body);
    const std::string reason =
        body.ok() && body->is_object() && response->code >= 300 ? TextOf(body->get_object(), "reason") : "";
    return absl::StrCat(response->code, reason.empty() ? "" : " ", reason);
  }

  // All are made before the first is sent; <i> counts them.
  std::string AskAtOnce(const Step& step) {
    std::vector<kube::Request> requests;
    for (int i = 0; i < step.times; ++i) {
      variables_["i"] = absl::StrCat(i);
      absl::StatusOr<kube::Request> request = Compose(step.each.front());
      if (!request.ok()) return std::string(request.status().message());
      requests.push_back(*std::move(request));
    }
    variables_.erase("i");
    std::vector<std::string> told(requests.size());
    std::latch together(step.times);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      threads.emplace_back([&, i] {
        together.arrive_and_wait();
        told[i] = Told(server_.Send(std::move(requests[i])));
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::map<std::string, int> counts;
    for (const std::string& each : told) ++counts[each];
    json::object answers;
    for (const auto& [answer, count] : counts) answers[answer] = count;
    const json::value all(answers);
    seen_.push_back(json::value{{"at-once", all}});
    return absl::StrJoin(Differences({{"$exactly", *Find(step.fields, "answers")}}, &all), "\n");
  }

  std::string Judge(const Step& step, const kube::Response& response) {
    std::vector<std::string> wrong;
    const json::value* code = Find(step.fields, "code");
    const std::int64_t wanted = code != nullptr ? code->get_int64() : step.verb == "POST" ? 201 : 200;
    if (response.code != wanted) wrong.push_back(absl::StrCat("should answer ", wanted));
    const absl::StatusOr<json::value> body = api::ParseJson(*response.body);
    const json::value* parsed = body.ok() ? &*body : nullptr;
    json::object pattern;
    for (const char* name : {"reason", "message"}) {
      if (const json::value* value = Find(step.fields, name); value != nullptr) pattern[name] = *value;
    }
    const auto expect = [&](const json::value& like, const json::value* value, absl::string_view what) {
      for (const std::string& line : Differences(Fill(like), value)) wrong.push_back(absl::StrCat(what, line));
    };
    if (!pattern.empty()) expect(pattern, parsed, "");
    if (const json::value* has = Find(step.fields, "has"); has != nullptr) expect(*has, parsed, "");
    if (const json::value* says = Find(step.fields, "says"); says != nullptr) {
      const json::value text(json::string(*response.body));
      expect(*says, &text, "the text");
    }
    if (const json::value* warnings = Find(step.fields, "warnings"); warnings != nullptr) {
      json::array got;
      for (const std::string& warning : response.warnings) got.emplace_back(json::string(warning));
      const json::value all(std::move(got));
      expect(*warnings, &all, "warnings");
    }
    if (const std::string media = TextOf(step.fields, "media");
        !media.empty() && !absl::StartsWith(response.content_type, media)) {
      wrong.push_back(absl::StrCat("should be ", media, ", is ", response.content_type));
    }
    const json::value* retry = Find(step.fields, "retry-after");
    if (retry != nullptr && retry->get_bool() != response.retry_after.has_value()) {
      wrong.push_back(absl::StrCat("should have ", retry->get_bool() ? "a" : "no", " Retry-After"));
    }
    if (wrong.empty()) wrong = Save(step.fields, parsed);
    if (wrong.empty()) return "";
    return absl::StrCat(absl::StrJoin(wrong, "\n"), "\nanswer: ", response.code, " ", response.body->substr(0, 4000));
  }

  std::vector<std::string> Save(const json::object& fields, const json::value* from) {
    const json::value* save = Find(fields, "save");
    if (save == nullptr) return {};
    for (const json::key_value_pair& pair : save->get_object()) {
      json::error_code error;
      const json::value* value = from == nullptr ? nullptr : from->find_pointer(pair.value().get_string(), error);
      if (value == nullptr)
        return {absl::StrCat("there is nothing at ", ToText(pair.value().get_string()), " to save")};
      variables_[ToText(pair.key())] = value->is_string() ? ToText(value->get_string()) : api::ToJson(*value);
    }
    return {};
  }

  std::string StartWatch(const Step& step) {
    const api::Resource* resource = nullptr;
    std::string subresource;
    kube::Request request = RequestOf(step, &resource, &subresource);
    absl::StrAppend(&request.query, request.query.empty() ? "" : "&", "watch=true");
    const std::string name = TextOf(step.fields, "as");
    watches_[name.empty() ? "watch" : name] = server_.Watch(std::move(request));
    return "";
  }

  OpenWatch* FindWatch(const Step& step) {
    const auto it = watches_.find(step.target.empty() ? "watch" : step.target);
    return it == watches_.end() ? nullptr : it->second.get();
  }

  // The next frames, one for each pattern: {ADDED: {...}}.
  std::string ExpectFrames(const Step& step) {
    OpenWatch* watch = FindWatch(step);
    if (watch == nullptr) return "there is no such watch";
    static constexpr const char* kNames[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
    const json::value* are = Find(step.fields, "are");
    if (are == nullptr) return "FRAMES needs are";
    json::value last;
    for (const json::value& pattern : are->get_array()) {
      const std::optional<WatchNews> news = watch->Next();
      if (!news.has_value()) return absl::StrCat("nothing came where this should: ", api::ToJson(Fill(pattern)));
      if (news->ended) {
        return absl::StrCat("the watch ended: ", news->end.ToString(),
                            " where this should come: ", api::ToJson(Fill(pattern)));
      }
      const kube::Frame& frame = news->frame;
      seen_.push_back(normalizer_.Of(frame));
      const absl::StatusOr<json::value> object = api::ParseJson(*frame.object);
      if (!object.ok()) return absl::StrCat("a frame that is no JSON: ", *frame.object);
      const json::value seen = {{kNames[static_cast<int>(frame.type)], *object}};
      const std::vector<std::string> wrong = Differences(Fill(pattern), &seen);
      if (!wrong.empty()) return absl::StrCat(absl::StrJoin(wrong, "\n"), "\nframe: ", api::ToJson(seen));
      last = *object;
    }
    return absl::StrJoin(Save(step.fields, &last), "\n");
  }

  // The watch ends in an orderly way, with no more frames.
  std::string ExpectEnd(const Step& step) {
    OpenWatch* watch = FindWatch(step);
    if (watch == nullptr) return "there is no such watch";
    const std::optional<WatchNews> news = watch->Next();
    if (!news.has_value()) return "the watch goes on";
    if (!news->ended) return absl::StrCat("another frame came: ", *news->frame.object);
    seen_.push_back(json::value("the watch ended"));
    return news->end.ok() ? "" : absl::StrCat("the watch ended with ", news->end.ToString());
  }

  const Case& case_;
  Server& server_;
  Normalizer normalizer_;
  json::array seen_;
  std::map<std::string, std::string> variables_;
  std::map<std::string, std::unique_ptr<OpenWatch>> watches_;
};

}  // namespace

CaseOutcome RunCase(const Case& c, Server& server, const std::string& ns) {
  CaseRun run(c, server, ns);
  CaseOutcome outcome;
  outcome.wrong = run.Go();
  outcome.seen = run.TakeSeen();
  return outcome;
}

}  // namespace gangway::testutil
