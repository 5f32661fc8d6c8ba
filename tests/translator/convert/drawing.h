// Random JSON objects out of given pieces, the same for the same seed; and what holds of every translation.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/json_value.h"
#include "api/random_object.h"
#include "api/volcano/admission.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "translator/convert/translate.h"

namespace gangway::testutil {

class Drawing {
 public:
  explicit Drawing(std::uint64_t seed) : random_(seed) {}

 protected:
  bool Chance(unsigned percent) { return random_.Below(100) < percent; }
  std::string One(const std::vector<std::string>& of) { return of[random_.Below(of.size())]; }
  std::string Maybe(unsigned percent, absl::string_view key, const std::vector<std::string>& values) {
    return Chance(percent) ? absl::StrCat("\"", key, "\":", One(values)) : "";
  }
  static std::string Members(const std::vector<std::string>& members) {
    std::string out;
    for (const std::string& member : members) {
      if (!member.empty()) absl::StrAppend(&out, out.empty() ? "" : ",", member);
    }
    return out;
  }
  // Each of these annotations of ours, by name, sometimes.
  std::string Annotations(const std::vector<std::pair<std::string, std::vector<std::string>>>& all) {
    std::string out;
    for (const auto& [name, values] : all) {
      if (Chance(15))
        absl::StrAppend(&out, out.empty() ? "" : ",", "\"paddle.gangway.io/", name, "\":\"", One(values), "\"");
    }
    return absl::StrCat("{", out, "}");
  }

 private:
  RandomStream random_;
};

inline convert::TranslateOptions OptionsOf(std::uint64_t seed) {
  convert::TranslateOptions out;
  out.target = seed % 2 == 0 ? convert::Target::kGangway : convert::Target::kVolcano;
  out.volcano.minor = 8 + static_cast<int>(seed % 11);
  out.kept = seed % 3 == 0;
  out.strict = seed % 5 == 0;
  out.sidecars = seed % 7 == 0;
  out.explain = seed % 6 == 0;
  if (seed % 4 == 0) out.elastic_etcd = "etcd.infra:2379";
  if (seed % 8 == 0) out.nodes = 3;
  if (seed % 9 == 0) out.group = convert::HandMadeGroup{.name = "wd", .min_member = 2, .queue = "ads"};
  return out;
}

// The same each time; with an error nothing; else a Job that admission takes without adding anything to it. Whether
// there was one.
template <class PaddleJob>
bool TranslatesWell(const PaddleJob& job, const convert::TranslateOptions& options, const std::string& shown) {
  const convert::Translation made = Translate(job, options), again = Translate(job, options);
  EXPECT_EQ(made.findings, again.findings) << shown;
  EXPECT_EQ(api::Encode(made.job), api::Encode(again.job)) << shown;
  EXPECT_EQ(made.before, again.before) << shown;
  if (!made.ok()) {
    EXPECT_TRUE(made.job.spec.tasks.empty() && made.before.empty() && made.steps.empty()) << shown;
    return false;
  }
  const std::string encoded = api::Encode(made.job);
  const absl::StatusOr<api::volcano::Job> decoded = api::Decode<api::volcano::Job>(encoded);
  EXPECT_TRUE(decoded.ok() && api::SameObject(*decoded, made.job)) << encoded;
  boost::json::value object = *api::ParseJson(encoded);
  const boost::json::value before = object;
  const api::volcano::AdmissionRequest request{
      .resource = &api::kJobs, .ns = "default", .name = made.job.metadata.name};
  const api::volcano::Verdict verdict = Admit(request, &object, nullptr);
  EXPECT_TRUE(verdict.allowed()) << verdict.message << "\n" << shown;
  EXPECT_EQ(object, before) << "admission had to add something\n" << shown;
  return true;
}

}  // namespace gangway::testutil
