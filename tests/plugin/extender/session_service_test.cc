// The service Extender over the wire: a session from its opening to its end, as a scheduler has it.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/gangway/v1/session.grpc.pb.h"
#include "tests/plugin/extender/objects.h"
#include "tests/plugin/extender/requests.h"
#include "tests/plugin/extender/server_fixture.h"

namespace gangway::extender {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Sessions = v1::Extender::Stub;

class SessionServiceTest : public ServerTest {
 protected:
  template <class Request, class Reply>
  grpc::Status Call(grpc::Status (Sessions::*method)(grpc::ClientContext*, const Request&, Reply*),
                    const Request& request, Reply* reply) {
    grpc::ClientContext context;
    context.set_deadline(extender::In(testutil::kPatience));
    return (stub_.get()->*method)(&context, request, reply);
  }

  // A node that a pod of low priority fills, a gang that may have it, and one of messages that is left the second.
  static v1::OpenSessionRequest ARequest() {
    v1::OpenSessionRequest request;
    testutil::AddObjects(
        *request.mutable_cluster(), testutil::NodeJson("b", 16), testutil::NodeJson("c", 4),
        testutil::QueueJson("default"),
        R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":100})",
        testutil::PodGroupJson("low", 1, "", "Running"),
        testutil::PodJson("low-0", "low", "12", R"(,"nodeName":"b")", "", R"("phase":"Running")"),
        testutil::PodGroupJson("g", 1, R"(,"priorityClassName":"high")"), testutil::PodJson("g-0", "g", "12"));
    v1::Gang& gang = *request.add_gangs();
    gang.set_name("m");
    testutil::AddTask(gang, "w", 1, "3");
    return request;
  }

