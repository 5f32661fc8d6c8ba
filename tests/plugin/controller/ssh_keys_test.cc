// Key pairs for the job plugin ssh, as OpenSSL makes them.
#include "plugin/controller/ssh_keys.h"

#include <set>
#include <string>

#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/loop_thread.h"

namespace gangway::controller {
namespace {

TEST(SshKeysTest, APairIsRsaOf2048BitsInTheFormsThatVolcanoWrites) {
  const auto pair = MakeSshKeyPair();
  ASSERT_TRUE(pair.ok()) << pair.status();
  EXPECT_THAT(pair->private_key, ::testing::StartsWith("-----BEGIN RSA PRIVATE KEY-----\n"));
  BIO* const bio = BIO_new_mem_buf(pair->private_key.data(), static_cast<int>(pair->private_key.size()));
  EVP_PKEY* const key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  ASSERT_NE(key, nullptr);
  EXPECT_EQ(EVP_PKEY_get_bits(key), 2048);
  BIGNUM* modulus = nullptr;
  EVP_PKEY_get_bn_param(key, "n", &modulus);
  std::string n(256, '\0');
  BN_bn2bin(modulus, reinterpret_cast<unsigned char*>(n.data()));
  // Recorded: 508 bytes of base64.
  EXPECT_EQ(absl::Base64Escape(pair->public_key).size(), 508u);
  absl::string_view line = pair->public_key;
  ASSERT_TRUE(absl::ConsumePrefix(&line, "ssh-rsa ") && absl::ConsumeSuffix(&line, "\n"));
  std::string blob;
  ASSERT_TRUE(absl::Base64Unescape(line, &blob));
  EXPECT_EQ(blob, absl::StrCat(absl::string_view("\0\0\0\7ssh-rsa\0\0\0\3\1\0\1\0\0\1\1\0", 23), n));
  BN_free(modulus);
  EVP_PKEY_free(key);
  BIO_free(bio);
}

TEST(SshKeysTest, ThreadsMakeWhatIsTaken) {
  testutil::LoopThread thread;
  testutil::Inbox<std::string> made;
  std::unique_ptr<ThreadedSshKeys> source;
  Owner owner;
  thread.Run([&] {
    source = std::make_unique<ThreadedSshKeys>(thread.loop(), 2, 1);
    for (int i = 0; i < 4; ++i) {
      source->Take(owner.token(), [&](const absl::StatusOr<lifecycle::SshKeyPair>& pair) {
        made.Put(pair.ok() ? pair->private_key : "");
      });
    }
  });
  std::set<std::string> keys;
  for (int i = 0; i < 4; ++i) keys.insert(made.Take().value_or(""));
  EXPECT_EQ(keys.size(), 4u);
  EXPECT_FALSE(keys.contains(""));
  thread.Run([&] {  // what nobody waits for any more is not made
    for (int i = 0; i < 1000; ++i)
      source->Take(owner.token(), [&](const absl::StatusOr<lifecycle::SshKeyPair>&) { made.Put("late"); });
    owner.Reset();
    source.reset();
  });
  EXPECT_EQ(made.size(), 0u);
}

}  // namespace
}  // namespace gangway::controller
