// The extender over the wire: what a client sees of its services, of the limits, of TLS, and of a server that goes.
#include "plugin/extender/server.h"

#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/gangway/v1/explain.grpc.pb.h"
#include "proto/gangway/v1/lifecycle.grpc.pb.h"
#include "tests/certificates/identity.h"
#include "tests/plugin/extender/http2_caller.h"
#include "tests/plugin/extender/requests.h"
#include "tests/plugin/extender/server_fixture.h"
#include "tests/testing/files.h"

namespace gangway::extender {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using testutil::Eventually;
using testutil::Identity;
using testutil::Inbox;
using testutil::RunningSeed;
using testutil::SeedRequest;
using testutil::StatusIs;

TEST_F(ServerTest, TheServicesAnswer) {
  const auto server = Start();
  const auto channel = Connect(*server);
  v1::PlaceGangResponse placed;
  ASSERT_TRUE(Place(channel, SeedRequest(), &placed).ok());
  EXPECT_TRUE(placed.placed());
  EXPECT_EQ(placed.placements_size(), 4);
  grpc::ClientContext context;
  v1::DecideResponse decided;
  ASSERT_TRUE(v1::Lifecycle::NewStub(channel)->Decide(&context, RunningSeed("PodEvicted", "pserver"), &decided).ok());
  EXPECT_EQ(decided.action(), "RestartJob");
  v1::ExplainRequest why;
  *why.mutable_gang() = SeedRequest().gang();
  *why.mutable_cluster() = SeedRequest().cluster();
  grpc::ClientContext explain_context;
  v1::ExplainResponse explained;
  ASSERT_TRUE(v1::Explain::NewStub(channel)->Explain(&explain_context, why, &explained).ok());
  EXPECT_EQ(explained.state(), "starting");
  const std::string metrics = metrics_.Expose();
  EXPECT_THAT(metrics, HasSubstr(R"(gangway_extender_calls_total{code="OK",method="PlaceGang"} 1)"));
  EXPECT_THAT(metrics, HasSubstr(R"(gangway_extender_call_duration_seconds_count{method="Decide"} 1)"));
  EXPECT_THAT(metrics, HasSubstr("gangway_extender_calls 0"));
  for (const char* const bound : {"1024", "8192", "65536", "524288", "4194304", "33554432"}) {
    EXPECT_THAT(metrics, HasSubstr(absl::StrCat("gangway_extender_request_bytes_bucket{method=\"PlaceGang\",le=\"",
                                                bound, "\"} 1")));
  }
}

TEST_F(ServerTest, AWrongFieldIsNamedInTheStatus) {
  const auto server = Start();
  v1::PlaceGangRequest request = SeedRequest();
  (*request.mutable_gang()->mutable_tasks(1)->mutable_requests())["cpu"] = "many";
  v1::PlaceGangResponse reply;
  const grpc::Status status = Place(Connect(*server), request, &reply);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), StartsWith(R"(gang.tasks[1].requests["cpu"]: "many" is no quantity)"));
}

TEST_F(ServerTest, BytesThatAreNoMessageAreRefused) {
  const auto server = Start();
  const auto channel = Connect(*server);
  const std::string method = "/gangway.v1.GangScheduler/PlaceGang";
  grpc::Status status = CallRaw(channel, method, "\x0a\x7f");
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("gang"));
  // A text that is not UTF-8.
  status = CallRaw(channel, method, std::string("\x0a\x03\x0a\x01\xff", 5));
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("UTF-8"));
  // No bytes at all are a message without fields.
  status = CallRaw(channel, method, "");
  EXPECT_THAT(status.error_message(), StartsWith("gang: is missing"));
  EXPECT_EQ(CallRaw(channel, "/gangway.v1.GangScheduler/Place", "").error_code(), grpc::UNIMPLEMENTED);
}

