// Which API server, and who we are to it. Values only; kubeconfig.h reads them, http_client.h uses them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace gangway::kube {

// PEM text or a token, or the file that holds it. Files are read when they are needed, so a rotated one is picked up.
struct Secret {
  std::string data;
  std::string file;  // used when `data` is empty
  bool set() const { return !data.empty() || !file.empty(); }
  friend bool operator==(const Secret&, const Secret&) = default;
};

// A program that makes credentials (exec_credential.h). It is run without a terminal.
struct CredentialProgram {
  std::string api_version;  // "client.authentication.k8s.io/v1" or .../v1beta1: what it must answer in
  std::string command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  // beside our own
  std::string install_hint;                              // for who has not got it
  bool provide_cluster_info = false;                     // tell it which API server
  std::string cluster_config;                            // JSON that the cluster's entry has for it; "" = none
  friend bool operator==(const CredentialProgram&, const CredentialProgram&) = default;
};

// Whom to act as. Without a user it is nobody.
struct Impersonation {
  std::string user, uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
  friend bool operator==(const Impersonation&, const Impersonation&) = default;
};

// Requests are signed by AWS' Signature Version 4, as object stores of many makers take it.
struct AwsSigning {
  std::string region;  // "eu-central-1"
  std::string service = "s3";
  std::string key_id, secret, session_token;  // the last may be ""
  friend bool operator==(const AwsSigning&, const AwsSigning&) = default;
};

struct Connection {
  std::string server;  // "https://10.0.0.1:6443", perhaps with a path
  Secret ca;           // unset: the system's
  Secret client_certificate;
  Secret client_key;
  Secret token;                              // Authorization: Bearer
  std::string username, password;            // Authorization: Basic, when there is no token
  std::optional<CredentialProgram> program;  // when there is neither token nor user name
  Impersonation impersonate;
  std::optional<AwsSigning> signing;  // instead of all of the above but TLS; not with a fence
  std::string tls_server_name;        // the name to ask for and to verify, when it is not the server's host
  bool insecure_skip_tls_verify = false;
  bool disable_compression = false;  // whatever the client's options say
  std::string proxy_url;  // http, https, socks5; "": as the environment says (HTTPS_PROXY, NO_PROXY), except for
                          // loopback servers
  std::string default_namespace = "default";
  std::string context;  // its name in the kubeconfig, for messages
  friend bool operator==(const Connection&, const Connection&) = default;
};

// For messages: an address without what may be secret in it, whether or not it is a URL:
// "https://***@10.0.0.1:6443/?***".
std::string WithoutSecrets(absl::string_view url);

}  // namespace gangway::kube
