// What the real scheduler asked, in the order in which it asked it, over HTTP with the headers that it sent, and what
// we answer: tests/golden/extender/answers has it, a file a case. GW_UPDATE_GOLDEN=1 writes them anew.
//
// Few calls were kept whole. Of the others a session that was kept tells the pods and nodes, so that they are asked,
// too; where it was not kept, none is open, and what was kept of its questions is answered as without a plan.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/extender/http/serving.h"
#include "tests/plugin/extender/session/recordings.h"
#include "tests/testing/golden.h"
#include "tests/testing/raw_socket.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSubsetOf;
using ::testing::StartsWith;

std::string Str(const json::value& value) { return std::string(value.as_string()); }

// A session as its body told it and its calls since, and what a call that was not kept must have asked.
class Session {
 public:
  explicit Session(const std::string& body) : document_(json::parse(body)) {}

  // nullopt: it is about something that the body did not tell.
  std::optional<std::string> BodyOf(const RecordedCall& call) {
    if (call.verb == "queueOverused") return Wrapped("queue", Find("Queues", Str(call.about.at("queue"))));
    if (call.verb == "jobEnqueueable" || call.verb == "jobEnqueued" || call.verb == "jobReady") return JobBody(call);
    if (!call.about.contains("task")) return std::nullopt;
    const json::value* const task = Task(Str(call.about.at("task")));
    if (task == nullptr) return std::nullopt;
    const std::string text = absl::StrCat("{\"task\":", json::serialize(*task));
    if (call.verb == "predicate") {
      const json::value* const node = Find("Nodes", Str(call.about.at("node")));
      if (node == nullptr) return std::nullopt;
      return absl::StrCat(text, ",\"node\":", json::serialize(*node), "}");
    }
    if (call.verb == "prioritize") {
      if (!call.about.contains("nodes")) return absl::StrCat(text, ",\"nodes\":null}");
      std::vector<std::string> nodes;
      for (const json::value& name : call.about.at("nodes").as_array())
        nodes.push_back(json::serialize(*Find("Nodes", Str(name))));
      return absl::StrCat(text, ",\"nodes\":[", absl::StrJoin(nodes, ","), "]}");
    }
    return absl::StrCat(text, "}");  // of an event
  }

  // "ga-w-0 status=2 node="node-003"": so it is from now on. nullptr: no job has it.
  const json::value* Task(const std::string& told) {
    const std::vector<std::string> words = absl::StrSplit(told, ' ');
    for (auto& [key, job] : document_.at("Jobs").as_object()) {
      for (auto& [uid, task] : job.at("Tasks").as_object()) {
        if (Str(task.at("Name")) != words[0]) continue;
        std::int64_t status = 0;
        EXPECT_TRUE(absl::SimpleAtoi(words[1].substr(words[1].find('=') + 1), &status)) << told;
        task.as_object()["Status"] = status;
        task.as_object()["NodeName"] = words[2].substr(6, words[2].size() - 7);
        return &task;
      }
    }
    return nullptr;
  }

 private:
  std::optional<std::string> JobBody(const RecordedCall& call) {
    const std::string name = Str(call.about.at("job"));
    for (const auto& [key, job] : document_.at("Jobs").as_object()) {
      if (Str(job.at("Name")) != name) continue;
      std::map<std::string, int> by_status;
      for (const auto& [uid, task] : job.at("Tasks").as_object())
        ++by_status[absl::StrCat(task.at("Status").as_int64())];
      // Ours has heard of what happened to each pod, or it is not what was asked.
      std::map<std::string, int> told;
      for (const auto& [status, count] : call.about.at("tasksByStatus").as_object())
        told[std::string(status)] = count.to_number<int>();
      EXPECT_EQ(by_status, told) << name << " " << call.seq;
      return Wrapped("job", &job);
    }
    return std::nullopt;
  }
  const json::value* Find(const char* what, const std::string& name) const {
    return document_.at(what).as_object().if_contains(name);
  }
  static std::optional<std::string> Wrapped(const char* key, const json::value* value) {
    if (value == nullptr) return std::nullopt;
    return absl::StrCat("{\"", key, "\":", json::serialize(*value), "}");
  }

  json::value document_;
};

// As Go's client writes it.
std::string RequestOf(const std::string& path, const std::vector<std::pair<std::string, std::string>>& headers,
                      const std::string& body) {
  std::string text = absl::StrCat("POST ", path, " HTTP/1.1\r\n");
  for (const auto& [name, value] : headers)
    absl::StrAppend(&text, name, ": ", name == "Content-Length" ? absl::StrCat(body.size()) : value, "\r\n");
  return absl::StrCat(text, "\r\n", body);
}

// What a call is about, in few words.
std::string Shown(const json::object& about) {
  std::vector<std::string> words;
  for (const auto& [key, value] : about) {
    if (key == "tasksByStatus" || key == "podGroupPhase") continue;
    words.push_back(value.is_string() ? Str(value) : json::serialize(value));
  }
  return absl::StrJoin(words, " ");
}

// An answer, with victims by their names.
std::string Shown(const std::string& verb, const std::string& answer) {
  if (verb != "preemptable" && verb != "reclaimable") return answer;
  const json::value value = json::parse(answer);
  std::vector<std::string> names;
  for (const json::value& victim : value.at("victims").as_array()) names.push_back(Str(victim.at("Name")));
  return absl::StrCat("{\"status\":", value.at("status").as_int64(), ",\"victims\":[", absl::StrJoin(names, ","), "]}");
}

