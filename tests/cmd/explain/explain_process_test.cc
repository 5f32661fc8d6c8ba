// `gangway explain` as a user runs it, against a `gangway sandbox` and against a server that does not let everybody see
// everything.
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kubectl/sandbox_process.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/scripted_server.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::string JobOf(const std::string& name, int pods, int cpu, const std::string& queue = "default") {
  return absl::StrCat("apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: ", name,
                      ", namespace: default}\nspec:\n  minAvailable: ", pods, "\n  queue: ", queue,
                      "\n  tasks:\n  - name: w\n    replicas: ", pods,
                      "\n    template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: \"", cpu,
                      "\"}}}]}}\n");
}

constexpr char kQueue[] =
    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: ads}\nspec: {weight: 3, capability: "
    "{cpu: \"20\"}, deserved: {cpu: \"10\"}}\n";
constexpr char kLonePod[] =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: lone, namespace: default}\nspec: {containers: [{name: c, image: "
    "i}]}\n";

constexpr char kPaddleJobs[] = R"(apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: wide-deep, namespace: default}
spec: {worker: {replicas: 2, template: {spec: {containers: [{name: paddle, image: i, resources: {requests: {cpu: "17"}}}]}}}}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: elastic, namespace: default}
spec: {elastic: 1, worker: {replicas: 1, template: {spec: {containers: [{name: paddle, image: i}]}}}}
)";

class ExplainProcessTest : public ::testing::Test {
 protected:
  Outcome Explain(std::vector<std::string> args, const std::string& locale = "C") const {
    args.insert(args.begin(), {GW_GANGWAY, "explain"});
    args.insert(args.end(), {"--kubeconfig", sandbox_.kubeconfig()});
    return RunProgram(args, {"KUBECONFIG=", "HOME=" + sandbox_.folder(), "LC_ALL=" + locale});
  }
  void Apply(const std::string& objects) const {
    const Outcome applied = sandbox_.Kubectl({"apply", "-f", "-"}, objects);
    ASSERT_EQ(applied.exit_code, 0) << applied.err;
  }
  bool Says(const std::string& job, const std::string& text) const {
    return Eventually([&] { return absl::StrContains(Explain({"job", job}).out, text); });
  }

  // Three nodes of 16 cpu.
  const SandboxProcess sandbox_{
      {"--nodes", "3", "--node-shape", "cpu=16,memory=64Gi", "--start-delay", "10ms", "--stop-delay", "10ms"}};
};

TEST_F(ExplainProcessTest, AJobThatRunsAndOneThatDoesNotFit) {
  Apply(kQueue);
  Apply(JobOf("runs", 2, 6, "ads"));
  ASSERT_TRUE(Says("runs", "job default/runs runs: 2 of 2 pods have a node (minimum 2), on 1 node\n"))
      << Explain({"job", "runs"}).out;
  Apply(JobOf("tight", 4, 9));
  ASSERT_TRUE(Says("tight", "tight waits for 2 of 4 tasks: ")) << Explain({"job", "tight"}).out;
  const Outcome tight = Explain({"job/tight"});
  EXPECT_EQ(tight.exit_code, 0);
  EXPECT_EQ(tight.err, "");
  EXPECT_EQ(
      tight.out,
      R"(job default/tight waits for 2 of 4 tasks: w needs cpu 9; with 2 placed, 3 nodes have at most 7 free, 0 fit; queue default holds less than its share, and nobody leaves for it: no queue beside it holds more than its share of what it asks for
Asks: 4 pods, at least 4 together; 0 placed
  w: 4 x cpu 9, at least 4; 0 placed
Nodes: 3
  2 nodes have room for 2 pods, such as node-001 with cpu 16 of 16 free
  1 node lacks cpu: 9 asked, 4 of 16 free (node-000)
Queue default: open, weight 1, priority 0, below root
  cpu: holds 0 of 48 (0%)
Cluster: 3 nodes
  cpu: pods hold 12 of 48 (25%)
Hold room:
  default/runs (queue ads, priority 0): holds cpu 12; runs: 2 of 2 pods have a node (minimum 2), on 1 node
Would help, each alone, as was tried:
  2 more nodes like node-000 (cpu 16)  --what-if nodes=+2:node-000
  a minimum of 2 pods  --what-if min=2
  pods of w that ask for cpu 7 (instead of 9)
)");

  const Outcome more = Explain({"job", "tight", "--what-if", "nodes=+2"});
  EXPECT_EQ(more.exit_code, 0);
  EXPECT_THAT(more.out, EndsWith("With 2 more nodes like node-000: yes, it starts with the scheduler's next round: "
                                 "there is room for 4 pods, on 4 nodes\n"
                                 "  node-000+1: 1 x w\n  node-000+2: 1 x w\n  node-001: 1 x w\n  node-002: 1 x w\n"));
  const Outcome both = Explain({"job", "tight", "--what-if", "min=3,queue=ads"});
  EXPECT_EQ(both.exit_code, 1);
  EXPECT_THAT(both.out, HasSubstr("\nWith a minimum of 3 pods and queue ads: no, it waits for 3 of 3 tasks: needs cpu "
                                  "27, queue ads uses 12 of 20, 19 too many\n"));
  EXPECT_EQ(Explain({"job", "tight", "--what-if", "without=default/runs"}).exit_code, 1);
  EXPECT_EQ(Explain({"--what-if", "min=3", "--what-if", "nodes=1", "job", "tight"}).exit_code, 0)
      << "flags may come first, and again";
  EXPECT_EQ(Explain({"job", "tight", "--scheduler-name", "other"}).err,
            "gangway explain: job default/tight: pods of it name another scheduler than other and are not placed; "
            "--scheduler-name says which is meant\n");

  const Outcome pod = Explain({"pod", "tight-w-1"});
  EXPECT_THAT(pod.out, StartsWith("pod default/tight-w-1 has no node, and belongs to podgroup default/tight-"));
  EXPECT_THAT(pod.out, HasSubstr(" waits for 2 of 4 tasks: "));
  EXPECT_THAT(Explain({"job", "tight", "-o", "wide"}).out,
              AllOf(HasSubstr("\n    node-001 node-002\n"), HasSubstr("\n    node-000+1: 1 x w\n")));

  const Outcome json = Explain({"job", "tight", "-o", "json"});
  EXPECT_THAT(
      json.out,
      AllOf(
          StartsWith(R"({"version":1,"subject":"job default/tight","namespace":"default","podGroup":"tight-)"),
          HasSubstr(R"("state":"waiting")"),
          HasSubstr(R"("reason":{"kind":"no_room","missing":2,"of":4,"subject":""})"),
          HasSubstr(R"("requests":{"cpu":9000})"),
          HasSubstr(
              R"("words":"lacks cpu","tooSmall":false,"takes":0,"count":1,"example":"node-000","amounts":[{"resource":"cpu","asked":9000,"free":4000,"allocatable":16000}],"names":["node-000"])"),
          HasSubstr(
              R"({"text":"a minimum of 2 pods","whatIf":"min=2","places":[{"node":"node-001","role":"w","pods":1},{"node":"node-002","role":"w","pods":1}]})")));
  EXPECT_THAT(Explain({"job", "tight", "-o", "json", "--what-if", "min=2"}).out,
              HasSubstr(R"("whatIf":{"changes":["min=2"],"starts":true,"state":"starting",)"));
}

TEST_F(ExplainProcessTest, InChineseWhereTheFlagOrTheEnvironmentSaysSo) {
  Apply(kQueue);
  Apply(JobOf("runs", 2, 6, "ads"));
  ASSERT_TRUE(Says("runs", "runs runs: 2 of 2"));
  Apply(JobOf("tight", 4, 9));
  ASSERT_TRUE(Says("tight", "tight waits for 2 of 4 tasks: "));
  const Outcome tight = Explain({"job", "tight", "--lang", "zh"});
  EXPECT_EQ(tight.exit_code, 0);
  EXPECT_EQ(tight.err, "");
  EXPECT_EQ(
      tight.out,
      R"(job default/tight 等待 4 个任务中的 2 个：w 需要 cpu 9；放置 2 个之后，3 个节点最多空闲 7，0 个可用；队列 default 占用少于其份额，但没有 gang 为它让出：没有别的队列在它请求的资源上超出份额
请求：4 个 Pod，至少 4 个同时运行；已放置 0 个
  w：4 x cpu 9，至少 4 个；已放置 0 个
节点：3
  2 个节点有空间，可放 2 个 Pod，例如 node-001：cpu 空闲 16（共 16）
  1 个节点缺少 cpu：请求 9，空闲 4（共 16）（node-000）
队列 default：开启，权重 1，优先级 0，上级队列 root
  cpu：占用 0/48 (0%)
集群：3 个节点
  cpu：Pod 占用 12/48 (25%)
占用资源：
  default/runs（队列 ads，优先级 0）：占用 cpu 12；运行中：2 个 Pod 中的 2 个已有节点（最少 2 个），位于 1 个节点上
以下任何一项改动都能解决（已试算）：
  增加 2 个同 node-000 一样的节点（cpu 16）  --what-if nodes=+2:node-000
  最少数量为 2 个 Pod  --what-if min=2
  w 的 Pod 只请求 cpu 7（原为 9）
)");
  EXPECT_THAT(
      Explain({"queue", "ads", "--lang", "zh"}).out,
      AllOf(StartsWith(
                "queue ads 已开启：1 个 gang 占用其资源，0 个等待\n队列 ads：开启，权重 3，优先级 0，上级队列 root\n"
                "  cpu：占用 12/20 (60%)，容量上限（capability）20，应得量（deserved）10"),
            HasSubstr("\n占用资源：\n  default/runs（队列 ads，优先级 0）：占用 cpu 12；运行中：")));
  EXPECT_EQ(Explain({"job", "tight"}, "zh_CN.UTF-8").out, tight.out);
  const std::string english = Explain({"job", "tight"}).out;
  EXPECT_EQ(Explain({"job", "tight", "--lang", "en"}, "zh_CN.UTF-8").out, english);
  EXPECT_EQ(Explain({"job", "tight", "-o", "json"}, "zh_CN.UTF-8").out, Explain({"job", "tight", "-o", "json"}).out)
      << "what a program reads is not to depend on who runs it";
  EXPECT_THAT(Explain({"job", "tight", "-o", "json", "--lang", "zh"}).out,
              HasSubstr(R"("text":"最少数量为 2 个 Pod")"));
  EXPECT_THAT(Explain({"pod", "tight-w-1", "--lang", "zh"}).out,
              StartsWith("pod default/tight-w-1 尚无节点，属于 podgroup default/tight-"));
  EXPECT_THAT(Explain({"job", "tight", "--what-if", "nodes=+2", "--lang", "zh"}).out,
              HasSubstr("\n若改为：增加 2 个同 node-000 一样的节点，可以，它将在调度器的下一轮启动：有空间放置 4 个 "
                        "Pod，位于 4 个节点上\n"));
  EXPECT_THAT(Explain({"job", "tight", "--lang", "fr"}).err, HasSubstr("--lang"));
}

// Not let in: it has no pods yet, and what they will ask for is known from the Job.
TEST_F(ExplainProcessTest, AQueueThatIsFull) {
  Apply(kQueue);
  Apply(JobOf("runs", 2, 6, "ads"));
  ASSERT_TRUE(Says("runs", "runs runs: 2 of 2"));
  Apply(JobOf("full", 2, 5, "ads"));
  ASSERT_TRUE(Says("full", "full is not let in: needs cpu 10, queue ads holds 12 of 20: 2 too many\n"))
      << Explain({"job", "full"}).out;
  EXPECT_THAT(
      Explain({"job", "full"}).out,
      AllOf(
          HasSubstr("\n  w: 2 x cpu 5, at least 2; 0 placed, 2 not made yet\n"),
          HasSubstr(
              "\n  cpu: holds 12 of 20 (60%), capability 20, deserved 10 is not looked at (queues share by weight)\n"),
          HasSubstr("\n  a capability of cpu 22 for queue ads\n  queue default  --what-if queue=default\n  "
                    "the end of podgroup default/runs (it holds cpu 12)  --what-if without=default/runs\n"),
          HasSubstr("\n  a minimum of 1 pod  --what-if min=1\n")));
  // As it was printed.
  EXPECT_EQ(Explain({"job", "full", "--what-if", "without=default/runs"}).exit_code, 0);
  const Outcome queue = Explain({"queue", "ads"});
  EXPECT_EQ(queue.exit_code, 0);
  EXPECT_THAT(queue.out,
              AllOf(StartsWith("queue ads is open: 1 gang holds room in it, 1 waits\nQueue ads: open, weight 3, "
                               "priority 0, below root\n  cpu: holds 12 of 20 (60%), capability 20, deserved 10 is not "
                               "looked at (queues share by weight)\n"),
                    HasSubstr("\nHold room:\n  default/runs (queue ads, priority 0): holds cpu 12; runs: "),
                    HasSubstr("\nWait, in the order in which they are served:\n  default/full (queue ads, priority 0): "
                              "holds nothing; asks cpu 10; is not let in: ")));
  const std::string file = sandbox_.folder() + "/conf";
  std::ofstream(file) << "actions: \"enqueue, allocate\"\ntiers: [{plugins: [{name: capacity}]}]\n";
  EXPECT_THAT(Explain({"queue", "ads", "--scheduler-conf", file}).out,
              HasSubstr("capability 20, deserved 10, its share while others wait is 10\n"));
  EXPECT_THAT(
      Explain({"queue", "ads", "-o", "json"}).out,
      HasSubstr(
          R"("amounts":[{"resource":"cpu","held":12000,"promised":0,"limit":20000,"guarantee":0,"capability":20000,"deserved":10000})"));
}

// By the Job of its name; one that could not be translated has none.
TEST_F(ExplainProcessTest, APaddleJob) {
  Apply(kPaddleJobs);
  ASSERT_TRUE(Says("wide-deep", "job default/wide-deep waits for 2 of 2 tasks: worker needs cpu 17; "))
      << Explain({"job", "wide-deep"}).out;
  EXPECT_THAT(Explain({"pdj", "wide-deep"}).out,
              HasSubstr("  3 nodes are too small: cpu: 17 asked, 16 there at most (node-000)\n"));
  EXPECT_EQ(Explain({"pdj", "elastic"}).err,
            "gangway explain: paddlejob default/elastic: has no Job and no PodGroup yet; gangway doctor says whether "
            "it can be translated, and whether anybody is at work\n");
}

TEST_F(ExplainProcessTest, ErrorsNameTheObjectAndTheFix) {
  Apply(kLonePod);
  Apply(JobOf("small", 1, 1));
  ASSERT_TRUE(Says("small", "small runs"));
  const auto refused = [&](std::vector<std::string> args, int code) {
    const Outcome outcome = Explain(std::move(args));
    EXPECT_EQ(outcome.exit_code, code);
    EXPECT_THAT(outcome.out, IsEmpty());
    return outcome.err;
  };
  EXPECT_EQ(refused({"job", "nobody"}, 1),
            "gangway explain: job default/nobody: there is neither a Job nor a PaddleJob of that name; gangway job "
            "list -n default shows what is there\n");
  EXPECT_EQ(
      refused({"pod", "nobody", "-n", "ads"}, 1),
      "gangway explain: pod ads/nobody: pods \"nobody\" not found; kubectl get pods -n ads shows what is there\n");
  EXPECT_EQ(refused({"podgroup", "nobody"}, 1),
            "gangway explain: podgroup default/nobody: is not there; kubectl get podgroups -n default shows what is\n");
  EXPECT_EQ(refused({"queue", "nobody"}, 1),
            "gangway explain: queue nobody: is not there, and nobody asks for it; gangway queue list shows what is\n");
  EXPECT_THAT(
      refused({"pod", "lone"}, 1),
      HasSubstr("pod default/lone: belongs to no gang (it has neither annotation scheduling.k8s.io/group-name nor "
                "spec.schedulingGroup), and "
                "default-scheduler places it; kubectl describe pod -n default lone"));
  EXPECT_EQ(refused({"job", "small", "--what-if", "nodes=+1:nowhere"}, 1),
            "gangway explain: --what-if: there is no node nowhere\n");
  EXPECT_EQ(refused({"job", "small", "--what-if", "priority=none"}, 1),
            "gangway explain: --what-if: there is no priority class none\n");
  EXPECT_EQ(refused({"node", "node-000"}, 2),
            "gangway explain: \"node\" cannot be explained: write job, podgroup, pod or queue, and a name\n");
  EXPECT_EQ(refused({"job"}, 2),
            "gangway explain: write what to explain: gangway explain job NAME, or podgroup, pod or queue NAME\n");
  EXPECT_EQ(refused({"job", "small", "--what-if", "min=few"}, 2), "gangway explain: --what-if min=few: write min=3\n");
  EXPECT_EQ(refused({"queue", "default", "--what-if", "min=2"}, 2),
            "gangway explain: --what-if is about a job, a PodGroup or a pod; a queue has no start\n");
}

// Each has a PodGroup of its own, called by a UID.
TEST_F(ExplainProcessTest, OfSeveralPodGroupsNoneIsTakenByChance) {
  Apply(JobOf("tight", 4, 9));
  for (const char* const name : {"a", "b"})
    Apply(absl::StrCat("apiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
                       ", namespace: default}\nspec: {schedulerName: volcano, containers: [{name: c, image: i}]}\n"));
  ASSERT_TRUE(Says("tight", "tight waits for 1 of 4 tasks: ")) << Explain({"job", "tight"}).out;
  for (const char* const name : {"a", "b"})
    ASSERT_TRUE(Eventually([&] { return absl::StrContains(Explain({"pod", name}).out, " runs: 1 of 1 pod"); }));
  const Outcome outcome = Explain({"job", "tight", "--what-if", "without=default/podgroup"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err,
            "gangway explain: job default/tight: --what-if without=default/podgroup: 2 PodGroups are called so and "
            "their UID; write the whole name, which kubectl get podgroups.scheduling.volcano.sh -n default shows\n");
}

// --- PodGroups that are not Volcano's, and the scheduler's file.

class ExplainKindsTest : public ::testing::Test {
 protected:
  Outcome Explain(std::vector<std::string> args) const {
    args.insert(args.begin(), {GW_GANGWAY, "explain"});
    args.insert(args.end(), {"--kubeconfig", sandbox_.kubeconfig()});
    return RunProgram(args, {"KUBECONFIG=", "HOME=" + sandbox_.folder(), "LC_ALL=C"});
  }
  void Make(const std::string& objects) const {
    const Outcome applied = sandbox_.Kubectl({"create", "-f", "-"}, objects);
    ASSERT_EQ(applied.exit_code, 0) << applied.err;
  }
  // `more`: of the metadata and of the spec.
  static std::string PodOf(const std::string& name, int cpu, const std::string& metadata, const std::string& spec) {
    return absl::StrCat("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name, metadata,
                        "}\nspec: {schedulerName: volcano, ", spec,
                        "containers: [{name: c, image: i, resources: "
                        "{requests: {cpu: \"",
                        cpu, "\"}}}]}\n");
  }

  const SandboxProcess sandbox_{{"--nodes", "2", "--node-shape", "cpu=16,memory=64Gi",
                                 "--runtime-config=scheduling.k8s.io/v1alpha2=true",
                                 "--runtime-config=scheduling.x-k8s.io/v1alpha1=true"}};
};

TEST_F(ExplainKindsTest, PodGroupsOfEachKindAndTheirPods) {
  Make(
      absl::StrCat("apiVersion: scheduling.k8s.io/v1alpha2\nkind: PodGroup\nmetadata: {name: g}\n"
                   "spec: {schedulingPolicy: {gang: {minCount: 2}}}\n---\n"
                   "apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {name: g}\n"
                   "spec: {minMember: 1}\n",
                   PodOf("k-0", 17, "", "schedulingGroup: {podGroupName: g}, "),
                   PodOf("k-1", 17, "", "schedulingGroup: {podGroupName: g}, "),
                   PodOf("c-0", 1, ", labels: {scheduling.x-k8s.io/pod-group: g}", "")));
  const Outcome kubernetes = Explain({"podgroup.scheduling.k8s.io/g"});
  EXPECT_THAT(kubernetes.out,
              AllOf(StartsWith("podgroup default/g (scheduling.k8s.io) waits for 2 of 2 tasks: a task needs cpu 17; "),
                    Not(HasSubstr("--what-if queue="))))
      << kubernetes.err;
  EXPECT_THAT(Explain({"pod", "k-1"}).out,
              StartsWith("pod default/k-1 has no node, and belongs to podgroup default/g (scheduling.k8s.io)\n"));
  ASSERT_TRUE(Eventually([&] {
    return absl::StrContains(Explain({"podgroups.scheduling.x-k8s.io", "g"}).out,
                             "podgroup default/g (scheduling.x-k8s.io) runs: 1 of 1 pod have a node");
  })) << Explain({"podgroups.scheduling.x-k8s.io", "g"}).out;
  const Outcome any = Explain({"podgroup", "g"});
  EXPECT_THAT(any.out, StartsWith("podgroup default/g (scheduling.k8s.io) waits"));
  EXPECT_EQ(any.err,
            "gangway explain: there is a podgroup.scheduling.x-k8s.io g too; write podgroup.scheduling.x-k8s.io/g to "
            "have it explained\n");
  EXPECT_THAT(Explain({"podgroup.scheduling.k8s.io/g", "-o", "json"}).out,
              HasSubstr(R"("podGroup":"g","podGroupGroup":"scheduling.k8s.io")"));
  EXPECT_EQ(Explain({"podgroup.scheduling.k8s.io/g", "--what-if", "queue=ads"}).err,
            "gangway explain: --what-if: a PodGroup of scheduling.k8s.io has no queue\n");
  EXPECT_EQ(Explain({"podgroup.scheduling.k8s.io/g", "--what-if", "without=podgroup.scheduling.x-k8s.io/default/g"})
                .exit_code,
            1);
  Make(PodOf("stranger", 1, "", "schedulingGroup: {podGroupName: h}, ") +
       "---\napiVersion: scheduling.k8s.io/v1alpha2\nkind: PodGroup\nmetadata: {name: h}\n"
       "spec: {schedulingPolicy: {gang: {minCount: 1}}}\n");
  EXPECT_EQ(Explain({"podgroup", "h", "--scheduler-name", "other"}).err,
            "gangway explain: podgroup default/h (scheduling.k8s.io): none of its pods names scheduler other, so that "
            "it is left alone; --scheduler-name says which is meant\n");
}

// 120 % of 32 cpu are 38.4: with the scheduler's file it is told what the scheduler would do by it.
TEST_F(ExplainKindsTest, TheSchedulersFileDecides) {
  const std::string file = sandbox_.folder() + "/conf";
  std::ofstream(file) << "actions: \"enqueue, allocate\"\ntiers: [{plugins: [{name: overcommit, arguments: "
                         "{overcommit-factor: 3}}]}]\n";
  Make(
      absl::StrCat("apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: big}\nspec: "
                   "{minMember: 3, minResources: {cpu: \"48\"}}\n"));
  EXPECT_THAT(Explain({"podgroup", "big"}).out, HasSubstr("big is not let in: needs cpu 48"));
  const Outcome by_file = Explain({"podgroup", "big", "--scheduler-conf", file});
  EXPECT_THAT(by_file.out, AllOf(StartsWith("podgroup default/big "), Not(HasSubstr("not let in")))) << by_file.err;
  EXPECT_THAT(Explain({"podgroup", "big", "--scheduler-conf", file + "x"}).err,
              AllOf(StartsWith("gangway explain: --scheduler-conf: "), HasSubstr("No such file")));
}

constexpr char kGroup[] =
    R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"g","namespace":"default","uid":"u"},"spec":{"minMember":1},"status":{"phase":"Inqueue"}})";

