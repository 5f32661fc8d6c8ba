// A cluster that a story is told in: the simulated one in this process, or a real control plane.
#pragma once

#include <functional>
#include <string>

#include "kube/client/client.h"
#include "tests/stories/observe.h"

namespace gangway::testutil {

class World {
 public:
  virtual ~World() = default;
  // One request of a user, waited for; a transport error ends the test program. `content_type` is for bodies that are
  // no JSON object.
  virtual kube::Response Call(const std::string& method, const std::string& path, const std::string& body = {},
                              const std::string& content_type = "application/json") = 0;
  // Lets the cluster live until `condition` holds; false when it does not within a minute of the cluster's time, or the
  // patience of a real one.
  virtual bool Eventually(const std::function<bool()>& condition) = 0;
  // A pod's containers end. The pod is there and runs.
  virtual void EndPod(const std::string& ns, const std::string& pod, int exit_code) = 0;
  // Pods with annotation test.kwok/hold do not start before they are released; Hold is called before the first is made.
  virtual void Hold() = 0;
  virtual void Release(const std::string& ns, const std::string& pod) = 0;
  // Nodes like those that are there.
  virtual void AddNodes(int count) = 0;
  // Whether what passes passes at once. Elsewhere a gang may be told to wait for pods that a busy API server has yet to
  // make.
  virtual bool prompt() const = 0;
  // Of a namespace, and of the queues.
  virtual Phases PhasesOf(const std::string& ns) = 0;
};

}  // namespace gangway::testutil
