#include "tests/plugin/extender/session/recordings.h"

#include <zlib.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "tests/testing/files.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

const char kFolder[] = GW_SOURCE_DIR "/tests/golden/extender/";

std::string Unpacked(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  GW_CHECK(file != nullptr);
  std::string out;
  char some[1 << 16];
  for (int count; (count = gzread(file, some, sizeof some)) > 0;) out.append(some, static_cast<std::size_t>(count));
  gzclose(file);
  return out;
}

// A body stands in its file as it came, with no space around it.
Recording Parse(absl::string_view file, const std::string& text) {
  Recording recording;
  recording.file = std::string(file);
  recording.verb = std::string(file.substr(0, file.rfind('-')));
  const std::size_t response = text.rfind("\"response\":");
  GW_CHECK(response != std::string::npos);
  const absl::string_view request = absl::string_view(text).substr(0, response);
  const std::size_t begin = request.find("\"body\":") + 7, end = request.rfind('}');
  recording.body = std::string(request.substr(begin, end - begin));
  const json::value told = json::parse(absl::StrCat(request.substr(0, begin), "null}}"));
  recording.path = std::string(told.at("request").at("path").as_string());
  for (const auto& [name, value] : told.at("request").at("headers").as_object())
    recording.headers.emplace_back(std::string(name), std::string(value.as_string()));
  const absl::string_view answer = absl::string_view(text).substr(response);
  const std::size_t from = answer.find("\"body\":") + 7;
  recording.reply = std::string(answer.substr(from, answer.rfind('}', answer.rfind('}') - 1) - from));
  return recording;
}

json::value Part(absl::string_view recording, const char* member) {
  return json::parse(Recorded(recording).body).at(member);
}

// `running`, `waiting`: recordings that tell of the two gangs; `nodes`: of all nodes.
std::string SessionOfTwoGangs(absl::string_view running, const std::vector<std::string>& waiting,
                              absl::string_view nodes, absl::string_view queue, int cpu_of_node) {
  const json::value runs = Part(running, "job");
  json::value waits = runs;
  json::object tasks, to_sub_job;
  json::value evictor;
  for (const std::string& recording : waiting) {
    evictor = Part(recording, "evictor");
    tasks[evictor.at("UID").as_string()] = evictor;
    to_sub_job[evictor.at("UID").as_string()] = evictor.at("Job");
  }
  const std::string job(evictor.at("Job").as_string());
  const std::vector<std::string> name = absl::StrSplit(job, '/');
  json::object& all = waits.as_object();
  const json::object by_status{{"1", tasks}};
  const auto count = static_cast<std::int64_t>(tasks.size());
  json::object sub_job = runs.at("SubJobs").as_object().begin()->value().as_object();
  for (const char* const key : {"GID", "UID", "Job"}) sub_job[key] = job;
  for (json::object* const one : {&all, &sub_job}) {
    (*one)["MinAvailable"] = count;
    (*one)["Priority"] = evictor.at("Priority");
    (*one)["Tasks"] = tasks;
    (*one)["TaskStatusIndex"] = by_status;
  }
  all["UID"] = job;
  all["Name"] = name[1];
  all["PgUID"] = absl::StrCat("pg-", name[1]);
  all["Queue"] = json::string_view(queue.data(), queue.size());
  all["SubJobs"] = json::object{{job, sub_job}};
  all["TaskToSubJob"] = to_sub_job;
  all["TaskMinAvailable"] = json::object{{"w", count}};
  all["TaskMinAvailableTotal"] = count;
  json::object& group = all["PodGroup"].as_object();
  group["metadata"].as_object()["name"] = name[1];
  group["metadata"].as_object()["uid"] = absl::StrCat("pg-", name[1]);
  group["status"] = json::object{{"phase", "Inqueue"}};
  json::object& spec = group["spec"].as_object();
  spec["minMember"] = count;
  spec["minTaskMember"] = json::object{{"w", count}};
  spec["queue"] = json::string_view(queue.data(), queue.size());
  spec.erase("priorityClassName");  // a session tells its number
  spec["minResources"] = json::object{{"cpu", absl::StrCat(9 * count)}, {"memory", absl::StrCat(100 * count, "M")}};

  json::value session = json::parse(Recorded("onSessionOpen-6").body);
  session.at("Jobs") = json::object{{runs.at("UID").as_string(), runs}, {job, waits}};
  json::object by_name;
  const json::value told = Part(nodes, "nodes");
  for (json::value node : told.as_array()) {
    json::value& idle = node.at("Idle").at("MilliCPU");
    json::value& allocatable = node.at("Allocatable").at("MilliCPU");
    idle = idle.to_number<std::int64_t>() - allocatable.to_number<std::int64_t>() + 1000 * cpu_of_node;
    allocatable = 1000 * cpu_of_node;
    by_name[node.at("Name").as_string()] = node;
  }
  session.at("Nodes") = std::move(by_name);
  return json::serialize(session);
}

}  // namespace

std::string SessionThatPreempts() {
  return SessionOfTwoGangs("jobReady-7", {"preemptable-3", "preemptable-4"}, "prioritize-7", "q1", 16);
}
std::string SessionThatReclaims() {
  return SessionOfTwoGangs("jobReady-8", {"reclaimable-3", "reclaimable-4"}, "prioritize-8", "q2", 10);
}

std::vector<std::string> RecordedCases() {
  return {"a-seed", "b-contention", "c-preempt-abstain", "c-preempt-echo", "d-reclaim-abstain", "d-reclaim-echo"};
}

std::vector<RecordedCall> CallsOf(absl::string_view recorded_case) {
  std::vector<RecordedCall> calls;
  const std::string text = ReadRecorded(absl::StrCat("sequences/", recorded_case, ".jsonl"));
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const json::value told = json::parse({line.data(), line.size()});
    RecordedCall& call = calls.emplace_back();
    call.seq = told.at("seq").to_number<int>();
    call.session = told.at("session").to_number<int>();
    call.verb = std::string(told.at("verb").as_string());
    call.about = told.at("in").as_object();
    if (const json::value* const file = told.as_object().if_contains("file"); file != nullptr) {
      const std::string name(file->as_string());
      call.recording = name.substr(0, name.find('.'));
    }
  }
  return calls;
}

std::string ReadRecorded(absl::string_view file) {
  const std::string path = absl::StrCat(kFolder, file);
  return absl::EndsWith(file, ".gz") ? Unpacked(path) : ReadFile(path);
}

Recording Recorded(absl::string_view name) {
  const std::string plain = absl::StrCat(name, ".json");
  const std::string file = std::filesystem::exists(absl::StrCat(kFolder, plain)) ? plain : plain + ".gz";
  return Parse(file, ReadRecorded(file));
}

std::vector<Recording> AllRecordings() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) files.push_back(entry.path().filename());
  std::erase_if(files, [](const std::string& file) {
    return absl::StrContains(file, "-large") || !absl::StrContains(file, ".json");
  });
  std::sort(files.begin(), files.end());
  std::vector<Recording> recordings;
  for (const std::string& file : files) recordings.push_back(Parse(file, ReadRecorded(file)));
  return recordings;
}

std::string LargeSession() { return ReadRecorded("onSessionOpen-large.json.gz"); }

}  // namespace gangway::testutil
