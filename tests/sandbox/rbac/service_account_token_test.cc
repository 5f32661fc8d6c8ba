#include "sandbox/rbac/service_account_token.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::sandbox::rbac {
namespace {

const std::string kSecret(32, 's');

TokenClaims Claims() {
  return {.ns = "a",
          .name = "robot",
          .uid = "u1",
          .audiences = {"https://kubernetes.default.svc"},
          .issued = absl::FromUnixSeconds(1000),
          .expires = absl::FromUnixSeconds(4600),
          .id = "j1",
          .bound_kind = "Pod",
          .bound_name = "p",
          .bound_uid = "u2"};
}

TEST(ServiceAccountTokenTest, ATokenSaysWhatWasSigned) {
  const absl::StatusOr<TokenClaims> read = ReadToken(SignToken(Claims(), kSecret), kSecret);
  ASSERT_TRUE(read.ok());
  const TokenClaims wanted = Claims();
  EXPECT_EQ(read->ns, wanted.ns);
  EXPECT_EQ(read->name, wanted.name);
  EXPECT_EQ(read->uid, wanted.uid);
  EXPECT_EQ(read->audiences, wanted.audiences);
  EXPECT_EQ(read->issued, wanted.issued);
  EXPECT_EQ(read->expires, wanted.expires);
  EXPECT_EQ(read->id, wanted.id);
  EXPECT_EQ(read->bound_kind, "Pod");
  EXPECT_EQ(read->bound_name, "p");
  EXPECT_EQ(read->bound_uid, "u2");
}

TEST(ServiceAccountTokenTest, NothingElseIsAToken) {
  const std::string token = SignToken(Claims(), kSecret);
  EXPECT_FALSE(ReadToken(token, std::string(32, 't')).ok());
  for (std::size_t at : {std::size_t{0}, token.find('.') + 3, token.size() - 1}) {
    std::string changed = token;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(ReadToken(changed, kSecret).ok()) << at;
  }
  for (const std::string& text : {std::string(), std::string("x"), std::string("."), std::string(".."),
                                  token.substr(0, token.rfind('.')), token + "."})
    EXPECT_FALSE(ReadToken(text, kSecret).ok()) << text;
}

}  // namespace
}  // namespace gangway::sandbox::rbac
