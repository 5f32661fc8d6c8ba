#include "plugin/extender/tls_files.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"

namespace gangway::extender {
namespace {

struct Free {
  void operator()(std::FILE* p) const { std::fclose(p); }
  void operator()(X509* p) const { X509_free(p); }
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

template <class T, class F>
absl::StatusOr<Owned<T>> ReadPem(const std::string& path, absl::string_view what, F read) {
  const Owned<std::FILE> file(std::fopen(path.c_str(), "re"));
  if (file == nullptr) return absl::InvalidArgumentError(absl::StrCat(path, ": ", std::strerror(errno)));
  Owned<T> object(read(file.get(), nullptr, nullptr, nullptr));
  if (object == nullptr) return absl::InvalidArgumentError(absl::StrCat(path, ": holds no ", what, " in PEM"));
  return object;
}

}  // namespace

absl::Status CheckTlsFiles(const TlsFiles& files) {
  if (!files.any()) return absl::OkStatus();
  if (files.certificate.empty() || files.key.empty()) {
    return absl::InvalidArgumentError("TLS needs both a certificate and its key");
  }
  const auto certificate = ReadPem<X509>(files.certificate, "certificate", PEM_read_X509);
  if (!certificate.ok()) return certificate.status();
  const auto key = ReadPem<EVP_PKEY>(
      files.key, "private key without a password", [](std::FILE* file, EVP_PKEY**, pem_password_cb*, void*) {
        return PEM_read_PrivateKey(file, nullptr, [](char*, int, int, void*) { return -1; }, nullptr);
      });
  if (!key.ok()) return key.status();
  if (X509_check_private_key(certificate->get(), key->get()) != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(files.key, ": is not the key of the certificate in ", files.certificate));
  }
  return files.client_ca.empty() ? absl::OkStatus()
                                 : ReadPem<X509>(files.client_ca, "certificate", PEM_read_X509).status();
}

}  // namespace gangway::extender
