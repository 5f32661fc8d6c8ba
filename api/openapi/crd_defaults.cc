#include "api/openapi/crd_defaults.h"

#include <array>

namespace gangway::api {
namespace {

constexpr std::string_view kTcp = R"("TCP")", kEmpty = R"("")";

// A list whose key is one of these needs it: the key of an element is required or has a default.
constexpr std::array kDefaults{
    CrdDefault{"core.v1.ContainerPort", "protocol", kTcp},
    CrdDefault{"core.v1.ServicePort", "protocol", kTcp},
    CrdDefault{"core.v1.EndpointPort", "protocol", kTcp},
    CrdDefault{"core.v1.LocalObjectReference", "name", kEmpty},
    CrdDefault{"core.v1.ConfigMapEnvSource", "name", kEmpty},
    CrdDefault{"core.v1.ConfigMapKeySelector", "name", kEmpty},
    CrdDefault{"core.v1.ConfigMapProjection", "name", kEmpty},
    CrdDefault{"core.v1.ConfigMapVolumeSource", "name", kEmpty},
    CrdDefault{"core.v1.SecretEnvSource", "name", kEmpty},
    CrdDefault{"core.v1.SecretKeySelector", "name", kEmpty},
    CrdDefault{"core.v1.SecretProjection", "name", kEmpty},
    CrdDefault{"core.v1.GRPCAction", "service", kEmpty},
};

}  // namespace

std::span<const CrdDefault> CrdDefaults() { return kDefaults; }

}  // namespace gangway::api
