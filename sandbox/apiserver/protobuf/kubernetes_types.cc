#include "sandbox/apiserver/protobuf/kubernetes_types.h"

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>

#include <array>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/strings.h"

extern "C" const char gangway_kubernetes_types_begin[];
extern "C" const char gangway_kubernetes_types_end[];

namespace gangway::sandbox {
namespace {

namespace pb = google::protobuf;

struct Kind {
  std::string_view api_version, kind;
};
constexpr std::array kKinds{Kind{"v1", "Binding"},
                            Kind{"v1", "ConfigMap"},
                            Kind{"v1", "Namespace"},
                            Kind{"v1", "PersistentVolumeClaim"},
                            Kind{"v1", "Pod"},
                            Kind{"v1", "ResourceQuota"},
                            Kind{"v1", "Secret"},
                            Kind{"v1", "Service"},
                            Kind{"v1", "ServiceAccount"},
                            Kind{"apps/v1", "Deployment"},
                            Kind{"apps/v1", "ReplicaSet"},
                            Kind{"apps/v1", "StatefulSet"},
                            Kind{"autoscaling/v1", "Scale"},
                            Kind{"policy/v1", "Eviction"},
                            Kind{"policy/v1", "PodDisruptionBudget"},
                            Kind{"scheduling.k8s.io/v1", "PriorityClass"},
                            Kind{"authentication.k8s.io/v1", "SelfSubjectReview"},
                            Kind{"authentication.k8s.io/v1", "TokenRequest"},
                            Kind{"authorization.k8s.io/v1", "SelfSubjectAccessReview"},
                            Kind{"authorization.k8s.io/v1", "SelfSubjectRulesReview"},
                            Kind{"batch/v1", "CronJob"},
                            Kind{"batch/v1", "Job"},
                            Kind{"networking.k8s.io/v1", "Ingress"},
                            Kind{"rbac.authorization.k8s.io/v1", "ClusterRole"},
                            Kind{"rbac.authorization.k8s.io/v1", "ClusterRoleBinding"},
                            Kind{"rbac.authorization.k8s.io/v1", "Role"},
                            Kind{"rbac.authorization.k8s.io/v1", "RoleBinding"}};

struct Types {
  Types() {
    pb::FileDescriptorSet files;
    const auto size = gangway_kubernetes_types_end - gangway_kubernetes_types_begin;
    GW_CHECK(files.ParseFromArray(gangway_kubernetes_types_begin, static_cast<int>(size)));
    for (const pb::FileDescriptorProto& file : files.file()) GW_CHECK(pool.BuildFile(file) != nullptr);
  }
  const pb::Descriptor& Get(absl::string_view name) const {
    const pb::Descriptor* type = pool.FindMessageTypeByName(absl::StrCat("gangway.kubernetes.", name));
    GW_CHECK(type != nullptr);
    return *type;
  }
  pb::DescriptorPool pool;
  pb::DynamicMessageFactory factory;
};

// Built at the first binary body and never destroyed: most servers never see one.
Types& AllTypes() {
  static Types& types = *new Types;
  return types;
}

}  // namespace

const pb::Descriptor& EnvelopeType() { return AllTypes().Get("Unknown"); }

const pb::Descriptor* FindObjectType(absl::string_view api_version, absl::string_view kind) {
  // Every group registers the options of a deletion under a version of its own.
  if (kind == "DeleteOptions") return &AllTypes().Get(kind);
  for (const Kind& known : kKinds) {
    if (View(known.api_version) == api_version && View(known.kind) == kind) return &AllTypes().Get(kind);
  }
  return nullptr;
}

std::unique_ptr<pb::Message> NewMessage(const pb::Descriptor& type) {
  return std::unique_ptr<pb::Message>(AllTypes().factory.GetPrototype(&type)->New());
}

}  // namespace gangway::sandbox
