// Where the API server is and who we are: from a kubeconfig file, or from inside a pod.
//
// Errors name the file, the path in it and what to do about it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/client/connection.h"

namespace gangway::kube {

// `context` "" means current-context. Relative file names in it are relative to the file's folder.
absl::StatusOr<Connection> LoadKubeconfig(const std::string& path, absl::string_view context = {});

// As $KUBECONFIG: several, with ':' between them. Those that do not exist are left out; the first that names a cluster,
// a user, a context or the current one is believed. Relative file names are relative to the folder of the file they
// stand in.
absl::StatusOr<Connection> LoadKubeconfigs(absl::string_view paths, absl::string_view context = {});

// As LoadKubeconfig, for text already read; `path` is for messages and relative file names. Reads no file.
absl::StatusOr<Connection> ParseKubeconfig(absl::string_view text, const std::string& path,
                                           absl::string_view context = {});

// What a pod knows; the defaults are Kubernetes'.
struct InClusterSource {
  std::string host;  // KUBERNETES_SERVICE_HOST
  std::string port;  // KUBERNETES_SERVICE_PORT
  std::string folder = "/var/run/secrets/kubernetes.io/serviceaccount";
};
InClusterSource InClusterSourceFromEnvironment();
// NotFound when this is no pod, or one without a service account token.
absl::StatusOr<Connection> InClusterConnection(const InClusterSource& source);

// As kubectl looks: `path` when given, $KUBECONFIG, inside a pod its identity, else ~/.kube/config.
absl::StatusOr<Connection> FindConnection(const std::string& path, absl::string_view context = {});

// Somebody whom a certificate makes known.
struct KubeconfigUser {
  std::string name;              // also the context's
  std::string certificate, key;  // PEM
};
struct KubeconfigEntry {
  std::string server;
  std::string ca_data;              // PEM; "" for plain HTTP
  std::string token;                // "" for none
  std::string context = "gangway";  // also the cluster's and the user's name
  std::vector<KubeconfigUser> users;
};
// Pure: the text of a kubeconfig with this context, which is the current one, and one for each of the users.
std::string RenderKubeconfig(const KubeconfigEntry& entry);
// Readable by its owner only, put in place whole; missing folders are made.
absl::Status WriteKubeconfig(const std::string& path, const KubeconfigEntry& entry);

}  // namespace gangway::kube
