// How long does one change take in a stream of Follow, from its bytes to those of the decision? Without the network,
// on a cluster in which half of the nodes are full and gangs wait.
#include <benchmark/benchmark.h>

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "plugin/extender/calls/following.h"
#include "proto/gangway/v1/extender.pb.h"

namespace gangway::extender {
namespace {

absl::Status Always() { return absl::OkStatus(); }

std::string NodeNameAt(std::int64_t number) { return absl::StrCat("node-", absl::Dec(number, absl::kZeroPad5)); }

class Stream {
 public:
  explicit Stream(std::int64_t nodes) : nodes_(nodes) {
    v1::FollowRequest request;
    for (std::int64_t i = 0; i < nodes; ++i) {
      v1::Node& node = *request.add_changes()->mutable_node();
      node.set_name(NodeNameAt(i));
      (*node.mutable_allocatable())["cpu"] = "16";
      (*node.mutable_allocatable())["memory"] = "64Gi";
      (*node.mutable_allocatable())["pods"] = "110";
      (*node.mutable_labels())["zone"] = absl::StrCat("z", i % 3);
      if (i % 2 == 0) SetPod(*request.add_changes(), absl::StrCat("old-", i), i, "16");
    }
    // Gangs that wait for what nobody has.
    for (int i = 0; i < 10; ++i) AddGang(*request.add_changes(), absl::StrCat("waits-", i), 2, "32");
    request.set_decide(true);
    Take(request.SerializeAsString());
  }

  static void AddGang(v1::Change& change, const std::string& name, int replicas, const std::string& cpu) {
    v1::Gang& gang = *change.mutable_gang();
    gang.set_name(name);
    v1::Task& task = *gang.add_tasks();
    task.set_name("worker");
    task.set_replicas(replicas);
    (*task.mutable_requests())["cpu"] = cpu;
    (*task.mutable_requests())["memory"] = "256Mi";
  }
  static void SetPod(v1::Change& change, const std::string& name, std::int64_t node, const std::string& cpu) {
    v1::Pod& pod = *change.mutable_pod();
    pod.set_name(name);
    pod.set_node(NodeNameAt(node));
    (*pod.mutable_requests())["cpu"] = cpu;
  }

  // Bytes in, bytes out; "" when nothing is answered.
  std::string Take(const std::string& bytes) {
    v1::FollowRequest request;
    if (!request.ParseFromString(bytes)) return {};
    now_ += absl::Milliseconds(1);
    const auto response = following_.Take(request, {}, now_, &Always);
    return response.ok() && response->has_value() ? (*response)->SerializeAsString() : std::string();
  }
  std::int64_t nodes() const { return nodes_; }

 private:
  const std::int64_t nodes_;
  absl::Time now_ = absl::UnixEpoch() + absl::Hours(1);
  Following following_{std::int64_t{1} << 30};
};

// A pod that is no gang's appears on a node, or leaves it: nobody is helped by it.
void BM_FollowPod(benchmark::State& state) {
  Stream stream(state.range(0));
  std::int64_t number = 0;
  for (auto _ : state) {
    state.PauseTiming();
    v1::FollowRequest request;
    Stream::SetPod(*request.add_changes(), "other", number++ * 2 % stream.nodes() + 1, "1");
    request.set_decide(true);
    const std::string bytes = request.SerializeAsString();
    state.ResumeTiming();
    if (stream.Take(bytes).empty()) state.SkipWithError("there was no answer");
  }
}
BENCHMARK(BM_FollowPod)->ArgName("nodes")->Arg(100)->Arg(1000)->Arg(5000)->Unit(benchmark::kMicrosecond);

// A gang of `members` comes and is placed; before the next it is gone. `known`: another that asks for the same is
// there, so that which nodes suit its pods is known; else all nodes are looked at.
void BM_FollowGang(benchmark::State& state) {
  Stream stream(state.range(0));
  const int members = static_cast<int>(state.range(1));
  v1::FollowRequest comes, goes;
  Stream::AddGang(*comes.add_changes(), "g", members, "4");
  comes.set_decide(true);
  goes.add_changes()->mutable_gone()->set_kind("Gang");
  goes.mutable_changes(0)->mutable_gone()->set_name("g");
  goes.set_decide(true);
  if (state.range(2) != 0) {
    v1::FollowRequest stays;
    Stream::AddGang(*stays.add_changes(), "like-it", 1, "4");
    stays.set_decide(true);
    stream.Take(stays.SerializeAsString());
  }
  const std::string in = comes.SerializeAsString(), out = goes.SerializeAsString();
  for (auto _ : state) {
    const std::string answer = stream.Take(in);
    state.PauseTiming();
    v1::FollowResponse response;
    if (!response.ParseFromString(answer) || response.decisions_size() != 1 || !response.decisions(0).placed())
      state.SkipWithError("the gang was not placed");
    stream.Take(out);
    state.ResumeTiming();
  }
}
BENCHMARK(BM_FollowGang)
    ->ArgNames({"nodes", "members", "known"})
    ->Args({100, 4, 1})
    ->Args({1000, 4, 1})
    ->Args({5000, 1, 1})
    ->Args({5000, 4, 1})
    ->Args({5000, 64, 1})
    ->Args({5000, 4, 0})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace gangway::extender
