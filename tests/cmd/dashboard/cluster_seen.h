// Objects from JSON, as an API server has them, seen by the dashboard.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "cmd/dashboard/view/seen.h"
#include "cmd/dashboard/view/view.h"

namespace gangway::testutil {

template <class T>
std::shared_ptr<const T> Read(const std::string& json) {
  return std::make_shared<const T>(*api::Decode<T>(json));
}

inline absl::Time At(const std::string& text) { return *api::ParseTime(text); }

class ClusterSeen {
 public:
  ClusterSeen& Queue(const std::string& name, const std::string& spec, const std::string& more = "{}") {
    seen_.queues.push_back(Read<api::volcano::Queue>(
        absl::StrCat(R"({"metadata":{"name":")", name, R"(","annotations":)", more, R"(},"spec":)", spec, "}")));
    return *this;
  }
  // A PodGroup of the Job of that name.
  ClusterSeen& Group(const std::string& name, const std::string& spec, const std::string& status) {
    seen_.groups.push_back(Read<api::volcano::PodGroup>(absl::StrCat(
        R"({"metadata":{"namespace":"ads","name":")", name, R"(-u","creationTimestamp":"2026-11-24T07:00:00Z",)",
        R"("ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":")", name,
        R"(","uid":"u","controller":true}]},"spec":)", spec, R"(,"status":)", status, "}")));
    return *this;
  }
  ClusterSeen& Job(const std::string& name, const std::string& spec, const std::string& status) {
    seen_.jobs.push_back(Read<api::volcano::Job>(absl::StrCat(
        R"({"metadata":{"namespace":"ads","name":")", name,
        R"(","uid":"u","creationTimestamp":"2026-11-24T07:00:00Z"},"spec":)", spec, R"(,"status":)", status, "}")));
    return *this;
  }
  ClusterSeen& Node(const std::string& name, const std::string& allocatable, const std::string& spec = "{}") {
    seen_.nodes.push_back(Read<api::core::Node>(absl::StrCat(R"({"metadata":{"name":")", name, R"("},"spec":)", spec,
                                                             R"(,"status":{"allocatable":)", allocatable,
                                                             R"(,"conditions":[{"type":"Ready","status":"True"}]}})")));
    return *this;
  }
  // A pod of the job's gang with one container.
  ClusterSeen& Pod(const std::string& name, const std::string& job, const std::string& node,
                   const std::string& requests, const std::string& phase = "Running") {
    pods_.push_back(dashboard::PodSeenOf(*Read<api::core::Pod>(absl::StrCat(
        R"({"metadata":{"namespace":"ads","name":")", name, R"(","creationTimestamp":"2026-11-24T07:00:02Z",)",
        R"("labels":{"volcano.sh/job-name":")", job, R"("},"annotations":{"scheduling.k8s.io/group-name":")", job,
        R"(-u"}},"spec":{"nodeName":")", node, R"(","containers":[{"name":"c","resources":{"requests":)", requests,
        R"(}}]},"status":{"phase":")", phase, "\"}}"))));
    return *this;
  }
  ClusterSeen& Event(const std::string& job, const std::string& uid, const std::string& reason,
                     const std::string& message, const std::string& at, const std::string& type = "Normal") {
    events_.push_back(dashboard::EventSeenOf(*Read<cmd::JobEvent>(absl::StrCat(
        R"({"metadata":{"namespace":"ads","name":"e"},"involvedObject":{"kind":"Job","namespace":"ads","name":")", job,
        R"(","uid":")", uid, R"("},"type":")", type, R"(","reason":")", reason, R"(","message":")", message,
        R"(","count":2,"lastTimestamp":")", at, "\"}"))));
    return *this;
  }
  dashboard::Seen& objects() { return seen_; }
  dashboard::View View() {
    seen_.pods.clear();
    seen_.events.clear();
    for (const auto& pod : pods_) seen_.pods.push_back(&pod);
    for (const auto& event : events_) seen_.events.push_back(&event);
    return dashboard::MakeView(seen_);
  }

 private:
  dashboard::Seen seen_;
  std::deque<dashboard::PodSeen> pods_;
  std::deque<dashboard::EventSeen> events_;
};

}  // namespace gangway::testutil
