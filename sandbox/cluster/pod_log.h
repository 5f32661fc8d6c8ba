// The text of `kubectl logs`: lines cut and stamped as the query asks (kubelet: since, tail, timestamps, limit). Pure.
#pragma once

#include <string>
#include <vector>

#include "sandbox/apiserver/api_server.h"
#include "sandbox/kubelet/pod_sync.h"

namespace gangway::sandbox {

std::string RenderLog(const std::vector<LogLine>& lines, const LogQuery& query);

}  // namespace gangway::sandbox
