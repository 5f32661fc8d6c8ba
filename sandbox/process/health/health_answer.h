// What a server said when it was asked for its health by gRPC (grpc.health.v1), and in which words a kubelet tells of
// it. Pure.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gangway::sandbox {

struct HealthAnswer {
  int code = 0;         // of gRPC; 0: `serving` is what it answered
  std::string message;  // with another code
  int serving = 0;      // HealthCheckResponse.ServingStatus
};

inline constexpr int kGrpcUnknown = 2, kGrpcDeadlineExceeded = 4, kGrpcUnimplemented = 12, kGrpcInternal = 13,
                     kGrpcUnavailable = 14;

// "": it is healthy (pkg/probe/grpc). `timeout`: how long it had, as in "1s".
std::string HealthComplaint(const HealthAnswer& answer, absl::string_view timeout);

// The bytes of a HealthCheckRequest, and the status in those of a HealthCheckResponse; InvalidArgument: it is none.
std::string EncodeHealthRequest(absl::string_view service);
absl::StatusOr<int> DecodeHealthResponse(absl::string_view bytes);

// What a code of HTTP is to gRPC where the answer has none of its own (grpc: doc/http-grpc-status-mapping.md).
int GrpcCodeOfHttp(int code);

}  // namespace gangway::sandbox