class ReplayTest : public ::testing::TestWithParam<std::string> {
 protected:
  ReplayTest() : serving_(Options()), socket_(static_cast<std::uint16_t>(serving_.port())) {}
  static extender::VerbOptions Options() {
    extender::VerbOptions options;
    options.mode = extender::Mode::kFull;
    options.budget = absl::Seconds(30);
    return options;
  }

  std::string Ask(const std::string& path, const std::vector<std::pair<std::string, std::string>>& headers,
                  const std::string& body) {
    socket_.Send(RequestOf(path, headers, body));
    const std::string reply = socket_.ReadAnswer();
    EXPECT_THAT(reply, StartsWith("HTTP/1.1 200 OK\r\n")) << path;
    EXPECT_THAT(reply, HasSubstr("Content-Type: application/json\r\n")) << path;
    return reply.substr(std::min(reply.size(), reply.find("\r\n\r\n") + 4));
  }
  // What is so of every answer, whatever the plan is.
  void ExpectKept(const RecordedCall& call, const std::string& body, const std::string& answer) {
    if (call.verb == "preemptable" || call.verb == "reclaimable") {
      const json::value value = json::parse(answer);
      for (const json::value& victim : value.at("victims").as_array())
        EXPECT_THAT(body, HasSubstr(absl::StrCat("\"UID\":\"", Str(victim.at("UID")), "\""))) << "was offered";
      if (!value.at("victims").as_array().empty()) {
        const std::string echoed = answer.substr(answer.find('['), answer.rfind(']') - answer.find('['));
        EXPECT_THAT(body, HasSubstr(echoed)) << "byte by byte";
      }
    }
    if (call.verb == "predicate" && absl::StrContains(answer, "\"status\":\"\""))
      fits_[absl::StrCat(call.session, " ", Str(call.about.at("task")))].insert(Str(call.about.at("node")));
    if (call.verb == "prioritize") {
      const json::value value = json::parse(answer);
      const json::object& scores = value.at("nodeScore").as_object();
      EXPECT_LE(scores.size(), 1u);
      for (const auto& [node, score] : scores)
        EXPECT_THAT(std::set<std::string>{std::string(node)},
                    IsSubsetOf(fits_[absl::StrCat(call.session, " ", Str(call.about.at("task")))]))
            << "a node that scores is one that fits";
    }
  }

  Serving serving_;
  RawSocket socket_;                                   // one connection for all
  std::map<std::string, std::set<std::string>> fits_;  // nodes, by session and pod
};
INSTANTIATE_TEST_SUITE_P(Each, ReplayTest, ::testing::ValuesIn(RecordedCases()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(ReplayTest, EveryCallIsAnsweredAsTheContractSays) {
  std::string told;
  std::unique_ptr<Session> session;
  std::vector<std::pair<std::string, std::string>> headers;  // those of the recordings are all alike
  int asked = 0, kept = 0;
  const std::vector<RecordedCall> calls = CallsOf(GetParam());
  for (const RecordedCall& call : calls) {
    if (call.recording.empty()) continue;
    headers = Recorded(call.recording).headers;
    break;
  }
  ASSERT_FALSE(headers.empty());
  for (const RecordedCall& call : calls) {
    std::optional<std::string> body;
    std::string path = "/x/" + call.verb;
    const char* how = "";
    if (!call.recording.empty()) {
      const Recording recording = Recorded(call.recording);
      ASSERT_EQ(recording.verb, call.verb);
      EXPECT_EQ(recording.headers, [&] {
        auto alike = headers;
        for (auto& [name, value] : alike)
          if (name == "Content-Length") value = absl::StrCat(recording.body.size());
        return alike;
      }());
      body = recording.body;
      path = recording.path;
      how = ", as it came";
      ++kept;
    } else if (call.verb == "onSessionOpen" && call.session == 5 && GetParam() == "c-preempt-echo") {
      body = SessionThatPreempts();
      how = ", put together";
    } else if (call.verb == "onSessionOpen" && call.session == 5 && GetParam() == "d-reclaim-echo") {
      body = SessionThatReclaims();
      how = ", put together";
    } else if (call.verb == "onSessionClose" && session != nullptr) {
      body = "{}";
    } else if (session != nullptr) {
      body = session->BodyOf(call);
    }
    if (call.verb == "onSessionOpen") {
      session = body.has_value() ? std::make_unique<Session>(*body) : nullptr;
    } else if (session != nullptr && !call.recording.empty() && call.about.contains("task")) {
      session->Task(Str(call.about.at("task")));  // so the events that were kept are heard of, too
    }
    if (!body.has_value()) continue;
    const std::string answer = Ask(path, headers, *body);
    ExpectKept(call, *body, answer);
    ++asked;
    absl::StrAppend(&told, "session ", call.session, " call ", call.seq, how, ": ", call.verb, " ", Shown(call.about),
                    "\n  ", Shown(call.verb, answer), "\n");
    if (call.verb == "onSessionClose") session.reset();
  }
  absl::StrAppend(&told, asked, " of ", calls.size(), " calls are asked, ", kept, " of them as they came\n");
  ExpectGolden(absl::StrCat(GW_SOURCE_DIR, "/tests/golden/extender/answers/", GetParam(), ".txt"), told);
}

TEST(RecordingsTest, EachIsACallOfACase) {
  std::set<std::string> of_cases, all;
  for (const std::string& one : RecordedCases()) {
    for (const RecordedCall& call : CallsOf(one)) {
      if (!call.recording.empty()) of_cases.insert(call.recording);
    }
  }
  for (const Recording& recording : AllRecordings()) all.insert(recording.file.substr(0, recording.file.find('.')));
  EXPECT_EQ(of_cases, all);
}

}  // namespace
}  // namespace gangway::testutil
