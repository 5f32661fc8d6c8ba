#include "cmd/version/program_files.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace gangway::cmd {
namespace {

constexpr std::uintmax_t kMaxSumsBytes = 1 << 20;
constexpr std::size_t kSha256Digits = 64;

absl::Status CannotRead(const std::filesystem::path& file, int error) {
  const std::string what = absl::StrCat(file.string(), ": ", std::strerror(error));
  return error == ENOENT ? absl::NotFoundError(what) : absl::FailedPreconditionError(what);
}

}  // namespace

absl::StatusOr<std::string> Sha256OfFile(const std::filesystem::path& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) return CannotRead(file, errno);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (digest == nullptr || EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr) != 1)
    return absl::InternalError("OpenSSL has no SHA-256");
  std::array<char, 1 << 16> block;
  do {
    errno = 0;
    in.read(block.data(), block.size());
    if (in.bad() || (in.gcount() == 0 && !in.eof())) return CannotRead(file, errno == 0 ? EIO : errno);
    EVP_DigestUpdate(digest.get(), block.data(), static_cast<std::size_t>(in.gcount()));
  } while (in);
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum;
  unsigned int size = 0;
  EVP_DigestFinal_ex(digest.get(), sum.data(), &size);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(sum.data()), size));
}

absl::StatusOr<std::vector<FileSum>> ReadSums(absl::string_view text) {
  std::vector<FileSum> sums;
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits("  ", 1));
    if (parts.first.size() != kSha256Digits || parts.second.empty() ||
        !std::all_of(parts.first.begin(), parts.first.end(),
                     [](char c) { return absl::ascii_isxdigit(static_cast<unsigned char>(c)); })) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, " is not \"<64 hex digits>  <path>\", as sha256sum writes it"));
    }
    sums.push_back({absl::AsciiStrToLower(parts.first), std::string(parts.second)});
  }
  return sums;
}

absl::StatusOr<FilesReport> CheckFiles(const std::filesystem::path& program) {
  const std::filesystem::path prefix = program.parent_path().parent_path(), list = prefix / "share/gangway/SHA256SUMS";
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(list, error);
  if (error) return CannotRead(list, error.value());
  if (size > kMaxSumsBytes)
    return absl::InvalidArgumentError(absl::StrCat(list.string(), ": has more than ", kMaxSumsBytes, " bytes"));
  std::ifstream in(list);
  std::stringstream text;
  text << in.rdbuf();
  const absl::StatusOr<std::vector<FileSum>> sums = ReadSums(text.str());
  if (!sums.ok()) return absl::InvalidArgumentError(absl::StrCat(list.string(), ": ", sums.status().message()));
  FilesReport report;
  for (const FileSum& expected : *sums) {
    ++report.files;
    const absl::StatusOr<std::string> found = Sha256OfFile(prefix / expected.path);
    if (absl::IsNotFound(found.status()))
      report.findings.push_back(absl::StrCat(expected.path, ": is gone"));
    else if (!found.ok())
      report.findings.push_back(std::string(found.status().message()));
    else if (*found != expected.sha256)
      report.findings.push_back(absl::StrCat(expected.path, ": is another file than the one that was packaged"));
  }
  return report;
}

}  // namespace gangway::cmd
