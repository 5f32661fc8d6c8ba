#include "cmd/launch/follow.h"

#include <csignal>
#include <type_traits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/lifecycle/words.h"

namespace gangway::cmd {
namespace {

using api::NamespacedName;
using api::core::Event;
using api::core::Pod;
using api::paddle::PaddleJob;
using api::volcano::Job;
using api::volcano::PodGroup;

constexpr absl::Duration kSightPatience = absl::Seconds(15);  // until the job must have been seen

kube::InformerOptions Only(const NamespacedName& key) {
  kube::InformerOptions out;
  out.ns = key.ns;
  out.field_selector = absl::StrCat("metadata.name=", key.name);
  out.optional = true;
  return out;
}
kube::InformerOptions LabelledFor(const NamespacedName& key) {
  kube::InformerOptions out;
  out.ns = key.ns;
  out.label_selector = absl::StrCat(lifecycle::kJobNameKey, "=", key.name);
  out.unless_forbidden = true;
  return out;
}
kube::InformerOptions BesideJob(const NamespacedName& key, std::string field_selector) {
  kube::InformerOptions out;
  out.ns = key.ns;
  out.field_selector = std::move(field_selector);
  out.unless_forbidden = true;
  return out;
}

bool OfJob(const PodGroup& group, const NamespacedName& key) {
  const api::OwnerReference* const owner = group.metadata.Controller();
  return owner != nullptr && owner->kind == "Job" && owner->name == key.name;
}

}  // namespace

std::optional<absl::Status> JudgeEnd(const std::string& phase) {
  if (!IsFinalPhase(phase)) return std::nullopt;
  if (phase == "Completed" || phase == "Succeeded") return absl::OkStatus();
  return absl::CancelledError(absl::StrCat("the job is ", phase));
}

Follow::Follow(ApiCaller& caller, FollowWish wish)
    : caller_(caller),
      wish_(std::move(wish)),
      start_(caller.loop().Now()),
      jobs_(caller.loop(), caller.client(), api::kJobs, Only(wish_.key)),
      paddle_jobs_(caller.loop(), caller.client(), api::paddle::kPaddleJobs, Only(wish_.key)),
      groups_(caller.loop(), caller.client(), api::kPodGroups, BesideJob(wish_.key, "")),
      pods_(caller.loop(), caller.client(), api::kPods, LabelledFor(wish_.key)),
      events_(caller.loop(), caller.client(), api::kEvents,
              BesideJob(wish_.key, absl::StrCat("involvedObject.name=", wish_.key.name))) {}

absl::Status Follow::Run() {
  const bool paddle = wish_.resource == &api::paddle::kPaddleJobs;
  if (paddle) Watch(paddle_jobs_, true);
  if (!paddle || wish_.tell) Watch(jobs_, !paddle);
  Watch(groups_, false);  // why it waits
  if (wish_.tell) {
    Watch(pods_, false);
    Watch(events_, false);
  }
  Loop& loop = caller_.loop();
  loop.PostAt(start_ + kSightPatience, owner_.token(), [this, paddle] {
    const std::string problem = paddle ? paddle_jobs_.problem() : jobs_.problem();
    if (!problem.empty() && !(paddle ? paddle_jobs_.synced() : jobs_.synced()))
      End(absl::UnavailableError(absl::StrCat("it cannot be followed: ", problem)));
  });
  if (wish_.patience != absl::InfiniteDuration())
    loop.PostAt(start_ + wish_.patience, owner_.token(), [this] { OnTimeout(); });
  caller_.loop().OnSignals({SIGINT, SIGTERM}, owner_.token(),
                           [this](int) { End(absl::CancelledError("nobody waits for it any more; it goes on")); });
  while (!end_.has_value()) caller_.loop().Run();
  return *end_;
}

template <class T>
void Follow::Watch(kube::Informer<T>& objects, bool judged) {
  objects.Start(
      [this, judged](const NamespacedName&, const std::shared_ptr<const T>& before,
                     const std::shared_ptr<const T>& after) {
        if constexpr (std::is_same_v<T, PodGroup>) {
          if (!OfJob(after == nullptr ? *before : *after, wish_.key)) return;
        }
        for (const AccountLine& line : Tell(before.get(), after.get())) {
          if constexpr (std::is_same_v<T, PodGroup>)
            waits_for_ = line.tone == AccountLine::Tone::kWaiting ? line.text : "";
          if (judged) last_words_ = line.text;
          if (wish_.tell) wish_.tell(line, caller_.loop().Now() - start_);
        }
        if (judged) Judge();
      },
      [this, judged] {
        if (judged) Judge();
      });
}

void Follow::Judge() {
  const auto judge = [&](const auto& objects, auto phase_of) {
    if (!objects.synced()) return;
    const auto job = objects.Get(wish_.key);
    if (job == nullptr || job->metadata.uid != wish_.uid) return End(absl::CancelledError("it was deleted"));
    if (std::optional<absl::Status> end = JudgeEnd(phase_of(*job))) End(*std::move(end));
  };
  if (wish_.resource == &api::paddle::kPaddleJobs) {
    judge(paddle_jobs_, [](const PaddleJob& job) { return job.status.phase; });
  } else {
    judge(jobs_, [](const Job& job) { return job.status.state.phase; });
  }
}

void Follow::OnTimeout() {
  const std::string last = !waits_for_.empty() ? waits_for_ : last_words_;
  End(absl::CancelledError(absl::StrCat("not at its end within ", absl::FormatDuration(wish_.patience),
                                        last.empty() ? "" : absl::StrCat(": ", last), "; it goes on")));
}

void Follow::End(absl::Status status) {
  if (!end_.has_value()) end_ = std::move(status);
  caller_.loop().Stop();
}

}  // namespace gangway::cmd