ScriptedAnswer Forbidden(const std::string& plural) {
  return {403, absl::StrCat(R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":")", plural,
                            R"( is forbidden: User \"eve\" cannot list resource","reason":"Forbidden","code":403})")};
}

// A cluster of one PodGroup; `plural` may not be listed.
Outcome ExplainWithout(const std::string& plural) {
  const ScriptedServer server([&](const std::string& head) -> ScriptedAnswer {
    if (absl::StrContains(head, absl::StrCat("/", plural, "?"))) return Forbidden(plural);
    if (absl::StrContains(head, "/podgroups?")) return {200, absl::StrCat(R"({"kind":"List","items":[)", kGroup, "]}")};
    return {200, R"({"kind":"List","items":[]})"};
  });
  return RunProgram({GW_GANGWAY, "explain", "podgroup", "g", "-n", "default", "--master", server.url()},
                    {"KUBECONFIG=", "HOME=/none", "LC_ALL=C"});
}

TEST(ExplainForbiddenTest, WithoutWhatTheSchedulerNeedsNothingIsSaid) {
  for (const char* const plural : {"nodes", "pods", "podgroups", "queues", "priorityclasses"}) {
    const Outcome outcome = ExplainWithout(plural);
    EXPECT_EQ(outcome.exit_code, 1) << plural;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_EQ(outcome.err, absl::StrCat("gangway explain: ", plural, ": ", plural,
                                        " is forbidden: User \"eve\" cannot list resource; explain reads what the "
                                        "scheduler reads: whoever may, gives you list on ",
                                        plural, ", such as by the ClusterRole gangway-scheduler (docs/rbac.md)\n"));
  }
}

TEST(ExplainForbiddenTest, WithoutTheRestItGoesOnAndSaysSo) {
  for (const char* const plural :
       {"persistentvolumeclaims", "persistentvolumes", "storageclasses", "namespaces", "resourcequotas", "csinodes",
        "csidrivers", "csistoragecapacities", "volumeattachments"}) {
    const Outcome outcome = ExplainWithout(plural);
    EXPECT_EQ(outcome.exit_code, 0) << plural;
    EXPECT_THAT(outcome.err, StartsWith(absl::StrCat("gangway explain: not looked at: ", plural, ": ")));
    EXPECT_THAT(outcome.out, StartsWith("podgroup default/g waits for 1 of 1 task: none exists yet\n"));
  }
}

}  // namespace
}  // namespace gangway::testutil
