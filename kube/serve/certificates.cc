#include "kube/serve/certificates.h"

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
using Key = std::unique_ptr<EVP_PKEY, Free>;
using X509Ptr = std::unique_ptr<X509, Free>;

// RFC 5280, appendix A: ub-common-name and ub-organization-name.
constexpr std::size_t kMaxName = 64;

absl::Status Failed(const char* what) {
  return absl::InternalError(absl::StrCat("no certificate for TLS: OpenSSL failed to ", what));
}

absl::Status Extend(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Free> extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
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

template <class Read>
auto FromPem(const std::string& pem, Read read) {
  const std::unique_ptr<BIO, Free> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return bio == nullptr ? nullptr : read(bio.get(), nullptr, nullptr, nullptr);
}

absl::Status AddToName(X509_NAME* name, const char* field, const std::string& text) {
  if (text.empty() || text.size() > kMaxName) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" cannot stand in a certificate: a name has 1 to ", kMaxName, " bytes there"));
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  const bool added =
      X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, bytes, static_cast<int>(text.size()), -1, 0) == 1;
  return added ? absl::OkStatus()
               : absl::InvalidArgumentError(absl::StrCat("\"", text, "\" cannot stand in a certificate"));
}

struct Unsigned {
  Key key;
  X509Ptr certificate;
};

absl::StatusOr<Unsigned> Begin(const CertificateSubject& subject, absl::Time now, absl::Duration valid_for) {
  Unsigned out{Key(EVP_EC_gen("P-256")), X509Ptr(X509_new())};
  if (out.key == nullptr || out.certificate == nullptr) return Failed("make a key");
  X509* const x = out.certificate.get();
  X509_NAME* const name = X509_get_subject_name(x);
  GW_ASSIGN_OR_RETURN(const std::string serial, RandomBytes(7));
  std::uint64_t number = 1;
  for (const char byte : serial) number = number << 8 | static_cast<unsigned char>(byte);
  const bool filled = X509_set_version(x, 2) == 1 && ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), number) == 1 &&
                      ASN1_TIME_set(X509_getm_notBefore(x), absl::ToTimeT(now - absl::Hours(1))) != nullptr &&
                      ASN1_TIME_set(X509_getm_notAfter(x), absl::ToTimeT(now + valid_for)) != nullptr &&
                      X509_set_pubkey(x, out.key.get()) == 1;
  if (!filled) return Failed("fill it in");
  for (const std::string& group : subject.groups) GW_RETURN_IF_ERROR(AddToName(name, "O", group));
  GW_RETURN_IF_ERROR(AddToName(name, "CN", subject.name));
  return out;
}

absl::StatusOr<Certificate> Finish(const Unsigned& made, EVP_PKEY* signer) {
  X509* const x = made.certificate.get();
  if (X509_sign(x, signer, EVP_sha256()) <= 0) return Failed("sign it");
  Certificate out;
  GW_ASSIGN_OR_RETURN(out.certificate, Pem([x](BIO* bio) { return PEM_write_bio_X509(bio, x); }));
  GW_ASSIGN_OR_RETURN(out.key, Pem([&](BIO* bio) {
                        return PEM_write_bio_PrivateKey(bio, made.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
                      }));
  return out;
}

}  // namespace

absl::StatusOr<Certificate> MakeAuthority(const std::string& name, absl::Time now, absl::Duration valid_for) {
  GW_ASSIGN_OR_RETURN(const Unsigned made, Begin({name, {}, ""}, now, valid_for));
  X509* const x = made.certificate.get();
  if (X509_set_issuer_name(x, X509_get_subject_name(x)) != 1) return Failed("fill it in");
  GW_RETURN_IF_ERROR(Extend(x, x, NID_basic_constraints, "critical,CA:TRUE"));
  GW_RETURN_IF_ERROR(Extend(x, x, NID_key_usage, "critical,digitalSignature,keyCertSign,cRLSign"));
  GW_RETURN_IF_ERROR(Extend(x, x, NID_subject_key_identifier, "hash"));
  return Finish(made, made.key.get());
}

absl::StatusOr<Certificate> MakeCertificate(const Certificate& authority, const CertificateSubject& subject,
                                            absl::Time now, absl::Duration valid_for) {
  const X509Ptr issuer(FromPem(authority.certificate, PEM_read_bio_X509));
  const Key signer(FromPem(authority.key, PEM_read_bio_PrivateKey));
  if (issuer == nullptr || signer == nullptr) return Failed("read its authority");
  GW_ASSIGN_OR_RETURN(const Unsigned made, Begin(subject, now, valid_for));
  X509* const x = made.certificate.get();
  if (X509_set_issuer_name(x, X509_get_subject_name(issuer.get())) != 1) return Failed("fill it in");
  GW_RETURN_IF_ERROR(Extend(x, issuer.get(), NID_basic_constraints, "critical,CA:FALSE"));
  GW_RETURN_IF_ERROR(Extend(x, issuer.get(), NID_key_usage, "critical,digitalSignature"));
  GW_RETURN_IF_ERROR(Extend(x, issuer.get(), NID_authority_key_identifier, "keyid:always"));
  GW_RETURN_IF_ERROR(
      Extend(x, issuer.get(), NID_ext_key_usage, subject.server_names.empty() ? "clientAuth" : "serverAuth"));
  if (!subject.server_names.empty())
    GW_RETURN_IF_ERROR(Extend(x, issuer.get(), NID_subject_alt_name, subject.server_names));
  return Finish(made, signer.get());
}

absl::StatusOr<std::string> RandomBytes(int count) {
  std::string out(static_cast<std::size_t>(count), '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), count) != 1) return Failed("find random bytes");
  return out;
}

}  // namespace gangway::kube
