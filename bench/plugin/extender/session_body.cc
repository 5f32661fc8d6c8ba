#include "bench/plugin/extender/session_body.h"

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/check.h"
#include "tests/plugin/extender/session/recordings.h"

namespace gangway::bench {
namespace {

namespace json = boost::json;

constexpr int kGang = 50;

// Texts of one recorded task, job and node, with marks where they differ from the next.
class Templates {
 public:
  Templates() {
    const std::string body = testutil::LargeSession();
    json::value document = json::parse(body);
    json::object& job = document.at("Jobs").as_object().begin()->value().as_object();
    const json::object task = job.at("Tasks").as_object().begin()->value().as_object();
    const auto text = [](const json::value& value) { return std::string(value.as_string()); };
    const std::string uid = text(task.at("UID")), name = text(task.at("Name")), node = text(task.at("NodeName"));
    const std::string gang = text(job.at("Name"));
    task_ = absl::StrReplaceAll(json::serialize(task), {{uid, "@UID"},
                                                        {absl::StrCat("\"", name, "\""), "\"@NAME\""},
                                                        {absl::StrCat("\"nodeName\":\"", node, "\","), "@SPECNODE"},
                                                        {absl::StrCat("\"", node, "\""), "\"@NODE\""},
                                                        {absl::StrCat("big/", gang), "big/@GANG"},
                                                        {absl::StrCat("\"", gang, "\""), "\"@GANG\""},
                                                        {"\"Status\":16", "\"Status\":@STATUS"}});
    json::object& sub_job = job.at("SubJobs").as_object().begin()->value().as_object();
    sub_job["Tasks"] = "@TASKS";
    sub_job["TaskStatusIndex"] = "@INDEX";
    job["Tasks"] = "@TASKS";
    job["TaskStatusIndex"] = "@INDEX";
    job["TaskToSubJob"] = "@SUBJOBS";
    job_ = absl::StrReplaceAll(json::serialize(job), {{absl::StrCat("big/", gang), "big/@GANG"},
                                                      {absl::StrCat("\"", gang, "\""), "\"@GANG\""},
                                                      {"\"@TASKS\"", "@TASKS"},
                                                      {"\"@INDEX\"", "@INDEX"},
                                                      {"\"@SUBJOBS\"", "@SUBJOBS"}});
    json::object& any_node = document.at("Nodes").as_object().begin()->value().as_object();
    const std::string node_name = text(any_node.at("Name"));
    any_node["Tasks"] = "@TASKS";
    node_ = absl::StrReplaceAll(json::serialize(any_node), {{node_name, "@NODE"}, {"\"@TASKS\"", "@TASKS"}});
    queues_ = json::serialize(document.at("Queues"));
  }

  struct Task {
    std::string uid, name, text, node;
  };
  Task MakeTask(int index, int gang, int node, bool runs) const {
    Task task;
    task.uid = absl::StrCat("00000000-0000-4000-8000-", absl::Dec(index, absl::kZeroPad12));
    task.name = absl::StrCat("p", gang, "-", index);
    task.node = runs ? Node(node) : "";
    task.text =
        absl::StrReplaceAll(task_, {{"@UID", task.uid},
                                    {"@NAME", task.name},
                                    {"@SPECNODE", runs ? absl::StrCat("\"nodeName\":\"", task.node, "\",") : ""},
                                    {"@NODE", task.node},
                                    {"@GANG", absl::StrCat("g", gang)},
                                    {"@STATUS", runs ? "32" : "1"}});
    return task;
  }
  std::string MakeJob(int gang, const std::vector<Task>& tasks, bool runs) const {
    std::string all, sub_jobs;
    for (const Task& task : tasks) {
      absl::StrAppend(&all, all.empty() ? "" : ",", "\"", task.uid, "\":", task.text);
      absl::StrAppend(&sub_jobs, sub_jobs.empty() ? "" : ",", "\"", task.uid, "\":\"big/g", gang, "\"");
    }
    return absl::StrReplaceAll(job_, {{"@GANG", absl::StrCat("g", gang)},
                                      {"@TASKS", absl::StrCat("{", all, "}")},
                                      {"@INDEX", absl::StrCat("{\"", runs ? "32" : "1", "\":{", all, "}}")},
                                      {"@SUBJOBS", absl::StrCat("{", sub_jobs, "}")}});
  }
  std::string MakeNode(int node, const std::string& tasks) const {
    return absl::StrReplaceAll(node_, {{"@NODE", Node(node)}, {"@TASKS", absl::StrCat("{", tasks, "}")}});
  }
  static std::string Node(int node) { return absl::StrCat("node-", absl::Dec(node, absl::kZeroPad5)); }
  const std::string& queues() const { return queues_; }

 private:
  std::string task_, job_, node_, queues_;
};

}  // namespace

std::string SessionBody(int nodes, int running, int pending) {
  GW_CHECK(running % kGang == 0 && pending % kGang == 0);
  const Templates templates;
  std::vector<std::string> on_node(static_cast<std::size_t>(nodes));
  std::string body = "{\"Jobs\":{";
  for (int gang = 0, index = 0; index < running + pending; ++gang) {
    const bool runs = index < running;
    std::vector<Templates::Task> tasks;
    for (int i = 0; i < kGang; ++i, ++index) {
      tasks.push_back(templates.MakeTask(index, gang, index % nodes, runs));
      std::string& there = on_node[static_cast<std::size_t>(index % nodes)];
      if (runs)
        absl::StrAppend(&there, there.empty() ? "" : ",", "\"big/", tasks.back().name, "\":", tasks.back().text);
    }
    absl::StrAppend(&body, gang == 0 ? "" : ",", "\"big/g", gang, "\":", templates.MakeJob(gang, tasks, runs));
  }
  absl::StrAppend(&body, "},\"Nodes\":{");
  for (int node = 0; node < nodes; ++node) {
    absl::StrAppend(&body, node == 0 ? "" : ",", "\"", Templates::Node(node),
                    "\":", templates.MakeNode(node, on_node[static_cast<std::size_t>(node)]));
  }
  absl::StrAppend(&body, "},\"Queues\":", templates.queues(),
                  ",\"NamespaceInfo\":{},\"RevocableNodes\":{},\"NodeList\":null}");
  return body;
}

}  // namespace gangway::bench