TEST_F(ServerTest, WhatIsSmallOnTheWireAndLargeInMemoryIsRefusedUnparsed) {
  const auto server = Start();
  std::string nodes;
  for (int i = 0; i < 1'000'001; ++i) nodes += std::string("\x0a\x00", 2);
  std::string bytes = "\x12";
  for (std::size_t rest = nodes.size(); rest != 0; rest >>= 7)
    bytes += static_cast<char>((rest & 0x7f) | (rest >> 7 != 0 ? 0x80 : 0));
  const grpc::Status status = CallRaw(Connect(*server), "/gangway.v1.GangScheduler/PlaceGang", bytes + nodes);
  EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), StartsWith("cluster.nodes: the message has more entries"));
}

TEST_F(ServerTest, AMessageOverTheLimitIsRefused) {
  ServerOptions options;
  options.max_message_bytes = 4096;
  const auto server = Start(std::move(options));
  const auto channel = Connect(*server);
  v1::PlaceGangResponse reply;
  EXPECT_TRUE(Place(channel, SeedRequest(6), &reply).ok());
  const grpc::Status status = Place(channel, SeedRequest(100), &reply);
  EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("4096"));
}

TEST_F(ServerTest, CallsBeyondTheLimitAreRefusedAtOnceAndTheOthersAnswered) {
  Gate gate;
  ServerOptions options;
  options.threads = 1;
  options.max_calls = 2;
  options.before_call = gate.Hook();
  const auto server = Start(std::move(options));
  const auto channel = Connect(*server);
  Inbox<grpc::Status> done;
  std::vector<std::thread> callers;
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([&] {
      v1::PlaceGangResponse reply;
      done.Put(Place(channel, SeedRequest(), &reply));
    });
  }
  ASSERT_TRUE(gate.AwaitHeld(1));
  ASSERT_TRUE(Eventually([&] { return metrics_.Expose().find("gangway_extender_calls 2") != std::string::npos; }));
  v1::PlaceGangResponse reply;
  const grpc::Status status = Place(channel, SeedRequest(), &reply);
  EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("2 calls are under way already"));
  gate.Open();
  for (std::thread& caller : callers) caller.join();
  EXPECT_TRUE(done.Take()->ok());
  EXPECT_TRUE(done.Take()->ok());
}

// Holds a call until its answer is not waited for any more. What the server hears of a caller's going has no order with
// what else comes over its connection: it must be asked.
void AwaitUnwanted(absl::string_view, explain::StillWanted still_wanted) {
  EXPECT_TRUE(Eventually([&] { return !still_wanted().ok(); }));
}

TEST_F(ServerTest, ACallThatIsCancelledWhileItWaitsDoesNoWork) {
  Inbox<bool> begun;
  ServerOptions options;
  options.before_call = [&](absl::string_view method, explain::StillWanted still_wanted) {
    begun.Put(true);
    AwaitUnwanted(method, still_wanted);
  };
  const auto server = Start(std::move(options));
  grpc::ClientContext context;
  Inbox<grpc::Status> done;
  const auto channel = Connect(*server);
  std::thread caller([&] {
    v1::PlaceGangResponse reply;
    done.Put(v1::GangScheduler::NewStub(channel)->PlaceGang(&context, SeedRequest(), &reply));
  });
  ASSERT_TRUE(begun.Take().has_value());
  context.TryCancel();
  EXPECT_EQ(done.Take()->error_code(), grpc::CANCELLED);
  caller.join();
  EXPECT_TRUE(Eventually([&] { return Counted("CANCELLED"); }));
  EXPECT_FALSE(Counted("OK"));
}

