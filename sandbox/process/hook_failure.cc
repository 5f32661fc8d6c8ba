#include "sandbox/process/hook_failure.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json.h"
#include "sandbox/process/security.h"

namespace gangway::sandbox {

std::string HookFailure(const HostedPod& pod, const HostedContainer& container, const HandlerResult& result) {
  const HostedHandler handler = HandlerFor(container, result.use);
  std::string what;
  if (handler.exec) {
    what = absl::StrCat("Exec lifecycle hook ([", absl::StrJoin(handler.exec->command, " "), "])");
  } else if (handler.http_get) {
    what = absl::StrCat("HTTP lifecycle hook (", handler.http_get->path, ")");
  } else if (handler.sleep) {
    what = absl::StrCat("Sleep lifecycle hook (", handler.sleep->seconds, ")");
  } else {
    return absl::StrCat("Cannot run handler: ", result.message);
  }
  std::string out = absl::StrCat(what, " for Container \"", container.name, "\" in Pod \"", PodText(pod.metadata),
                                 "\" failed - error: ", result.message);
  if (handler.exec) absl::StrAppend(&out, ", message: ", api::JsonString(result.output));
  return out;
}

}  // namespace gangway::sandbox
