#include "sandbox/process/orders.h"

#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace gangway::sandbox {
namespace {

constexpr std::size_t kHeader = 5;

void AppendLength(std::size_t length, std::string& out) {
  const auto value = static_cast<std::uint32_t>(length);
  char bytes[4];
  std::memcpy(bytes, &value, sizeof bytes);
  out.append(bytes, sizeof bytes);
}
std::size_t LengthAt(absl::string_view bytes) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

std::string EncodeFrame(FrameKind kind, absl::string_view payload) {
  std::string out;
  out.reserve(kHeader + payload.size());
  AppendLength(payload.size(), out);
  out.push_back(static_cast<char>(kind));
  out.append(payload.data(), payload.size());
  return out;
}

absl::StatusOr<std::optional<FrameView>> DecodeFrame(absl::string_view bytes) {
  if (bytes.size() < kHeader) return std::optional<FrameView>();
  const std::size_t length = LengthAt(bytes);
  if (length > kMaxFrame) return absl::InvalidArgumentError(absl::StrCat("a frame of ", length, " bytes"));
  if (bytes.size() < kHeader + length) return std::optional<FrameView>();
  return std::optional<FrameView>(
      FrameView{static_cast<FrameKind>(bytes[4]), bytes.substr(kHeader, length), kHeader + length});
}

std::string OutputPayload(absl::string_view id, absl::string_view bytes) {
  std::string out;
  AppendLength(id.size(), out);
  absl::StrAppend(&out, id, bytes);
  return out;
}

absl::StatusOr<OutputView> DecodeOutput(absl::string_view payload) {
  if (payload.size() < 4 || payload.size() - 4 < LengthAt(payload))
    return absl::InvalidArgumentError("output without a run's id");
  const std::size_t length = LengthAt(payload);
  return OutputView{payload.substr(4, length), payload.substr(4 + length)};
}

}  // namespace gangway::sandbox
