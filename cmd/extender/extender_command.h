// `gangway extender`: the gRPC service, and what Volcano's extender plugin asks, in a process of its own.
#pragma once

#include <cstdint>
#include <string>

#include "cmd/extender/extender_http.h"

namespace gangway::cmd {

struct ExtenderFlags {
  std::string listen = "127.0.0.1:9443";
  std::string tls_cert, tls_key, client_ca;
  bool insecure = false;
  std::int64_t max_message_bytes = std::int64_t{16} << 20;
  int max_connections = 1000;
  int max_calls = 16;
  int max_streams = 4;
  std::int64_t max_stream_bytes = std::int64_t{256} << 20;
  int threads = 2;
  std::string default_deadline = "30s";
  std::string drain_timeout = "10s";
  std::string metrics_addr;
  std::string scheduler_conf;  // a file; empty: none
  ExtenderHttpFlags http;
  std::string log_level = "info";
  std::string log_format = "text";
};

// Until SIGINT or SIGTERM. The process's exit code: 0 ended by a signal, 2 a flag or a file is wrong or the address is
// taken.
int RunExtender(const ExtenderFlags& flags);

}  // namespace gangway::cmd
