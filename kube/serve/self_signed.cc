#include "kube/serve/self_signed.h"

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace gangway::kube {
namespace {

struct Free {
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(X509* p) const { X509_free(p); }
  void operator()(BIO* p) const { BIO_free_all(p); }
  void operator()(X509_EXTENSION* p) const { X509_EXTENSION_free(p); }
};

absl::Status Failed(const char* what) {
  return absl::InternalError(absl::StrCat("no certificate for TLS: OpenSSL failed to ", what));
}

absl::Status Extend(X509* certificate, int nid, const std::string& value) {
  const std::unique_ptr<X509_EXTENSION, Free> extension(X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str()));
  if (extension == nullptr || X509_add_ext(certificate, extension.get(), -1) != 1) return Failed("extend it");
  return absl::OkStatus();
}

template <class Write>
absl::StatusOr<std::string> Pem(Write write) {
  const std::unique_ptr<BIO, Free> bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || write(bio.get()) != 1) return Failed("write it");
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<std::size_t>(size));
}

}  // namespace

absl::StatusOr<SelfSigned> MakeSelfSigned(const std::string& names, absl::Time now, absl::Duration valid_for) {
  const std::unique_ptr<EVP_PKEY, Free> key(EVP_EC_gen("P-256"));
  const std::unique_ptr<X509, Free> certificate(X509_new());
  if (key == nullptr || certificate == nullptr) return Failed("make a key");
  X509* const x = certificate.get();
  X509_NAME* const name = X509_get_subject_name(x);
  GW_ASSIGN_OR_RETURN(const std::string serial, RandomBytes(4));
  std::uint32_t number = 0;
  for (const char byte : serial) number = number << 8 | static_cast<unsigned char>(byte);
  const auto common_name = reinterpret_cast<const unsigned char*>("gangway-sandbox");
  const bool filled = X509_set_version(x, 2) == 1 && ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), number) == 1 &&
                      ASN1_TIME_set(X509_getm_notBefore(x), absl::ToTimeT(now - absl::Hours(1))) != nullptr &&
                      ASN1_TIME_set(X509_getm_notAfter(x), absl::ToTimeT(now + valid_for)) != nullptr &&
                      X509_set_pubkey(x, key.get()) == 1 &&
                      X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, common_name, -1, -1, 0) == 1 &&
                      X509_set_issuer_name(x, name) == 1;
  if (!filled) return Failed("fill it in");
  GW_RETURN_IF_ERROR(Extend(x, NID_basic_constraints, "critical,CA:TRUE"));
  GW_RETURN_IF_ERROR(Extend(x, NID_subject_alt_name, names));
  if (X509_sign(x, key.get(), EVP_sha256()) <= 0) return Failed("sign it");
  SelfSigned out;
  GW_ASSIGN_OR_RETURN(out.certificate, Pem([x](BIO* bio) { return PEM_write_bio_X509(bio, x); }));
  GW_ASSIGN_OR_RETURN(out.key, Pem([&](BIO* bio) {
                        return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
                      }));
  return out;
}

absl::StatusOr<std::string> RandomBytes(int count) {
  std::string out(static_cast<std::size_t>(count), '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), count) != 1) return Failed("find random bytes");
  return out;
}

}  // namespace gangway::kube
