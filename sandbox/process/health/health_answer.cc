#include "sandbox/process/health/health_answer.h"

#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"

namespace gangway::sandbox {
namespace {

constexpr int kServing = 1;

// HealthCheckResponse.ServingStatus
std::string ServingText(int serving) {
  constexpr const char* kNames[] = {"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"};
  const bool known = serving >= 0 && serving < static_cast<int>(std::size(kNames));
  return known ? kNames[serving] : absl::StrCat(serving);
}

// As google.golang.org/grpc/codes prints them.
std::string CodeText(int code) {
  constexpr const char* kNames[] = {
      "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
      "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
      "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
      "DataLoss", "Unauthenticated"};
  const bool known = code >= 0 && code < static_cast<int>(std::size(kNames));
  return known ? kNames[code] : absl::StrCat("Code(", code, ")");
}

std::optional<std::uint64_t> TakeVarint(absl::string_view& in) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

}  // namespace

std::string HealthComplaint(const HealthAnswer& answer, absl::string_view timeout) {
  if (answer.code == kGrpcUnimplemented) {
    return absl::StrCat("error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ",
                        answer.message);
  }
  if (answer.code == kGrpcDeadlineExceeded)
    return absl::StrCat("timeout: health rpc did not complete within ", timeout);
  if (answer.code != 0) {
    return absl::StrCat("error: health rpc probe failed: rpc error: code = ", CodeText(answer.code),
                        " desc = ", answer.message);
  }
  if (answer.serving == kServing) return "";
  return absl::StrCat("service unhealthy (responded with \"", ServingText(answer.serving), "\")");
}

std::string EncodeHealthRequest(absl::string_view service) {
  if (service.empty()) return "";
  std::string out = "\x0a";  // field 1, a text
  std::size_t size = service.size();
  for (; size >= 0x80; size >>= 7) out.push_back(static_cast<char>(size | 0x80));
  out.push_back(static_cast<char>(size));
  return absl::StrCat(out, service);
}

absl::StatusOr<int> DecodeHealthResponse(absl::string_view bytes) {
  const absl::Status wrong = absl::InvalidArgumentError("the answer is no HealthCheckResponse");
  int serving = 0;
  while (!bytes.empty()) {
    const auto tag = TakeVarint(bytes);
    if (!tag || *tag >> 3 == 0) return wrong;
    std::size_t skip = 0;
    switch (*tag & 7) {
      case 0: {
        const auto value = TakeVarint(bytes);
        if (!value) return wrong;
        if (*tag >> 3 == 1) serving = static_cast<std::int32_t>(*value);
        break;
      }
      case 1:
        skip = 8;
        break;
      case 2: {
        const auto size = TakeVarint(bytes);
        if (!size || *size > bytes.size()) return wrong;
        skip = static_cast<std::size_t>(*size);
        break;
      }
      case 5:
        skip = 4;
        break;
      default:
        return wrong;
    }
    if (skip > bytes.size()) return wrong;
    bytes.remove_prefix(skip);
  }
  return serving;
}

int GrpcCodeOfHttp(int code) {
  switch (code) {
    case 400:
      return kGrpcInternal;
    case 401:
      return 16;  // Unauthenticated
    case 403:
      return 7;  // PermissionDenied
    case 404:
      return kGrpcUnimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return kGrpcUnavailable;
    default:
      return kGrpcUnknown;
  }
}

}  // namespace gangway::sandbox
