// What stands in HTTP headers, in and out. Pure; private to the front.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "kube/client/client.h"

namespace gangway::kube {

// Takes "/api/v1/pods?limit=5" or the absolute form apart. False when it is neither or has bytes no target has.
bool SplitTarget(absl::string_view target, std::string& path, std::string& query);

// Whether a Host or Origin header names this machine. A page from elsewhere that makes a browser call us (also by a
// name that resolves to 127.0.0.1) does not.
bool IsLoopbackHost(absl::string_view host);
bool IsLoopbackOrigin(absl::string_view origin);

// "kubectl/v1.32.0 (linux/amd64)" -> "kubectl"
std::string CallerName(absl::string_view user_agent);

// Whether the two are equal, in a time that does not depend on where they differ.
bool SameSecret(absl::string_view a, absl::string_view b);

struct AnswerHead {
  int code = 200;
  absl::string_view content_type;
  bool chunked = false;
  std::size_t content_length = 0;  // when not chunked
  bool no_length = false;          // ends when the connection does
  bool keep_alive = true;
  bool http10 = false;
  bool read_only = false;        // which methods a 405 allows
  absl::string_view more_lines;  // whole lines of headers
};
// Status line and headers with the empty line after them. `more` may be null; its warnings and retry_after are added.
void AppendHead(const AnswerHead& head, const Response* more, std::string& out);

// Lines for AnswerHead::more_lines; line breaks in a value become blanks.
std::string HeaderLines(const std::vector<std::pair<std::string, std::string>>& headers);

// A front's own refusal: a metav1.Status.
Response RefusalResponse(int code, absl::string_view message);

}  // namespace gangway::kube
