#include "sandbox/streams/remote_command.h"

#include "absl/strings/str_cat.h"
#include "api/field_table.h"
#include "api/json.h"
#include "kube/client/status.h"

namespace gangway::sandbox {
namespace {

struct SizeMessage {
  std::int32_t width = 0, height = 0;
  static constexpr std::string_view kName = "TerminalSize";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&SizeMessage::width>("Width", ""),
                           api::MakeField<&SizeMessage::height>("Height", ""));
  }
};

}  // namespace

std::string RemoteMessage(RemoteChannel channel, absl::string_view bytes) {
  std::string out(1, static_cast<char>(channel));
  absl::StrAppend(&out, bytes);
  return out;
}

std::optional<TerminalSize> ParseTerminalSize(absl::string_view json) {
  const auto size = api::Decode<SizeMessage>(json);
  if (!size.ok() || size->width <= 0 || size->height <= 0 || size->width > 0xffff || size->height > 0xffff)
    return std::nullopt;
  return TerminalSize{size->width, size->height};
}

std::string RemoteStatus(const StreamEnd& end) {
  if (!end.error.empty()) {
    return kube::StatusBody(500, "InternalError", absl::StrCat("error executing command in container: ", end.error));
  }
  if (end.exit_code == 0) return R"({"metadata":{},"status":"Success"})";
  return absl::StrCat(R"({"metadata":{},"status":"Failure","message":"command terminated with non-zero exit code: )",
                      end.exit_code, R"(","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode",)",
                      R"("message":")", end.exit_code, R"("}]}})");
}

}  // namespace gangway::sandbox
