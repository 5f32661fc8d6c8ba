#include "cmd/snapshot/file/pseudonyms.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/duration.h"
#include "api/quantity.h"
#include "base/strings.h"

namespace gangway::snapshot {
namespace {

bool IsKept(absl::string_view word) {
  static const auto& words = *new absl::flat_hash_set<std::string>{
      // queues, namespaces, schedulers and classes that every cluster has
      "default", "root", "kube", "system", "public", "node", "lease", "volcano", "scheduler", "cluster", "critical",
      // resources and what quotas call them
      "cpu", "memory", "pods", "ephemeral", "storage", "hugepages", "requests", "limits", "count",
      // what a PodGroup says of runs before it
      "runs", "longest",
      // values of flags, modes and tiers
      "true", "false", "hard", "soft", "any", "none",
      // job plugins, whose marks are read
      "plugin", "svc", "ssh", "env", "paddle", "pytorch", "tensorflow", "mpi", "ray", "hcclrank"};
  return words.contains(word);
}

// "0", "1234", "8Gi", "1h30m": at most six digits, or an amount or a duration.
bool IsSmallNumber(absl::string_view word) {
  if (word.empty() || !IsDigit(word[0])) return false;
  if (std::all_of(word.begin(), word.end(), IsDigit)) return word.size() <= 6;
  return word.size() <= 9 && (api::Quantity::Parse(word).ok() || api::ParseGoDuration(word).ok());
}

// What is no letter of ASCII's belongs to a word, too.
bool IsOfWord(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return absl::ascii_isalnum(byte) || byte >= 0x80;
}

struct Piece {
  absl::string_view text;
  bool word = false, address = false;
};

std::vector<Piece> Cut(absl::string_view text) {
  std::vector<Piece> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begun = at;
    const bool word = IsOfWord(text[at]);
    while (at < text.size() && IsOfWord(text[at]) == word) ++at;
    out.push_back({text.substr(begun, at - begun), word});
  }
  return out;
}

// Four numbers of a byte each with the same dot or dash between them.
void MarkAddresses(std::vector<Piece>& pieces) {
  const auto is_byte = [](const Piece& piece) {
    int value = 0;
    return piece.word && piece.text.size() <= 3 && absl::SimpleAtoi(piece.text, &value) && value <= 255;
  };
  for (std::size_t i = 0; i + 7 <= pieces.size(); ++i) {
    const absl::string_view between = pieces[i + 1].text;
    if (between != "." && between != "-") continue;
    if (pieces[i + 3].text != between || pieces[i + 5].text != between) continue;
    if (!is_byte(pieces[i]) || !is_byte(pieces[i + 2]) || !is_byte(pieces[i + 4]) || !is_byte(pieces[i + 6])) continue;
    for (const std::size_t part : {i, i + 2, i + 4, i + 6}) pieces[part].address = true;
  }
}

// The nth number of the base of these letters that has two of them or more: "cb", "cc", ... Without vowels none is a
// word.
std::string Nth(std::size_t n) {
  constexpr absl::string_view kLetters = "bcdfghjklmnpqrstvwxz";
  std::string out;
  for (n += kLetters.size(); n > 0; n /= kLetters.size()) out.insert(out.begin(), kLetters[n % kLetters.size()]);
  return out;
}

}  // namespace

const std::string& Pseudonyms::OfWord(absl::string_view word) {
  const auto [place, fresh] = given_.try_emplace(word);
  while (fresh && (place->second.empty() || IsKept(place->second))) place->second = Nth(next_++);
  return place->second;
}

std::string Pseudonyms::Of(absl::string_view text) {
  std::vector<Piece> pieces = Cut(text);
  MarkAddresses(pieces);
  std::string out;
  for (const Piece& piece : pieces) {
    const bool stays = !piece.word || (!piece.address && (IsKept(piece.text) || IsSmallNumber(piece.text)));
    absl::StrAppend(&out, stays ? piece.text : absl::string_view(OfWord(piece.text)));
  }
  return out;
}

std::string Pseudonyms::OfKey(absl::string_view key) { return IsWellKnownKey(key) ? std::string(key) : Of(key); }

bool IsWellKnownKey(absl::string_view key) {
  constexpr absl::string_view kDomains[] = {"kubernetes.io", "k8s.io",       "x-k8s.io",        "volcano.sh",
                                            "gangway.io",    "nvidia.com",   "amd.com",         "intel.com",
                                            "huawei.com",    "kubeflow.org", "paddlepaddle.org"};
  const std::size_t slash = key.find('/');
  if (slash == absl::string_view::npos) return false;
  const absl::string_view domain = key.substr(0, slash);
  return std::any_of(std::begin(kDomains), std::end(kDomains), [&](absl::string_view known) {
    return domain == known || (absl::EndsWith(domain, known) && domain[domain.size() - known.size() - 1] == '.');
  });
}

}  // namespace gangway::snapshot