// Others have its place, though no thread has come to it.
TEST_F(ServerTest, ACallThatIsCancelledWhileItWaitsGivesItsPlaceBack) {
  Gate gate;
  ServerOptions options;
  options.threads = 1;
  options.max_calls = 2;
  options.before_call = gate.Hook();
  const auto server = Start(std::move(options));
  const auto channel = Connect(*server);
  const auto calls = [&](int count) {
    return Eventually(
        [&] { return absl::StrContains(metrics_.Expose(), absl::StrCat("gangway_extender_calls ", count)); });
  };
  Inbox<grpc::Status> done;
  const auto call = [&](grpc::ClientContext& context) {
    return std::thread([&] {
      v1::PlaceGangResponse reply;
      done.Put(v1::GangScheduler::NewStub(channel)->PlaceGang(&context, SeedRequest(), &reply));
    });
  };
  grpc::ClientContext runs, waits, comes_later;
  std::vector<std::thread> callers;
  callers.push_back(call(runs));
  ASSERT_TRUE(gate.AwaitHeld(1));
  callers.push_back(call(waits));
  ASSERT_TRUE(calls(2));
  waits.TryCancel();
  EXPECT_EQ(done.Take()->error_code(), grpc::CANCELLED);
  EXPECT_TRUE(calls(1));
  EXPECT_TRUE(Counted("CANCELLED"));
  callers.push_back(call(comes_later));
  EXPECT_TRUE(calls(2));
  gate.Open();
  for (std::thread& caller : callers) caller.join();
  EXPECT_TRUE(done.Take()->ok());
  EXPECT_TRUE(done.Take()->ok());
}

TEST_F(ServerTest, ACallersDeadlineIsKept) {
  ServerOptions options;
  options.before_call = &AwaitUnwanted;
  const auto server = Start(std::move(options));
  const auto channel = Connect(*server);
  // On a busy machine the deadline may pass before the call has left; then another one is made.
  EXPECT_TRUE(Eventually([&] {
    v1::PlaceGangResponse reply;
    EXPECT_EQ(Place(channel, SeedRequest(), &reply, std::chrono::milliseconds(50)).error_code(),
              grpc::DEADLINE_EXCEEDED);
    return Counted("DEADLINE_EXCEEDED");
  }));
}

TEST_F(ServerTest, ACallWithoutADeadlineHasTheServers) {
  ServerOptions options;
  options.default_deadline = absl::Milliseconds(1);
  options.before_call = &AwaitUnwanted;
  const auto server = Start(std::move(options));
  grpc::ClientContext context;
  v1::PlaceGangResponse reply;
  const grpc::Status status = v1::GangScheduler::NewStub(Connect(*server))->PlaceGang(&context, SeedRequest(), &reply);
  EXPECT_EQ(status.error_code(), grpc::DEADLINE_EXCEEDED);
  EXPECT_THAT(status.error_message(), HasSubstr("deadline has passed"));
}

TEST_F(ServerTest, CallsUnderWayEndBeforeTheServerDoes) {
  Gate gate;
  ServerOptions options;
  options.before_call = gate.Hook();
  options.drain = absl::Seconds(30);
  auto server = Start(std::move(options));
  const auto channel = Connect(*server);
  Inbox<grpc::Status> done;
  std::thread caller([&] {
    v1::PlaceGangResponse reply;
    done.Put(Place(channel, SeedRequest(), &reply));
  });
  ASSERT_TRUE(gate.AwaitHeld(1));
  std::thread ending([&] { server.reset(); });
  v1::PlaceGangResponse reply;
  ASSERT_TRUE(Eventually([&] {
    return Place(channel, SeedRequest(), &reply, std::chrono::milliseconds(500)).error_code() == grpc::UNAVAILABLE;
  }));
  gate.Open();
  ending.join();
  caller.join();
  EXPECT_TRUE(done.Take()->ok());
}

TEST_F(ServerTest, ACallThatDoesNotEndIsCancelledWhenTheServerHasWaitedLongEnough) {
  Gate gate;
  ServerOptions options;
  options.before_call = gate.Hook();
  options.drain = absl::Milliseconds(1);
  auto server = Start(std::move(options));
  const auto channel = Connect(*server);
  Inbox<grpc::Status> done;
  std::thread caller([&] {
    v1::PlaceGangResponse reply;
    done.Put(Place(channel, SeedRequest(), &reply));
  });
  ASSERT_TRUE(gate.AwaitHeld(1));
  std::thread ending([&] { server.reset(); });
  EXPECT_FALSE(done.Take()->ok()) << "while the call is still held";
  caller.join();
  gate.Open();
  ending.join();
}

