#include "cmd/archive/credentials.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace gangway::cmd {
namespace {

constexpr std::size_t kMaxFile = std::size_t{64} << 10;

absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::InvalidArgumentError(std::strerror(errno));
  std::string text(kMaxFile + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMaxFile) return absl::InvalidArgumentError(absl::StrCat("is larger than ", kMaxFile, " bytes"));
  return text;
}

}  // namespace

absl::StatusOr<kube::AwsSigning> ParseAwsCredentials(absl::string_view text, absl::string_view profile) {
  kube::AwsSigning out;
  bool ours = false, seen = false;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[' && line.back() == ']') {
      ours = absl::StripAsciiWhitespace(line.substr(1, line.size() - 2)) == profile;
      seen = seen || ours;
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == absl::string_view::npos)
      return absl::InvalidArgumentError(absl::StrCat("line ", number, ": is neither [profile] nor key = value"));
    if (!ours) continue;
    const absl::string_view key = absl::StripAsciiWhitespace(line.substr(0, equals));
    const std::string value(absl::StripAsciiWhitespace(line.substr(equals + 1)));
    if (key == "aws_access_key_id") out.key_id = value;
    if (key == "aws_secret_access_key") out.secret = value;
    if (key == "aws_session_token") out.session_token = value;
  }
  if (!seen) return absl::InvalidArgumentError(absl::StrCat("has no [", profile, "]"));
  if (out.key_id.empty() || out.secret.empty())
    return absl::InvalidArgumentError(absl::StrCat("[", profile,
                                                   "] has no aws_access_key_id or no "
                                                   "aws_secret_access_key"));
  return out;
}

absl::StatusOr<kube::AwsSigning> FindAwsSigning(
    const std::string& file, const std::string& region,
    const std::function<std::optional<std::string>(const std::string&)>& environment) {
  const auto of = [&](const char* name) { return environment(name).value_or(""); };
  kube::AwsSigning out;
  if (file.empty()) {
    out.key_id = of("AWS_ACCESS_KEY_ID");
    out.secret = of("AWS_SECRET_ACCESS_KEY");
    out.session_token = of("AWS_SESSION_TOKEN");
    if (out.key_id.empty() || out.secret.empty())
      return absl::InvalidArgumentError(
          "there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give --credentials-file, or "
          "--unsigned for a store that asks for none");
  } else {
    const absl::StatusOr<std::string> text = ReadSmallFile(file);
    absl::StatusOr<kube::AwsSigning> found =
        text.ok() ? ParseAwsCredentials(*text, "default") : absl::StatusOr<kube::AwsSigning>(text.status());
    if (!found.ok())
      return absl::InvalidArgumentError(absl::StrCat("--credentials-file ", file, ": ", found.status().message()));
    out = *std::move(found);
  }
  out.region = region;
  for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (out.region.empty()) out.region = of(name);
  }
  if (out.region.empty()) out.region = "us-east-1";
  return out;
}

}  // namespace gangway::cmd