  const std::unique_ptr<Server> server_ = Start();
  const std::unique_ptr<Sessions> stub_ = v1::Extender::NewStub(Connect(*server_));
};

TEST_F(SessionServiceTest, WhatIsOpenIsListed) {
  v1::OpenSessionRequest request = ARequest();
  request.set_caller("mine");
  v1::OpenSessionResponse opened, other;
  ASSERT_TRUE(Call(&Sessions::OpenSession, request, &opened).ok());
  request.set_caller("another");
  ASSERT_TRUE(Call(&Sessions::OpenSession, request, &other).ok());
  v1::AllocateRequest allocate;
  allocate.set_session(opened.session()), allocate.set_pod("default/m/w/0"), allocate.set_node("elsewhere");
  v1::AllocateResponse allocated;
  ASSERT_TRUE(Call(&Sessions::Allocate, allocate, &allocated).ok());

  v1::ListSessionsRequest list;
  v1::ListSessionsResponse listed;
  ASSERT_TRUE(Call(&Sessions::ListSessions, list, &listed).ok());
  ASSERT_EQ(listed.sessions_size(), 2);
  list.set_caller("mine");
  ASSERT_TRUE(Call(&Sessions::ListSessions, list, &listed).ok());
  ASSERT_EQ(listed.sessions_size(), 1);
  const v1::SessionStatus& mine = listed.sessions(0);
  EXPECT_EQ(mine.session(), opened.session());
  EXPECT_EQ(mine.caller(), "mine");
  EXPECT_EQ(mine.state(), "planned");
  EXPECT_EQ(mine.trouble(), "");
  EXPECT_GE(mine.made().seconds(), mine.opened().seconds());
  EXPECT_EQ(mine.nodes(), 2);
  EXPECT_EQ(mine.pods(), 3);
  EXPECT_EQ(mine.gangs(), 3);
  EXPECT_EQ(mine.placed(), 2);
  EXPECT_EQ(mine.allocated(), 1);
  EXPECT_EQ(mine.elsewhere(), 1);
  ASSERT_EQ(mine.unsettled_size(), 2) << "the gang that runs is no news";
  EXPECT_EQ(mine.unsettled(0).job(), "default/g");
  EXPECT_EQ(mine.unsettled(0).verdict(), "makes_room");
  EXPECT_THAT(mine.unsettled(0).victims(), ElementsAre("low-0"));
  EXPECT_EQ(mine.unsettled(1).job(), "default/m");
}

TEST_F(SessionServiceTest, EveryVerbOfASessionIsAnsweredByItsPlan) {
  v1::OpenSessionResponse opened;
  ASSERT_TRUE(Call(&Sessions::OpenSession, ARequest(), &opened).ok());
  const std::uint64_t session = opened.session();
  std::vector<std::string> verdicts;
  for (const v1::PlannedGang& gang : opened.gangs()) verdicts.push_back(gang.job() + " " + gang.verdict());
  EXPECT_THAT(verdicts, ElementsAre("default/g makes_room", "default/low settled", "default/m placed"));

  v1::JobEnqueueableRequest enqueueable;
  enqueueable.set_session(session), enqueueable.set_job("default/g");
  v1::JobEnqueueableResponse vote;
  ASSERT_TRUE(Call(&Sessions::JobEnqueueable, enqueueable, &vote).ok());
  EXPECT_EQ(vote.vote(), v1::VOTE_ABSTAIN);

  v1::JobEnqueuedRequest enqueued;
  enqueued.set_session(session), enqueued.set_job("default/g");
  v1::JobEnqueuedResponse noted;
  EXPECT_TRUE(Call(&Sessions::JobEnqueued, enqueued, &noted).ok());

  v1::JobReadyRequest job_ready;
  job_ready.set_session(session), job_ready.set_job("default/m"), job_ready.set_min_member(1);
  v1::JobReadyResponse ready;
  ASSERT_TRUE(Call(&Sessions::JobReady, job_ready, &ready).ok());
  EXPECT_FALSE(ready.ready());
  EXPECT_EQ(ready.why(), "has 0 of 1 member");

  v1::QueueOverusedRequest queue;
  queue.set_session(session), queue.set_queue("default");
  v1::QueueOverusedResponse overused;
  ASSERT_TRUE(Call(&Sessions::QueueOverused, queue, &overused).ok());
  EXPECT_FALSE(overused.overused());  // gangs of it have room in the plan

  v1::PredicateRequest predicate;
  predicate.set_session(session), predicate.set_job("default/m"), predicate.set_pod("default/m/w/0");
  predicate.set_node("elsewhere");
  v1::PredicateResponse fits;
  ASSERT_TRUE(Call(&Sessions::Predicate, predicate, &fits).ok());
  EXPECT_FALSE(fits.fits());
  EXPECT_EQ(fits.why(), "its gang is placed with this pod on c");

  v1::PrioritizeRequest prioritize;
  prioritize.set_session(session), prioritize.set_pod("default/m/w/0");
  prioritize.add_nodes("elsewhere"), prioritize.add_nodes("c");
  v1::PrioritizeResponse best;
  ASSERT_TRUE(Call(&Sessions::Prioritize, prioritize, &best).ok());
  EXPECT_EQ(best.node(), "c");

  v1::VictimsRequest offered;
  offered.set_session(session), offered.set_job("default/g"), offered.add_offered("low-0");
  v1::VictimsResponse victims;
  ASSERT_TRUE(Call(&Sessions::Preemptable, offered, &victims).ok());
  EXPECT_EQ(victims.vote(), v1::VOTE_PERMIT);
  EXPECT_THAT(victims.victims(), ElementsAre("low-0"));
  ASSERT_TRUE(Call(&Sessions::Reclaimable, offered, &victims).ok());
  EXPECT_EQ(victims.vote(), v1::VOTE_REJECT);

  for (const char* const pod : {"default/m/w/0", "g-0"}) {
    v1::AllocateRequest allocate;
    allocate.set_session(session), allocate.set_pod(pod), allocate.set_node("elsewhere");
    v1::AllocateResponse allocated;
    EXPECT_TRUE(Call(&Sessions::Allocate, allocate, &allocated).ok());
  }
  v1::DeallocateRequest deallocate;
  deallocate.set_session(session), deallocate.set_pod("g-0");
  v1::DeallocateResponse deallocated;
  EXPECT_TRUE(Call(&Sessions::Deallocate, deallocate, &deallocated).ok());

  v1::CloseSessionRequest close;
  close.set_session(session);
  v1::CloseSessionResponse closed;
  ASSERT_TRUE(Call(&Sessions::CloseSession, close, &closed).ok());
  EXPECT_EQ(closed.allocated(), 1);
  EXPECT_EQ(closed.elsewhere(), 1);
  EXPECT_EQ(Call(&Sessions::Predicate, predicate, &fits).error_code(), grpc::NOT_FOUND);
  for (const char* const verb :
       {"OpenSession", "JobEnqueueable", "JobEnqueued", "JobReady", "QueueOverused", "Prioritize", "Preemptable",
        "Reclaimable", "Allocate", "Deallocate", "CloseSession"}) {
    EXPECT_THAT(metrics_.Expose(), HasSubstr(std::string("calls_total{code=\"OK\",method=\"") + verb + "\"}"));
  }
}

TEST_F(SessionServiceTest, ASessionThatIsNotOpenIsNotFound) {
  v1::OpenSessionResponse opened;
  ASSERT_TRUE(Call(&Sessions::OpenSession, ARequest(), &opened).ok());
  // Numbers of a server that ended before are not given out again.
  EXPECT_GT(opened.session(), 1'000'000u);
  v1::PrioritizeRequest prioritize;
  prioritize.set_session(opened.session() + 1), prioritize.set_pod("p");
  v1::PrioritizeResponse best;
  const grpc::Status status = Call(&Sessions::Prioritize, prioritize, &best);
  EXPECT_EQ(status.error_code(), grpc::NOT_FOUND);
  EXPECT_THAT(status.error_message(), StartsWith("session: "));
}

TEST_F(SessionServiceTest, AWrongFieldOfASessionIsNamedInTheStatus) {
  v1::OpenSessionRequest request = ARequest();
  request.mutable_gangs(0)->mutable_tasks(0)->set_name("No Label");
  v1::OpenSessionResponse opened;
  const grpc::Status status = Call(&Sessions::OpenSession, request, &opened);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), StartsWith("gangs[0].tasks[0].name: "));
}

// A caller that does not say who it is is known by its address, over any of its connections: of its fifth session on
// the first is forgotten.
TEST_F(SessionServiceTest, ConnectionsOfOneAddressAreOneCaller) {
  std::vector<std::uint64_t> sessions;
  for (int i = 0; i < 5; ++i) {
    grpc::ClientContext context;
    context.set_deadline(In(testutil::kPatience));
    v1::OpenSessionResponse opened;
    ASSERT_TRUE(v1::Extender::NewStub(Connect(*server_))->OpenSession(&context, {}, &opened).ok());
    sessions.push_back(opened.session());
  }
  const auto code = [&](std::uint64_t session) {
    v1::QueueOverusedRequest queue;
    queue.set_session(session), queue.set_queue("default");
    v1::QueueOverusedResponse overused;
    return Call(&Sessions::QueueOverused, queue, &overused).error_code();
  };
  EXPECT_EQ(code(sessions[0]), grpc::NOT_FOUND);
  EXPECT_EQ(code(sessions[1]), grpc::OK);
  EXPECT_EQ(code(sessions[4]), grpc::OK);
}

}  // namespace
}  // namespace gangway::extender
