// Which API server, and who we are to it. Values only; kubeconfig.h reads them, http_client.h uses them.
#pragma once

#include <string>

namespace gangway::kube {

// PEM text or a token, or the file that holds it. Files are read when they are needed, so a rotated one is picked up.
struct Secret {
  std::string data;
  std::string file;  // used when `data` is empty
  bool set() const { return !data.empty() || !file.empty(); }
  friend bool operator==(const Secret&, const Secret&) = default;
};

struct Connection {
  std::string server;           // "https://10.0.0.1:6443", perhaps with a path
  Secret ca;                    // unset: the system's
  Secret client_certificate;
  Secret client_key;
  Secret token;                 // Authorization: Bearer
  std::string username, password;  // Authorization: Basic, when there is no token
  std::string tls_server_name;  // the name to ask for and to verify, when it is not the server's host
  bool insecure_skip_tls_verify = false;
  std::string proxy_url;        // "": as the environment says, except for loopback servers
  std::string default_namespace = "default";
  std::string context;          // its name in the kubeconfig, for messages
  friend bool operator==(const Connection&, const Connection&) = default;
};

}  // namespace gangway::kube
