// Objects as an API server has them, in JSON, for requests that carry them: valid ones; a case states only what
// matters.
#pragma once

#include <string>

#include "absl/strings/str_cat.h"
#include "proto/gangway/v1/extender.pb.h"

namespace gangway::testutil {

// `labels`: members of a JSON object, such as R"("zone":"a")".
inline std::string NodeJson(const std::string& name, int cpu = 16, const std::string& labels = "") {
  return absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")", name, R"(","labels":{)", labels,
                      R"(}},"status":{"allocatable":{"cpu":")", cpu, R"(","memory":"64Gi","pods":"110"}}})");
}

// A pod of a Volcano gang in namespace default. `spec`: more members of its spec, each with a comma before it.
inline std::string PodJson(const std::string& name, const std::string& gang, const std::string& cpu,
                           const std::string& spec = "", const std::string& metadata = "",
                           const std::string& status = R"("phase":"Pending")") {
  return absl::StrCat(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name, R"(","namespace":"default","uid":")", name, "\"",
      gang.empty() ? "" : R"(,"annotations":{"scheduling.k8s.io/group-name":")", gang,
      gang.empty() ? "" : R"(","volcano.sh/task-spec":"w"})", metadata,
      R"(},"spec":{"schedulerName":"volcano","containers":[{"name":"c","resources":{"requests":{"cpu":")", cpu,
      R"("}}}])", spec, R"(},"status":{)", status, "}}");
}

inline std::string PodGroupJson(const std::string& name, int min_member, const std::string& spec = "",
                                const std::string& phase = "Inqueue") {
  return absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":")", name,
                      R"(","namespace":"default"},"spec":{"minMember":)", min_member, spec, R"(},"status":{"phase":")",
                      phase, "\"}}");
}

inline std::string QueueJson(const std::string& name, const std::string& spec = "") {
  return absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":")", name,
                      R"("},"spec":{)", spec, R"(},"status":{"state":"Open"}})");
}

template <class... Json>
void AddObjects(gangway::v1::Cluster& cluster, const Json&... json) {
  (cluster.add_objects(json), ...);
}

// The PodGroup "g" of the objects.
template <class... Json>
gangway::v1::PlaceGangRequest ObjectRequest(const Json&... json) {
  gangway::v1::PlaceGangRequest request;
  request.mutable_gang()->set_name("g");
  AddObjects(*request.mutable_cluster(), json...);
  return request;
}

}  // namespace gangway::testutil
