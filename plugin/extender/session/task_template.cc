#include "plugin/extender/session/task_template.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "api/field_table.h"
#include "base/status_macros.h"
#include "plugin/extender/session/json_walk.h"
#include "plugin/ingest/ingest.h"

namespace gangway::extender {
namespace {

constexpr std::size_t kMaxTemplates = 8;
constexpr std::size_t kMaxGap = 512;
// Each pod of a Job has its own. volcano: pkg/controllers/job, createJobPod
constexpr absl::string_view kIndexKey = "volcano.sh/task-index";

// Printable ASCII: neither escapes nor anything that must be checked.
bool IsPlain(absl::string_view text) {
  return !text.empty() && text.size() <= kMaxGap &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; });
}

}  // namespace

// Goes through a task that was decoded. What it does not name stays as it is written.
class TaskTemplate::Finder {
 public:
  explicit Finder(TaskTemplate& out) : out_(out), walk_(out.text_) {}

  bool Find() {
    const absl::Status read = walk_.Struct([&](absl::string_view key) {
      if (SameKey(key, "UID")) return Put(Kind::kUid);
      if (SameKey(key, "Name")) return Put(Kind::kName);
      if (SameKey(key, "NodeName")) return Put(out_.facts_.node.empty() ? Kind::kNothing : Kind::kNode);
      if (SameKey(key, "PodAnnotations")) return Words(Kind::kNothing);
      return SameKey(key, "Pod") ? Pod() : absl::OkStatus();
    });
    return read.ok() && walk_.End().ok() && !differs_ && Count(Kind::kUid) == 1 && Count(Kind::kName) == 1 &&
           Count(Kind::kNode) == (out_.facts_.node.empty() ? 0 : 1) && Count(Kind::kCreated) <= 1 &&
           Count(Kind::kIndexLabel) <= 1;
  }

 private:
  std::ptrdiff_t Count(Kind kind) const {
    return std::count_if(out_.gaps_.begin(), out_.gaps_.end(), [&](const Gap& gap) { return gap.kind == kind; });
  }
  absl::Status Put(Kind kind) {
    absl::string_view quoted;
    GW_RETURN_IF_ERROR(walk_.Take(quoted));
    if (quoted.size() < 2 || quoted.front() != '"' || !IsPlain(quoted.substr(1, quoted.size() - 2)))
      return absl::OkStatus();
    const auto begin = static_cast<std::size_t>(quoted.data() - out_.text_.data()) + 1;
    out_.gaps_.push_back({kind, begin, begin + quoted.size() - 2});
    return absl::OkStatus();
  }
  // Labels or annotations.
  absl::Status Words(Kind kind) {
    return walk_.Struct([&](absl::string_view key) { return key == kIndexKey ? Put(kind) : absl::OkStatus(); });
  }
  // Every string in the value.
  absl::Status Nothing() {
    if (walk_.ahead().empty()) return absl::OkStatus();
    switch (walk_.ahead().front()) {
      case '{':
        return walk_.Struct([&](absl::string_view) { return Nothing(); });
      case '[':
        return walk_.List([&] { return Nothing(); });
      case '"':
        return Put(Kind::kNothing);
      default:
        return absl::OkStatus();
    }
  }

  absl::Status Pod() {
    return walk_.Struct([&](absl::string_view key) {
      if (key == "metadata") return Metadata();
      if (key == "spec") return Spec();
      return key == "status" ? Status() : absl::OkStatus();
    });
  }
  absl::Status Metadata() {
    return walk_.Struct([&](absl::string_view key) {
      if (key == "name" || key == "uid" || key == "resourceVersion") return Put(Kind::kNothing);
      if (key == "creationTimestamp") return Created();
      if (key == "managedFields") return Managed();
      if (key == "annotations") return Words(Kind::kNothing);
      return key == "labels" ? Labels() : absl::OkStatus();
    });
  }
  absl::Status Created() {
    const std::size_t before = out_.gaps_.size();
    GW_RETURN_IF_ERROR(Put(Kind::kCreated));
    if (out_.gaps_.size() > before)
      out_.created_ = out_.text_.substr(out_.gaps_.back().begin, out_.gaps_.back().end - out_.gaps_.back().begin);
    return absl::OkStatus();
  }
  absl::Status Managed() {
    return walk_.List([&] {
      return walk_.Struct(
          [&](absl::string_view key) { return key == "time" ? Put(Kind::kNothing) : absl::OkStatus(); });
    });
  }
  // A label that pods are chosen by is more than a label.
  absl::Status Labels() {
    const auto& labels = out_.facts_.labels;
    const auto at =
        std::find_if(labels.begin(), labels.end(), [](const auto& label) { return label.first == kIndexKey; });
    const model::Wants& wants = out_.facts_.wants;
    const bool chosen = !wants.pod_affinity.empty() || !wants.pod_anti_affinity.empty() ||
                        !wants.pod_preferences.empty() || !wants.spreads.empty();
    if (at == labels.end() || chosen) return absl::OkStatus();
    out_.index_label_ = static_cast<std::size_t>(at - labels.begin());
    return Words(Kind::kIndexLabel);
  }

