// A CronJob and its Jobs, on which plans are carried out: an API server without one's rules. Time and the ends of Jobs
// are the test's.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/volcano/defaults.h"
#include "base/check.h"
#include "gtest/gtest.h"
#include "plugin/lifecycle/cron/reconcile_cron_job.h"

namespace gangway::testutil {

namespace json = boost::json;

inline absl::Time At(const std::string& text) { return *api::ParseTime(text); }

// An API server with one CronJob and its Jobs, and a controller whose caches are always fresh unless said otherwise.
class CronWorld {
 public:
  explicit CronWorld(const std::string& schedule, absl::Time created = At("2026-11-21T10:00:30Z")) : now_(created) {
    cron.metadata.name = "nightly";
    cron.metadata.ns = "default";
    cron.metadata.uid = "cron-uid";
    cron.metadata.resource_version = "1";
    cron.metadata.creation_timestamp = {created};
    cron.spec.schedule = schedule;
    cron.spec.job_template.metadata.labels = {{"team", "ads"}};
    cron.spec.job_template.metadata.annotations = {{"note", "kept"}};
    cron.spec.job_template.spec.min_available = 2;
  }

  kube::Plan Decide() const {
    api::volcano::CronJob filled = cron;
    api::volcano::ApplyDefaults(filled);
    lifecycle::CronJobView view;
    view.cron = &filled;
    for (const auto& [name, job] : jobs) {
      if (!hidden.contains(name)) view.runs.push_back(lifecycle::RunOf(job));
    }
    view.runs_current = runs_current;
    view.seen_leaving = &seen_leaving;
    view.refused = refused;
    view.attempted = attempted;
    view.schedule_changed = schedule_changed;
    return lifecycle::ReconcileCronJob(view, now_);
  }

  // Decides and carries out; the process dies after so many writes. Returns how many were carried out.
  int Step(int most_writes = 1'000'000) {
    const kube::Plan plan = Decide();
    look_again = plan.look_again;
    int done = 0;
    for (const auto& stage : plan.stages) {
      for (const kube::Write& write : stage) {
        if (done == most_writes) return done;
        if (write.verb == kube::Verb::kCreate) attempted = write.name;
        if (write.verb == kube::Verb::kCreate && refusing) {
          refused = write.name;
          return done;
        }
        CarryOut(write);
        ++done;
      }
    }
    for (const kube::EventNote& note : plan.events) events.push_back(absl::StrCat(note.reason, ": ", note.message));
    return done;
  }
  // Until nothing is left to do.
  void Settle() {
    for (int i = 0; Step() > 0; ++i) ASSERT_LT(i, 20);
  }
  void RunTo(const std::string& time) {
    now_ = At(time);
    Settle();
  }
  // As time goes by with a controller that looks when it said it would.
  void LiveUntil(const std::string& time) {
    const absl::Time end = At(time);
    Settle();
    while (look_again <= end) {
      now_ = look_again;
      Settle();
    }
    now_ = end;
    Settle();
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& [name, job] : jobs) names.push_back(name);
    return names;
  }
  // "nightly-123 10:30" of each Job ever made, in order.
  const std::vector<std::string>& made() const { return made_; }
  std::vector<std::string> Active() const {
    std::vector<std::string> names;
    for (const api::ObjectReference& entry : cron.status.active)
      names.push_back(entry.uid.empty() ? absl::StrCat(entry.name, " (being made)") : entry.name);
    return names;
  }
  void End(const std::string& name, const std::string& phase = "Completed") {
    api::volcano::Job& job = jobs.at(name);
    job.status.state.phase = phase;
    job.status.state.last_transition_time = {absl::FromUnixSeconds(absl::ToUnixSeconds(now_))};
  }
  void EndAll(const std::string& phase = "Completed") {
    for (auto& [name, job] : jobs) {
      if (job.status.state.phase.empty()) End(name, phase);
    }
  }
  void RemoveJob(const std::string& name) {
    jobs.erase(name);
    seen_leaving.insert(name);
  }

  api::volcano::CronJob cron;
  std::map<std::string, api::volcano::Job> jobs;
  std::vector<std::string> events;
  std::vector<std::string> writes;
  absl::Time look_again = absl::InfiniteFuture();
  // What the controller knows.
  bool runs_current = true;
  std::set<std::string> hidden;  // the watch has not told of these yet
  absl::flat_hash_set<std::string> seen_leaving;
  std::string refused, attempted;
  bool refusing = false;  // the API server refuses Jobs for good
  absl::Time schedule_changed = absl::InfinitePast();
  absl::Time now_;

 private:
  void CarryOut(const kube::Write& write) {
    writes.push_back(absl::StrCat(write.verb == kube::Verb::kCreate   ? "create"
                                  : write.verb == kube::Verb::kDelete ? "delete"
                                                                      : "patch",
                                  " ", std::string(write.resource->plural), write.subresource.empty() ? "" : "/",
                                  write.subresource, " ", write.name));
    if (write.resource == &api::kCronJobs) {
      GW_CHECK(write.verb == kube::Verb::kMergePatch && write.subresource == "status" &&
               write.uid == cron.metadata.uid);
      GW_CHECK(write.resource_version == cron.metadata.resource_version);
      json::value object = *api::ParseJson(api::Encode(cron));
      api::ApplyMergePatch(object, *api::ParseJson(write.body));
      cron = *api::Decode<api::volcano::CronJob>(api::ToJson(object));
      cron.metadata.resource_version = absl::StrCat(++version_);
      return;
    }
    if (write.verb == kube::Verb::kDelete) {
      GW_CHECK(jobs.at(write.name).metadata.uid == write.uid);
      RemoveJob(write.name);
      return;
    }
    hidden.erase(write.name);  // the answer tells of it, also when it was there already
    if (jobs.contains(write.name)) return;
    api::volcano::Job job = *api::Decode<api::volcano::Job>(write.body);
    GW_CHECK(job.metadata.name == write.name);
    job.metadata.uid = absl::StrCat("uid-", ++version_);
    job.metadata.creation_timestamp = {absl::FromUnixSeconds(absl::ToUnixSeconds(now_))};
    jobs[write.name] = std::move(job);
    made_.push_back(absl::StrCat(
        write.name, " ",
        jobs[write.name].metadata.annotations.at(std::string(lifecycle::kCronScheduledKey)).substr(11, 5)));
  }

  int version_ = 1;
  std::vector<std::string> made_;
};

inline std::string RunAt(const std::string& time) { return lifecycle::CronJobRunName("nightly", At(time)); }

}  // namespace gangway::testutil
