#include "plugin/extender/desk.h"

#include <vector>

namespace gangway::extender {
namespace {

const std::vector<double>& SizeBounds() {
  static const std::vector<double>& bounds =
      *new std::vector<double>{1 << 10, 1 << 13, 1 << 16, 1 << 19, 1 << 22, 1 << 25};
  return bounds;
}

}  // namespace

grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

Clock::time_point After(absl::Duration duration) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(absl::ToChronoNanoseconds(duration));
}

absl::Status Wanted(const grpc::CallbackServerContext& context, Clock::time_point deadline) {
  if (Clock::now() >= deadline) return absl::DeadlineExceededError("the call's deadline has passed");
  if (context.IsCancelled()) return absl::CancelledError("the caller has cancelled the call");
  return absl::OkStatus();
}

absl::Status CheckMetadata(const grpc::CallbackServerContext& context) {
  constexpr std::size_t kFieldBytes = 32;  // RFC 9113, 6.5.2
  std::size_t bytes = 0;
  for (const auto& [name, value] : context.client_metadata()) bytes += name.size() + value.size() + kFieldBytes;
  if (bytes <= kMaxMetadataBytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the call's metadata has ", bytes, " bytes; at most ", kMaxMetadataBytes, " are taken"));
}

Desk::Desk(const ServerOptions& options, Metrics& metrics)
    : options_(options),
      calls_(metrics, {.call = "method",
                       .result = "code",
                       .results = {"gangway_extender_calls_total", "calls by method and gRPC code", {}},
                       .duration = {"gangway_extender_call_duration_seconds", "from the whole request to the answer",
                                    DurationBounds()},
                       .bytes = {"gangway_extender_request_bytes", "size of requests", SizeBounds()}}),
      under_way_(metrics.AddGauge("gangway_extender_calls", "calls accepted and not answered yet")),
      pool_(options.threads, options.max_calls) {}

absl::Status Desk::Refusal(WorkPool::Answer taken) const {
  if (taken == WorkPool::Answer::kClosed) return absl::UnavailableError("the server is about to go");
  return absl::ResourceExhaustedError(
      absl::StrCat(options_.max_calls, " calls are under way already, which is this server's limit; try again later"));
}

void Desk::CountCall(absl::string_view method, const absl::Status& status) {
  calls_.CountResult(method, absl::StatusCodeToString(status.code()));
}

void Desk::CountMessage(absl::string_view method, std::size_t bytes, Clock::time_point begin) {
  calls_.CountMessage(method, bytes, absl::FromChrono(Clock::now() - begin));
}

}  // namespace gangway::extender
