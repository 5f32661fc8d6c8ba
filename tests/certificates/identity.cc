#include "tests/certificates/identity.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <atomic>

#include "base/check.h"

namespace gangway::testutil {
namespace {

template <class F>
std::string Pem(F write) {
  BIO* const bio = BIO_new(BIO_s_mem());
  write(bio);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio, &text);
  std::string pem(text, static_cast<std::size_t>(size));
  BIO_free(bio);
  return pem;
}

void AddName(X509* x, const char* field, const std::string& value) {
  if (value.empty()) return;
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x), field, MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1, 0);
}

void Extend(X509* x, int nid, const char* value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value);
  GW_CHECK(extension != nullptr);
  X509_add_ext(x, extension, -1);
  X509_EXTENSION_free(extension);
}

}  // namespace

Identity::Identity(const Subject& subject, const Identity* issuer)
    : key_(EVP_EC_gen("P-256")), certificate_(X509_new()) {
  static std::atomic<long> serial{1};
  X509* const x = certificate_.get();
  X509_set_version(x, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(x), -3600);
  X509_gmtime_adj(X509_getm_notAfter(x), absl::ToInt64Seconds(subject.valid_for));
  X509_set_pubkey(x, key());
  AddName(x, "O", subject.organization);
  AddName(x, "CN", subject.common_name);
  const Identity& by = issuer == nullptr ? *this : *issuer;
  X509_set_issuer_name(x, X509_get_subject_name(by.certificate()));
  Extend(x, NID_basic_constraints, issuer == nullptr ? "critical,CA:TRUE" : "CA:FALSE");
  if (!subject.alternative_names.empty()) Extend(x, NID_subject_alt_name, subject.alternative_names.c_str());
  GW_CHECK(X509_sign(x, by.key(), EVP_sha256()) > 0);
}

std::string Identity::CertificatePem() const {
  return Pem([&](BIO* b) { PEM_write_bio_X509(b, certificate()); });
}
std::string Identity::KeyPem() const {
  return Pem([&](BIO* b) { PEM_write_bio_PrivateKey(b, key(), nullptr, nullptr, 0, nullptr, nullptr); });
}
std::string Identity::PublicKeyPem() const {
  return Pem([&](BIO* b) { PEM_write_bio_PUBKEY(b, key()); });
}

}  // namespace gangway::testutil
