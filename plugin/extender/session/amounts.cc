#include "plugin/extender/session/amounts.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "base/status_macros.h"

namespace gangway::extender {
namespace {

constexpr double kMilli = 1000;

absl::Status Number(JsonWalk& walk, double& out) {
  absl::string_view text;
  GW_RETURN_IF_ERROR(walk.Take(text));
  if (text == "null") return absl::OkStatus();
  // SimpleAtod takes words and signs that are no JSON.
  const bool digits = text.find_first_not_of("0123456789+-.eE") == absl::string_view::npos && text.front() != '+';
  if (!digits || !absl::SimpleAtod(text, &out) || !std::isfinite(out)) return walk.Wrong("must be a number");
  return absl::OkStatus();
}

std::int64_t Round(double amount, Rounding rounding) {
  // Volcano's sums of floats are a little off; nothing that anybody asks for is as small as that.
  constexpr double kNothing = 1e-3;
  const double whole = rounding == Rounding::kUp ? std::ceil(amount - kNothing) : std::floor(amount + kNothing);
  return static_cast<std::int64_t>(std::clamp(whole, 0.0, static_cast<double>(model::kMaxAmount)));
}

}  // namespace

absl::Status DecodeResource(JsonWalk& walk, Rounding rounding, model::NamedAmounts& out) {
  out.clear();
  if (absl::StartsWith(walk.ahead(), "null")) return walk.Struct([](absl::string_view) { return absl::OkStatus(); });
  double cpu = 0, memory = 0;
  const absl::Status read = walk.Struct([&](absl::string_view key) {
    if (SameKey(key, "MilliCPU")) return Number(walk, cpu);
    if (SameKey(key, "Memory")) return Number(walk, memory);
    if (!SameKey(key, "ScalarResources")) return absl::OkStatus();
    return walk.Map([&](absl::string_view name) {
      double amount = 0;
      GW_RETURN_IF_ERROR(Number(walk, amount));
      if (name == "cpu" || name == "memory") return absl::OkStatus();  // they have members of their own
      out.emplace_back(name, Round(name == "pods" ? amount : amount / kMilli, rounding));
      return absl::OkStatus();
    });
  });
  GW_RETURN_IF_ERROR(read);
  out.emplace_back("cpu", Round(cpu, rounding));
  out.emplace_back("memory", Round(memory, rounding));
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return absl::OkStatus();
}

}  // namespace gangway::extender