// grpc.health.v1.HealthCheckRequest{service}, HealthCheckResponse{status: SERVING = 1}
TEST_F(ServerTest, HealthIsServedForTheServerAndForEachService) {
  const auto server = Start();
  const auto channel = Connect(*server);
  for (const std::string service :
       {"", "gangway.v1.GangScheduler", "gangway.v1.Extender", "gangway.v1.Lifecycle", "gangway.v1.Explain"}) {
    std::string reply;
    const std::string request =
        service.empty() ? "" : std::string("\x0a") + static_cast<char>(service.size()) + service;
    ASSERT_TRUE(CallRaw(channel, "/grpc.health.v1.Health/Check", request, &reply).ok()) << service;
    EXPECT_EQ(reply, "\x08\x01");
  }
}

TEST_F(ServerTest, ReflectionListsTheServices) {
  const auto server = Start();
  const auto channel = Connect(*server);
  grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer> stub(channel);
  grpc::ClientContext context;
  context.set_deadline(In(testutil::kPatience));
  grpc::CompletionQueue queue;
  auto call = stub.PrepareCall(&context, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
  const auto next = [&] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  call->StartCall(nullptr);
  ASSERT_TRUE(next());
  const grpc::Slice list(std::string("\x3a\x00", 2));  // list_services: ""
  const grpc::ByteBuffer request(&list, 1);
  call->Write(request, nullptr);
  ASSERT_TRUE(next());
  grpc::ByteBuffer answer;
  call->Read(&answer, nullptr);
  ASSERT_TRUE(next());
  grpc::Slice all;
  ASSERT_TRUE(answer.DumpToSingleSlice(&all).ok());
  const std::string text(reinterpret_cast<const char*>(all.begin()), all.size());
  EXPECT_THAT(text, HasSubstr("gangway.v1.GangScheduler"));
  EXPECT_THAT(text, HasSubstr("gangway.v1.Extender"));
  EXPECT_THAT(text, HasSubstr("gangway.v1.Lifecycle"));
  EXPECT_THAT(text, HasSubstr("gangway.v1.Explain"));
  EXPECT_THAT(text, HasSubstr("grpc.health.v1.Health"));
  context.TryCancel();
  grpc::Status status;
  call->Finish(&status, nullptr);
  next();
  queue.Shutdown();
  while (next()) {
  }
}

TEST_F(ServerTest, APortThatIsTakenIsNotShared) {
  const auto server = Start();
  ServerOptions options;
  options.address = server->address();
  EXPECT_THAT(Server::Start(std::move(options), metrics_),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr(server->address())));
}

class TlsServerTest : public ServerTest {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = folder_.path() + "/" + name;
    testutil::WriteFile(path, text);
    return path;
  }
  TlsFiles WriteIdentity(const Identity& authority) {
    const Identity server({.common_name = "extender", .alternative_names = "IP:127.0.0.1"}, &authority);
    return {Write("tls.crt", server.CertificatePem()), Write("tls.key", server.KeyPem()), ""};
  }
  static std::shared_ptr<grpc::ChannelCredentials> Trusting(const Identity& authority, const Identity* mine = nullptr) {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = authority.CertificatePem();
    if (mine != nullptr) options.pem_cert_chain = mine->CertificatePem(), options.pem_private_key = mine->KeyPem();
    return grpc::SslCredentials(options);
  }
  const testutil::TemporaryFolder folder_{"gangway-extender"};
};

