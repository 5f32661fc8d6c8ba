#include "kube/client/exec_credential.h"

#include <random>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::kube {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testutil::IsOkAndHolds;
using testutil::StatusIs;

constexpr char kV1[] = "client.authentication.k8s.io/v1";
constexpr char kWhole[] =
    R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false},
  "status":{"expirationTimestamp":"2026-11-21T10:00:00Z","token":"t","clientCertificateData":"cert","clientKeyData":"key"}})";

TEST(ExecCredentialTest, AWholeAnswerIsRead) {
  EXPECT_THAT(
      ParseExecCredential(kWhole, kV1),
      IsOkAndHolds(ExecCredential{"t", "cert", "key",
                                  absl::FromCivil(absl::CivilSecond(2026, 11, 21, 10, 0, 0), absl::UTCTimeZone())}));
  EXPECT_THAT(
      ParseExecCredential(
          R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t"}})", kV1),
      IsOkAndHolds(ExecCredential{"t", "", "", std::nullopt}));
}

TEST(ExecCredentialTest, WhatIsWrongIsSaidWithoutTheSecret) {
  EXPECT_THAT(
      ParseExecCredential(
          R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"sec\nret"}})",
          kV1),
      StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("control characters"), Not(HasSubstr("sec")))));
  EXPECT_THAT(ParseExecCredential("secret", kV1),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("no ExecCredential in JSON"), Not(HasSubstr("secret")))));
  EXPECT_THAT(ParseExecCredential(kWhole, "client.authentication.k8s.io/v1beta1"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("v1beta1")));
  EXPECT_THAT(ParseExecCredential("", kV1), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(ExecCredentialTest, RandomDamageIsAnAnswerNotACrash) {
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string text = kWhole;
    for (unsigned n = 0; n < 1 + random() % 4; ++n) text[random() % text.size()] = static_cast<char>(random() % 256);
    text.resize(random() % 8 == 0 ? random() % text.size() : text.size());
    ParseExecCredential(text, kV1).status().IgnoreError();
  }
}

TEST(ExecCredentialTest, TheServerIsToldOnlyWhenItIsAskedFor) {
  Connection connection;
  connection.server = "https://10.0.0.1:6443";
  connection.tls_server_name = "kubernetes";
  connection.proxy_url = "http://proxy:3128";
  CredentialProgram program;
  program.api_version = kV1;
  program.cluster_config = R"({"a":1})";
  EXPECT_EQ(ExecInfo(connection, program, "PEM"),
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false}})");
  program.provide_cluster_info = true;
  EXPECT_EQ(
      ExecInfo(connection, program, "PEM"),
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":{"server":"https://10.0.0.1:6443",)"
      R"("tls-server-name":"kubernetes","certificate-authority-data":"UEVN","proxy-url":"http://proxy:3128","config":{"a":1}},"interactive":false}})");
}

}  // namespace
}  // namespace gangway::kube
