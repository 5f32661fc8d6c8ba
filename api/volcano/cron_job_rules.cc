// Rules of a CronJob beyond its schema (Volcano: pkg/controllers/cronjob).
#include <cstddef>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json.h"
#include "api/name.h"
#include "api/volcano/admission_rules.h"
#include "api/volcano/cron_schedule.h"

namespace gangway::api::volcano {
namespace {

// Its jobs are called <name>-<minutes>: eleven characters more.
constexpr std::size_t kMaxNameLength = kMaxLabelLength - 11;

void CheckCronJobName(const ObjectMeta& metadata, FieldErrors& errors) {
  const bool generated = metadata.name.empty();
  const std::string name = generated ? metadata.generate_name + "xxxxx" : metadata.name;
  const std::string path = generated ? "metadata.generateName" : "metadata.name";
  const std::string value = JsonString(generated ? metadata.generate_name : name);
  if (name.size() > kMaxNameLength) {
    return AddInvalid(errors, path, value,
                      absl::StrCat("must be no more than ", kMaxNameLength,
                                   " characters: its jobs are called <name>-<minutes since 1970>",
                                   generated ? ", with five characters of its own" : ""),
                      "shorten it");
  }
  const Complaints complaints = CheckQualifiedName(name);
  if (!complaints.empty()) AddInvalid(errors, path, value, absl::StrJoin(complaints, ", "));
}

void CheckSchedule(const CronJobSpec& spec, FieldErrors& errors) {
  const absl::Status status = CronSchedule::Parse(spec.schedule).status();
  if (status.ok()) return;
  AddInvalid(errors, "spec.schedule", JsonString(spec.schedule), std::string(status.message()),
             absl::StrContains(spec.schedule, "TZ")
                 ? "write the zone there, such as timeZone: Asia/Shanghai"
                 : "such as \"30 2 * * *\", every night at half past two, or \"@hourly\"");
}

void CheckTimeZone(const CronJobSpec& spec, FieldErrors& errors) {
  if (!spec.time_zone.has_value()) return;
  const absl::Status status = LoadCronTimeZone(*spec.time_zone).status();
  if (status.ok()) return;
  AddInvalid(errors, "spec.timeZone", JsonString(*spec.time_zone), std::string(status.message()),
             "such as Asia/Shanghai; leave it out for UTC");
}

}  // namespace

void CheckCronJob(const CronJob& cron, FieldErrors& errors) {
  CheckCronJobName(cron.metadata, errors);
  CheckSchedule(cron.spec, errors);
  CheckTimeZone(cron.spec, errors);
}

}  // namespace gangway::api::volcano
