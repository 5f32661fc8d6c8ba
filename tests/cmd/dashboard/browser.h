// Chromium without a window, driven over its pipe by the DevTools protocol
// (chromedevtools.github.io/devtools-protocol).
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/json_value.h"
#include "tests/testing/files.h"

namespace gangway::testutil {

bool HasBrowser();

// One page. Used on one thread; every call waits for its answer, 30 s at most.
class Browser {
 public:
  // The window's size, in pixels.
  Browser(int width, int height);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  // `parameters` is a JSON object. The result; an object with "error" when there is none.
  boost::json::value Call(absl::string_view method, absl::string_view parameters = "{}");
  // Waits for the page to have loaded.
  void Open(const std::string& url);
  // The value of an expression, as text.
  std::string Evaluate(absl::string_view expression);
  // Whether it becomes this text.
  bool Becomes(absl::string_view expression, absl::string_view text);
  void Press(absl::string_view key);
  std::string Picture();  // a PNG
  // What the browser logged: errors of scripts, what the page's policy refused.
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  boost::json::value Receive();
  boost::json::value CallAs(absl::string_view session, absl::string_view method, absl::string_view parameters);

  const TemporaryFolder folder_;
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  std::string session_, received_;
  int calls_ = 0;
  std::vector<std::string> complaints_;
};

}  // namespace gangway::testutil
