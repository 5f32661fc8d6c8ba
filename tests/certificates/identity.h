// Keys and certificates for tests of TLS, made afresh in memory.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

#include "absl/time/time.h"

namespace gangway::testutil {

struct FreeOpenSsl {
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(X509* p) const { X509_free(p); }
};

struct Subject {
  std::string common_name;
  std::string organization = {};       // of a Kubernetes client certificate: its group
  std::string alternative_names = {};  // "IP:127.0.0.1,DNS:localhost"
  absl::Duration valid_for = absl::Hours(24);
};

// A P-256 key and a certificate for it, valid since an hour ago.
class Identity {
 public:
  // Signed by `issuer`; null makes a certificate authority that signs itself.
  Identity(const Subject& subject, const Identity* issuer);

  EVP_PKEY* key() const { return key_.get(); }
  X509* certificate() const { return certificate_.get(); }
  std::string CertificatePem() const;
  std::string KeyPem() const;
  std::string PublicKeyPem() const;

 private:
  const std::unique_ptr<EVP_PKEY, FreeOpenSsl> key_;
  const std::unique_ptr<X509, FreeOpenSsl> certificate_;
};

}  // namespace gangway::testutil
