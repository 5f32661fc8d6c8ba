// Asks a Gangway extender where a gang of four goes: place_gang HOST:PORT CPU_OF_A_MEMBER
//
// The headers are made from the contract: protoc -I . --cpp_out=OUT --grpc_out=OUT
// --plugin=protoc-gen-grpc=grpc_cpp_plugin proto/gangway/v1/extender.proto
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include "proto/gangway/v1/extender.grpc.pb.h"

namespace pb = gangway::v1;

namespace {

// Both answers have these.
template <class Answer>
std::string TextOf(const Answer& answer) {
  if (!answer.placed()) return answer.reason().text();
  std::string text;
  for (const pb::Placement& spot : answer.placements()) {
    if (!text.empty()) text += ", ";
    text += spot.task() + "-" + std::to_string(spot.index()) + " " + spot.node();
  }
  return text;
}

// One call with the whole cluster.
grpc::Status Place(pb::GangScheduler::Stub& stub, const pb::Gang& gang, const std::vector<pb::Node>& nodes,
                   std::string& answer) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  pb::PlaceGangRequest request;
  *request.mutable_gang() = gang;
  *request.mutable_cluster()->mutable_nodes() = {nodes.begin(), nodes.end()};
  pb::PlaceGangResponse response;
  const grpc::Status status = stub.PlaceGang(&context, request, &response);
  answer = TextOf(response);
  return status;
}

// The same as a stream: the cluster once, then what changes.
grpc::Status Follow(pb::GangScheduler::Stub& stub, const pb::Gang& gang, const std::vector<pb::Node>& nodes,
                    std::string& answer) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  const auto stream = stub.Follow(&context);
  pb::FollowRequest request;
  for (const pb::Node& node : nodes) *request.add_changes()->mutable_node() = node;
  *request.add_changes()->mutable_gang() = gang;
  request.set_decide(true);
  pb::FollowResponse response;
  const bool answered = stream->Write(request) && stream->Read(&response);
  stream->WritesDone();
  const grpc::Status status = stream->Finish();
  if (!status.ok()) return status;
  // A message that asks to decide is answered; without a decision there is nothing new.
  if (!answered || response.decisions().empty()) return {grpc::StatusCode::INTERNAL, "nothing was decided"};
  answer = TextOf(response.decisions(0));
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: place_gang HOST:PORT CPU_OF_A_MEMBER\n", stderr), 2;
  pb::GangScheduler::Stub stub(grpc::CreateChannel(argv[1], grpc::InsecureChannelCredentials()));
  std::vector<pb::Node> nodes;
  for (const char* const name : {"node-0", "node-1"}) {
    pb::Node& node = nodes.emplace_back();
    node.set_name(name);
    (*node.mutable_allocatable())["cpu"] = "2";
    (*node.mutable_allocatable())["pods"] = "110";
  }
  pb::Gang gang;
  gang.set_name("ctr");
  pb::Task& task = *gang.add_tasks();
  task.set_name("trainer");
  task.set_replicas(4);
  (*task.mutable_requests())["cpu"] = argv[2];
  for (const auto ask : {&Place, &Follow}) {
    std::string answer;
    if (const grpc::Status status = ask(stub, gang, nodes, answer); !status.ok())
      return std::fprintf(stderr, "%s\n", status.error_message().c_str()), 1;
    std::printf("%s\n", answer.c_str());
  }
  return 0;
}
