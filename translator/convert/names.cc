#include "translator/convert/names.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/json.h"
#include "api/name.h"
#include "base/counted.h"
#include "base/hash.h"
#include "base/strings.h"

namespace gangway::convert {
namespace {

constexpr int kHostListSuffix = 4;  // "-svc", the volume of the job plugin svc: a label too
constexpr int kLeastSuggestion = 8;
constexpr int kTailDigits = 5;

int Size(absl::string_view text) { return static_cast<int>(text.size()); }

std::int32_t LastIndex(const TaskSize& task) { return std::max(task.replicas, 1) - 1; }

// What a task's names have after the job's: "-worker-10".
int PodSuffix(const TaskSize& task) { return Size(PodName("", task.name, LastIndex(task))); }

// What a host has after the pod: ".", and the job, whose own length does not count here.
int HostSuffix(const NameStyle& style) { return Size(HostName("", "", 0, style)) - Size(PodName("", "", 0)); }

// The shape alone; lengths are told with what needs them.
bool IsShaped(absl::string_view name) {
  const std::size_t about_length = name.size() > api::kMaxLabelLength ? 1 : 0;
  return api::CheckDns1035Label(name).size() == about_length;
}

std::string TailOf(absl::string_view name) {
  const std::string digits = absl::StrCat(absl::Hex(StableHash(name), absl::kZeroPad16));
  return digits.substr(digits.size() - kTailDigits);
}

void StripEnd(std::string& name) {
  while (!name.empty() && name.back() == '-') name.pop_back();
}

std::string Advice(absl::string_view name, int max) {
  const std::string suggested = SuggestName(name, max);
  return suggested.empty() ? "" : absl::StrCat("for example ", suggested);
}

Finding TooLong(absl::string_view job, absl::Span<const TaskSize> tasks, int max) {
  const TaskSize* longest = nullptr;
  for (const TaskSize& task : tasks) {
    if (longest == nullptr || PodSuffix(task) > PodSuffix(*longest)) longest = &task;
  }
  std::string why = absl::StrCat("has ", job.size(), " characters, at most ", max);
  if (longest != nullptr) {
    absl::StrAppend(&why, " fit with ", Counted(longest->replicas, absl::StrCat(longest->name, " pod")));
  }
  return MakeFinding(Code::kNameLength, "metadata.name", api::JsonString(job), why, Advice(job, max));
}

// Whether `name` is that of a pod of the job.
bool IsPodName(absl::string_view name, absl::string_view job, absl::Span<const TaskSize> tasks) {
  for (const TaskSize& task : tasks) {
    absl::string_view rest = name;
    std::int32_t index = 0;
    if (absl::ConsumePrefix(&rest, absl::StrCat(job, "-", task.name, "-")) && absl::SimpleAtoi(rest, &index) &&
        index >= 0 && index < task.replicas && rest == absl::StrCat(index)) {
      return true;
    }
  }
  return false;
}

std::string Whose(const ForeignObject& object) {
  const std::string what = absl::StrCat(View(object.resource->singular), " ", object.name);
  return object.owner.empty() ? absl::StrCat(what, " is not the job's")
                              : absl::StrCat(what, " belongs to ", object.owner);
}

}  // namespace

std::string PodName(absl::string_view job, absl::string_view task, std::int32_t index) {
  return absl::StrCat(job, "-", task, "-", index);
}

std::string HostName(absl::string_view job, absl::string_view task, std::int32_t index, const NameStyle& style) {
  const std::string host = absl::StrCat(PodName(job, task, index), ".", job);
  return style.absolute ? absl::StrCat(host, ".", style.ns, ".svc.", style.cluster_domain) : host;
}

std::vector<std::string> HostNames(absl::string_view job, const TaskSize& task, const NameStyle& style) {
  std::vector<std::string> hosts;
  for (std::int32_t i = 0; i < task.replicas; ++i) hosts.push_back(HostName(job, task.name, i, style));
  return hosts;
}

std::string EnvConfigMapName(absl::string_view job) { return absl::StrCat(job, "-paddle-env"); }

int MaxJobName(absl::Span<const TaskSize> tasks, const NameStyle& style) {
  int max = api::kMaxLabelLength - kHostListSuffix;
  for (const TaskSize& task : tasks) {
    max = std::min(max, api::kMaxLabelLength - PodSuffix(task));
    max = std::min(max, (api::kMaxSubdomainLength - PodSuffix(task) - HostSuffix(style)) /
                            2);  // the job's name stands in it twice
  }
  return std::max(max, 0);
}

std::string SuggestName(absl::string_view name, int max) {
  if (max < kLeastSuggestion) return "";
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte) || c == '-') {
      out += absl::ascii_tolower(byte);
    } else if (!absl::EndsWith(out, "-")) {
      out += '-';
    }
  }
  out.erase(0, std::min(out.find_first_not_of('-'), out.size()));
  StripEnd(out);
  if (out.empty()) return "job";
  if (absl::ascii_isdigit(static_cast<unsigned char>(out.front()))) out = absl::StrCat("job-", out);
  if (Size(out) <= max) return out;
  out.resize(static_cast<std::size_t>(max - kTailDigits - 1));
  StripEnd(out);
  return absl::StrCat(out, "-", TailOf(name));
}

Findings CheckName(absl::string_view job, absl::Span<const TaskSize> tasks, const NameStyle& style) {
  const int max = MaxJobName(tasks, style);
  Findings findings;
  if (!IsShaped(job))
    findings.push_back(MakeFinding(Code::kName, "metadata.name", api::JsonString(job), {}, Advice(job, max)));
  if (Size(job) > max) findings.push_back(TooLong(job, tasks, max));
  if (!style.ns.empty() && !api::CheckDns1123Label(style.ns).empty()) {
    findings.push_back(MakeFinding(Code::kName, "metadata.namespace", api::JsonString(style.ns),
                                   "no namespace has this name: it is lower case letters, digits and '-', at most 63 "
                                   "of them, with a letter or digit at both ends",
                                   "correct it, or leave it out"));
  }
  return findings;
}

Findings CheckClashes(absl::string_view job, absl::Span<const TaskSize> tasks, const NeededObjects& needed,
                      absl::Span<const ForeignObject> foreign) {
  Findings findings;
  for (const ForeignObject& object : foreign) {
    const bool same = object.name == job;
    bool taken = false;
    if (object.resource == &api::kServices) taken = same || (needed.pod_services && IsPodName(object.name, job, tasks));
    if (object.resource == &api::kConfigMaps) {
      taken = (needed.paddle_config_map && same) || (needed.env_config_map && object.name == EnvConfigMapName(job)) ||
              object.name == absl::StrCat(job, "-svc");
    }
    if (taken) {
      const std::string why = absl::StrCat("the job needs names that are taken: ", Whose(object));
      findings.push_back(MakeFinding(Code::kSvcClash, "metadata.name", api::JsonString(job), why));
    }
    if (object.resource == &api::kPodGroups && same && needed.stock_volcano) {
      findings.push_back(MakeFinding(Code::kPgClash, "metadata.name", api::JsonString(job)));
    }
  }
  Arrange(findings);
  return findings;
}

}  // namespace gangway::convert
