// `gangway scheduler` and `gangway controller` as processes, beside a `gangway sandbox` that is their API server and
// its nodes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/client/http_client.h"
#include "tests/process/process.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {

// `gangway sandbox` with the API server and the kubelets only, unless `flags` name components. Serving when the
// constructor returns.
class ApiServerProcess {
 public:
  explicit ApiServerProcess(const std::string& folder, std::vector<std::string> flags = {});
  ~ApiServerProcess();

  const std::string& kubeconfig() const { return kubeconfig_; }
  const std::string& url() const { return url_; }
  int port() const;
  // Waited for. Code 0: no answer.
  kube::Response Call(const std::string& method, const std::string& path, const std::string& body = "",
                      const std::string& content_type = "") const;
  // Creates what stands in a manifest's documents.
  void Apply(const std::string& file) const;
  std::string PhaseOf(const std::string& path) const;  // status.state.phase or status.phase; "" for none
  void Signal(int signal) const { process_->Signal(signal); }

 private:
  const std::string kubeconfig_;
  std::string url_;
  std::optional<ChildProcess> process_;
};

// One GET; code 0: no answer.
kube::Response Get(const std::string& url, const std::string& path);

class GangwayProcess {
 public:
  // `name` names its log in `folder`. Health and metrics share an address. Started, not more.
  GangwayProcess(const std::string& folder, const std::string& name, std::vector<std::string> arguments);

  ChildProcess& process() { return *process_; }
  std::string log() const { return ReadFile(log_); }
  // Where its pages are; "" until it serves.
  std::string url() const;
  bool Ready() const { return !url().empty() && Get(url(), "/readyz").code == 200; }
  // A page's text, "" without one.
  std::string Page(const std::string& path) const;

 private:
  const std::string log_;
  std::optional<ChildProcess> process_;
};

}  // namespace gangway::testutil
