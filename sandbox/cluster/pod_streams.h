// Who opens the streams that `kubectl exec` and `kubectl port-forward` ask for: the API server reads what is asked, the
// kubelets have the containers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kube/serve/web_socket.h"
#include "sandbox/apiserver/api_server.h"
#include "sandbox/kubelet/kubelets.h"

namespace gangway::sandbox {

// Used on the loop.
class PodStreams {
 public:
  // `kubelets` is null while they do not run.
  PodStreams(ApiServer& server, std::function<Kubelets*()> kubelets);

  kube::WebSocketAnswer Open(const kube::Request& request, const Caller& caller,
                             const std::vector<std::string>& protocols, kube::WebSocket& socket);

 private:
  kube::WebSocketAnswer OpenExec(const StreamQuery& query, const std::vector<std::string>& protocols,
                                 kube::WebSocket& socket);

  ApiServer& server_;
  const std::function<Kubelets*()> kubelets_;
};

}  // namespace gangway::sandbox
