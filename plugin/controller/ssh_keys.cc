#include "plugin/controller/ssh_keys.h"

#include <condition_variable>
#include <deque>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/mutex.h"

namespace gangway::controller {
namespace {

using lifecycle::SshKeyPair;

constexpr int kBits = 2048;

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeBio {
  void operator()(BIO* bio) const { BIO_free_all(bio); }
};
struct FreeNumber {
  void operator()(BIGNUM* number) const { BN_free(number); }
};
using Key = std::unique_ptr<EVP_PKEY, FreeKey>;

absl::Status Failed(const char* what) {
  return absl::InternalError(absl::StrCat("no key pair for ssh: OpenSSL failed to ", what));
}

// RFC 4251: a length of four bytes, then the bytes.
void AppendString(absl::string_view bytes, std::string& out) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(bytes.size() >> shift & 0xff));
  out.append(bytes.data(), bytes.size());
}

// A number that is not negative: a byte of zeros in front where the first bit is set.
bool AppendNumber(const EVP_PKEY* key, const char* name, std::string& out) {
  BIGNUM* raw = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &raw) != 1) return false;
  const std::unique_ptr<BIGNUM, FreeNumber> number(raw);
  std::string bytes(static_cast<std::size_t>(BN_num_bytes(number.get())), '\0');
  BN_bn2bin(number.get(), reinterpret_cast<unsigned char*>(bytes.data()));
  if (!bytes.empty() && (static_cast<unsigned char>(bytes[0]) & 0x80) != 0) bytes.insert(bytes.begin(), '\0');
  AppendString(bytes, out);
  return true;
}

absl::StatusOr<std::string> PrivatePem(EVP_PKEY* key) {
  const std::unique_ptr<BIO, FreeBio> bio(BIO_new(BIO_s_secmem()));
  // "Traditional" is PKCS#1, which is what Volcano writes and every ssh reads.
  if (bio == nullptr ||
      PEM_write_bio_PrivateKey_traditional(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return Failed("write the private key");
  }
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

}  // namespace

absl::StatusOr<SshKeyPair> MakeSshKeyPair() {
  const Key key(EVP_RSA_gen(kBits));
  if (key == nullptr) return Failed("make one");
  auto pem = PrivatePem(key.get());
  if (!pem.ok()) return pem.status();
  std::string blob;
  AppendString("ssh-rsa", blob);
  if (!AppendNumber(key.get(), OSSL_PKEY_PARAM_RSA_E, blob) || !AppendNumber(key.get(), OSSL_PKEY_PARAM_RSA_N, blob)) {
    return Failed("read the public key");
  }
  return SshKeyPair{*std::move(pem), absl::StrCat("ssh-rsa ", absl::Base64Escape(blob), "\n")};
}

void LoopSshKeys::Take(Token owner, Done done) {
  loop_.Post(std::move(owner), [done = std::move(done)]() mutable { done(MakeSshKeyPair()); });
}

// The loop's side asks and is answered; the threads make pairs while fewer are there than are wanted.
class ThreadedSshKeys::Impl {
 public:
  Impl(Loop& loop, int threads, int stock)
      : loop_(loop), threads_wanted_(threads), stock_(static_cast<std::size_t>(stock)) {}

  ~Impl() {
    {
      MutexLock lock(mu_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void Take(Token owner, Done done) {
    if (threads_.empty()) {
      for (int i = 0; i < threads_wanted_; ++i) threads_.emplace_back([this] { Work(); });
    }
    {
      MutexLock lock(mu_);
      if (pairs_.empty()) {
        waiting_.push_back({std::move(owner), std::move(done)});
      } else {
        Answer({std::move(owner), std::move(done)}, std::move(pairs_.front()));
        pairs_.pop_front();
      }
    }
    wake_.notify_one();
  }

 private:
  struct Asker {
    Token owner;
    Done done;
  };

  void Answer(Asker asker, absl::StatusOr<SshKeyPair> pair) {
    loop_.Post(std::move(asker.owner),
               [done = std::move(asker.done), pair = std::move(pair)]() mutable { done(std::move(pair)); });
  }

  bool NeedsPair() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return making_ + pairs_.size() < waiting_.size() + stock_;
  }

  // Waits until a pair is wanted, which the caller makes; false: stopping.
  bool BeginPair() {
    MutexLock lock(mu_);
    while (!stopping_ && !NeedsPair()) wake_.wait(mu_);
    if (stopping_) return false;
    ++making_;
    return true;
  }

  void Work() {
    while (BeginPair()) {
      absl::StatusOr<SshKeyPair> pair = MakeSshKeyPair();
      MutexLock lock(mu_);
      --making_;
      if (!waiting_.empty()) {
        Answer(std::move(waiting_.front()), std::move(pair));
        waiting_.pop_front();
      } else if (pair.ok()) {
        pairs_.push_back(*std::move(pair));
      }
    }
  }

  Loop& loop_;
  const int threads_wanted_;
  const std::size_t stock_;
  std::vector<std::thread> threads_;  // of the loop's side
  Mutex mu_;
  std::condition_variable_any wake_;
  std::deque<Asker> waiting_ ABSL_GUARDED_BY(mu_);
  std::deque<SshKeyPair> pairs_ ABSL_GUARDED_BY(mu_);
  std::size_t making_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
};

ThreadedSshKeys::ThreadedSshKeys(Loop& loop, int threads, int stock)
    : impl_(std::make_unique<Impl>(loop, threads, stock)) {}
ThreadedSshKeys::~ThreadedSshKeys() = default;
void ThreadedSshKeys::Take(Token owner, Done done) { impl_->Take(std::move(owner), std::move(done)); }

}  // namespace gangway::controller