TEST_F(TlsServerTest, OnlyClientsOfTheAuthorityAreServed) {
  const Identity authority({.common_name = "authority"}, nullptr), other({.common_name = "other"}, nullptr);
  ServerOptions options;
  options.tls = WriteIdentity(authority);
  options.tls.client_ca = Write("ca.crt", authority.CertificatePem());
  const auto server = Start(std::move(options));
  const Identity friendly({.common_name = "me"}, &authority), stranger({.common_name = "me"}, &other);
  v1::PlaceGangResponse reply;
  EXPECT_TRUE(Place(Connect(*server, Trusting(authority, &friendly)), SeedRequest(), &reply).ok());
  for (const auto& credentials : {Trusting(authority, &stranger), Trusting(authority), Trusting(other, &friendly),
                                  grpc::InsecureChannelCredentials()}) {
    EXPECT_EQ(Place(Connect(*server, credentials), SeedRequest(), &reply).error_code(), grpc::UNAVAILABLE);
  }
}

// What would keep the server busy for minutes (CVE-2023-33953) is cut off in TLS too, and only where HTTP/2 is spoken.
TEST_F(TlsServerTest, AHeaderThatDoesNotEndIsCutOff) {
  signal(SIGPIPE, SIG_IGN);
  const Identity authority({.common_name = "authority"}, nullptr);
  ServerOptions options;
  options.tls = WriteIdentity(authority);
  const auto server = Start(std::move(options));
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
  const std::string protocols = "\2h2";
  SSL_CTX_set_alpn_protos(context.get(), reinterpret_cast<const unsigned char*>(protocols.data()), 3);
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> caller(BIO_new_ssl_connect(context.get()), &BIO_free_all);
  BIO_set_conn_hostname(caller.get(), server->address().c_str());
  ASSERT_EQ(BIO_do_connect(caller.get()), 1);
  const auto send = [&](const std::string& bytes) {
    return BIO_write(caller.get(), bytes.data(), static_cast<int>(bytes.size())) > 0;
  };
  EXPECT_TRUE(send(testutil::EndlessTextBegin()));
  for (int i = 0; send(testutil::EndlessTextContinuation(16'000)); ++i) ASSERT_LT(i, 1'000);
  EXPECT_THAT(metrics_.Expose(), HasSubstr("gangway_extender_connections_cut_total{why=\"header\"} 1"));
  v1::PlaceGangResponse reply;
  EXPECT_TRUE(Place(Connect(*server, Trusting(authority)), SeedRequest(), &reply).ok());
}

TEST_F(TlsServerTest, FilesThatChangeAreReadAgain) {
  const Identity authority({.common_name = "authority"}, nullptr), next({.common_name = "next"}, nullptr);
  ServerOptions options;
  options.tls = WriteIdentity(authority);
  options.tls_look_again = absl::Seconds(1);
  const auto server = Start(std::move(options));
  v1::PlaceGangResponse reply;
  ASSERT_TRUE(Place(Connect(*server, Trusting(authority)), SeedRequest(), &reply).ok());
  EXPECT_FALSE(Place(Connect(*server, Trusting(next)), SeedRequest(), &reply).ok());
  WriteIdentity(next);
  EXPECT_TRUE(Eventually([&] { return Place(Connect(*server, Trusting(next)), SeedRequest(), &reply).ok(); }));
}

TEST_F(TlsServerTest, FilesThatCannotBeUsedStopTheStart) {
  const Identity authority({.common_name = "authority"}, nullptr), other({.common_name = "other"}, nullptr);
  ServerOptions options;
  options.tls = WriteIdentity(authority);
  const TlsFiles good = options.tls;
  options.tls.key = Write("other.key", other.KeyPem());
  EXPECT_THAT(Server::Start(options, metrics_), StatusIs(absl::StatusCode::kInvalidArgument,
                                                         HasSubstr("other.key: is not the key of the certificate in")));
  options.tls = good;
  options.tls.client_ca = folder_.path() + "/none.crt";
  EXPECT_THAT(Server::Start(options, metrics_),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("none.crt: No such file")));
  options.tls = good;
  options.tls.certificate = Write("empty.crt", "");
  EXPECT_THAT(Server::Start(options, metrics_),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("empty.crt: holds no certificate in PEM")));
  options.tls = {good.certificate, "", ""};
  EXPECT_THAT(Server::Start(options, metrics_), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("both")));
}

}  // namespace
}  // namespace gangway::extender
