#include "api/name.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace gangway::api {
namespace {

constexpr absl::string_view kQualifiedNameRegex = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
constexpr absl::string_view kQualifiedNameMessage =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

bool LowerOrDigit(char c) {
  return absl::ascii_islower(static_cast<unsigned char>(c)) || absl::ascii_isdigit(static_cast<unsigned char>(c));
}
bool Alphanumeric(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }

// Not empty, `end` at both ends, `end` or one of `inner` between.
template <class End>
bool Shaped(absl::string_view text, End end, absl::string_view inner) {
  if (text.empty() || !end(text.front()) || !end(text.back())) return false;
  for (const char c : text) {
    if (!end(c) && inner.find(c) == absl::string_view::npos) return false;
  }
  return true;
}

bool IsLabel(absl::string_view text) { return Shaped(text, LowerOrDigit, "-"); }

bool IsSubdomain(absl::string_view text) {
  for (const absl::string_view label : absl::StrSplit(text, '.')) {
    if (!IsLabel(label)) return false;
  }
  return true;
}

std::string TooLong(int max) { return absl::StrCat("must be no more than ", max, " characters"); }
bool Longer(absl::string_view text, int max) { return text.size() > static_cast<std::size_t>(max); }

std::string RegexComplaint(absl::string_view message, absl::string_view regex,
                           std::initializer_list<absl::string_view> examples) {
  std::string out(message);
  absl::string_view before = " (e.g. '";
  for (const absl::string_view example : examples) {
    absl::StrAppend(&out, before, example, "', ");
    before = " or '";
  }
  absl::StrAppend(&out, "regex used for validation is '", regex, "')");
  return out;
}

void Prefix(absl::string_view prefix, Complaints& complaints) {
  for (std::string& complaint : complaints) complaint = absl::StrCat(prefix, complaint);
}

}  // namespace

Complaints CheckDns1123Label(absl::string_view text) {
  Complaints out;
  if (Longer(text, kMaxLabelLength)) out.push_back(TooLong(kMaxLabelLength));
  if (IsLabel(text)) return out;
  if (IsSubdomain(text)) {
    out.emplace_back("must not contain dots");
  } else {
    out.push_back(
        RegexComplaint("a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "
                       "start and end with an "
                       "alphanumeric character",
                       kDns1123LabelRegex, {"my-name", "123-abc"}));
  }
  return out;
}

Complaints CheckDns1123Subdomain(absl::string_view text) {
  Complaints out;
  if (Longer(text, kMaxSubdomainLength)) out.push_back(TooLong(kMaxSubdomainLength));
  if (!IsSubdomain(text)) {
    out.push_back(
        RegexComplaint("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
                       "and must start and end "
                       "with an alphanumeric character",
                       kDns1123SubdomainRegex, {"example.com"}));
  }
  return out;
}

Complaints CheckDns1035Label(absl::string_view text) {
  Complaints out;
  if (Longer(text, kMaxLabelLength)) out.push_back(TooLong(kMaxLabelLength));
  if (!IsLabel(text) || absl::ascii_isdigit(static_cast<unsigned char>(text.front()))) {
    out.push_back(
        RegexComplaint("a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
                       "alphabetic character, and end "
                       "with an alphanumeric character",
                       "[a-z]([-a-z0-9]*[a-z0-9])?", {"my-name", "abc-123"}));
  }
  return out;
}

Complaints CheckQualifiedName(absl::string_view text) {
  Complaints out;
  absl::string_view name = text;
  if (const std::size_t slash = text.find('/'); slash != absl::string_view::npos) {
    const absl::string_view prefix = text.substr(0, slash);
    name = text.substr(slash + 1);
    if (absl::StrContains(name, '/')) {
      return {absl::StrCat("a qualified name ",
                           RegexComplaint(kQualifiedNameMessage, kQualifiedNameRegex, {"MyName", "my.name", "123-abc"}),
                           " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')")};
    }
    if (prefix.empty()) {
      out.emplace_back("prefix part must be non-empty");
    } else {
      out = CheckDns1123Subdomain(prefix);
      Prefix("prefix part ", out);
    }
  }
  if (name.empty()) {
    out.emplace_back("name part must be non-empty");
  } else if (Longer(name, kMaxLabelLength)) {
    out.push_back(absl::StrCat("name part ", TooLong(kMaxLabelLength)));
  }
  if (!Shaped(name, Alphanumeric, "-_.")) {
    out.push_back(absl::StrCat(
        "name part ", RegexComplaint(kQualifiedNameMessage, kQualifiedNameRegex, {"MyName", "my.name", "123-abc"})));
  }
  return out;
}

Complaints CheckLabelValue(absl::string_view text) {
  Complaints out;
  if (Longer(text, kMaxLabelLength)) out.push_back(TooLong(kMaxLabelLength));
  if (!text.empty() && !Shaped(text, Alphanumeric, "-_.")) {
    out.push_back(
        RegexComplaint("a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
                       "and must start and end "
                       "with an alphanumeric character",
                       "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?", {"MyValue", "my_value", "12345"}));
  }
  return out;
}

Complaints CheckConfigMapKey(absl::string_view text) {
  Complaints out;
  if (Longer(text, kMaxSubdomainLength)) out.push_back(TooLong(kMaxSubdomainLength));
  bool good = !text.empty();
  for (const char c : text) good = good && (Alphanumeric(c) || absl::StrContains("-._", c));
  if (!good) {
    out.push_back(RegexComplaint("a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
                                 "[-._a-zA-Z0-9]+", {"key.name", "KEY_NAME", "key-name"}));
  }
  if (text == ".") {
    out.emplace_back("must not be '.'");
  } else if (text == "..") {
    out.emplace_back("must not be '..'");
  } else if (absl::StartsWith(text, "..")) {
    out.emplace_back("must not start with '..'");
  }
  return out;
}

Complaints CheckPathSegment(absl::string_view text) {
  if (text == "." || text == "..") return {absl::StrCat("may not be '", text, "'")};
  Complaints out;
  for (const char c : {'/', '%'}) {
    if (absl::StrContains(text, c)) out.push_back(absl::StrCat("may not contain '", std::string(1, c), "'"));
  }
  return out;
}

}  // namespace gangway::api