  absl::Status Spec() {
    return walk_.Struct([&](absl::string_view key) {
      if (key == "nodeName" || key == "hostname") return Put(Kind::kNothing);
      if (key == "containers" || key == "initContainers") return walk_.List([&] { return Container(); });
      return key == "volumes" ? walk_.List([&] { return Volume(); }) : absl::OkStatus();
    });
  }
  absl::Status Container() {
    return walk_.Struct(
        [&](absl::string_view key) { return key == "env" || key == "volumeMounts" ? Nothing() : absl::OkStatus(); });
  }
  // Names that the API server makes up. A claim of a volume that is made with its pod has the pod's name.
  absl::Status Volume() {
    return walk_.Struct([&](absl::string_view key) {
      differs_ = differs_ || key == "ephemeral";
      return key == "name" ? Put(Kind::kNothing) : absl::OkStatus();
    });
  }

  absl::Status Status() {
    return walk_.Struct([&](absl::string_view key) {
      if (key == "hostIP" || key == "podIP") return Put(Kind::kNothing);
      if (key == "hostIPs" || key == "podIPs") return Nothing();
      if (key == "containerStatuses" || key == "initContainerStatuses") return walk_.List([&] { return Ran(); });
      return absl::OkStatus();
    });
  }
  absl::Status Ran() {
    return walk_.Struct([&](absl::string_view key) {
      if (key == "containerID") return Put(Kind::kNothing);
      return key == "state" || key == "lastState" ? State() : absl::OkStatus();
    });
  }
  absl::Status State() {
    return walk_.Struct([&](absl::string_view) {
      return walk_.Struct([&](absl::string_view key) {
        return key == "startedAt" || key == "finishedAt" ? Put(Kind::kTime) : Nothing();
      });
    });
  }

  TaskTemplate& out_;
  JsonWalk walk_;
  bool differs_ = false;
};

std::optional<TaskTemplate> TaskTemplate::Of(absl::string_view text, const model::PodFacts& facts) {
  // A reason may name whatever it is about.
  if (!facts.wants.not_modelled.empty()) return std::nullopt;
  TaskTemplate out(text, facts);
  if (!Finder(out).Find()) return std::nullopt;
  out.found_.resize(out.gaps_.size());
  return out;
}

std::size_t TaskTemplate::Match(absl::string_view ahead) {
  std::size_t at = 0, from = 0;
  const auto same = [&](std::size_t to) {
    const std::size_t length = to - from;
    if (ahead.size() - at < length || std::memcmp(ahead.data() + at, text_.data() + from, length) != 0) return false;
    at += length;
    return true;
  };
  for (std::size_t i = 0; i < gaps_.size(); ++i) {
    if (!same(gaps_[i].begin)) return 0;
    from = gaps_[i].end;
    const std::size_t most = std::min(ahead.size() - at, kMaxGap + 1);
    const void* const quote = std::memchr(ahead.data() + at, '"', most);
    if (quote == nullptr) return 0;
    found_[i] = ahead.substr(at, static_cast<std::size_t>(static_cast<const char*>(quote) - ahead.data()) - at);
    if (!IsPlain(found_[i])) return 0;
    at += found_[i].size();
  }
  return same(text_.size()) && Fill() ? at : 0;
}

bool TaskTemplate::Fill() {
  for (std::size_t i = 0; i < gaps_.size(); ++i) {
    const absl::string_view text = found_[i];
    switch (gaps_[i].kind) {
      case Kind::kNothing:
        break;
      case Kind::kTime:
        if (!api::ParseTime(text).ok()) return false;
        break;
      case Kind::kUid:
        facts_.uid.assign(text.data(), text.size());
        break;
      case Kind::kName:
        facts_.name.assign(text.data(), text.size());
        facts_.index = ingest::IndexOf(text);
        break;
      case Kind::kNode:
        facts_.node.assign(text.data(), text.size());
        break;
      case Kind::kIndexLabel:
        facts_.labels[index_label_].second.assign(text.data(), text.size());
        break;
      case Kind::kCreated: {
        if (text == created_) break;
        const absl::StatusOr<absl::Time> created = api::ParseTime(text);
        if (!created.ok()) return false;
        facts_.created = absl::FromUnixSeconds(absl::ToUnixSeconds(*created));  // as api::Time has it
        created_ = text;
        break;
      }
    }
  }
  return true;
}

const model::PodFacts* TaskTemplates::Match(absl::string_view ahead, std::size_t& length) {
  for (std::size_t i = 0; i < templates_.size(); ++i) {
    const std::size_t at = (last_ + i) % templates_.size();
    length = templates_[at].Match(ahead);
    if (length == 0) continue;
    last_ = at;
    return &templates_[at].facts();
  }
  return nullptr;
}

void TaskTemplates::Add(absl::string_view text, const model::PodFacts& facts) {
  std::optional<TaskTemplate> fresh = TaskTemplate::Of(text, facts);
  if (!fresh.has_value()) return;
  if (templates_.size() < kMaxTemplates) {
    last_ = templates_.size();
    templates_.push_back(*std::move(fresh));
  } else {
    last_ = (last_ + 1) % templates_.size();
    templates_[last_] = *std::move(fresh);
  }
}

}  // namespace gangway::extender
