#include "tests/cmd/gangway/extender_process.h"

#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "tests/cmd/gangway/gangway_process.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

std::vector<std::string> CommandLine(std::vector<std::string> flags) {
  if (std::find(flags.begin(), flags.end(), "--metrics-addr") == flags.end())
    flags.insert(flags.end(), {"--metrics-addr", "127.0.0.1:0"});
  flags.insert(flags.begin(), {GW_GANGWAY, "extender", "--listen", "127.0.0.1:0"});
  return flags;
}

}  // namespace

ExtenderProcess::ExtenderProcess(std::vector<std::string> flags) : process_(CommandLine(std::move(flags)), output_) {
  GW_CHECK(Eventually([&] { return !After("metrics at ").empty(); }));
}

std::string ExtenderProcess::After(const std::string& mark) const {
  const std::string text = output();
  const std::size_t at = text.find(mark);
  const std::size_t end = text.find('\n', at == std::string::npos ? text.size() : at);
  return end == std::string::npos ? "" : text.substr(at + mark.size(), end - at - mark.size());
}

int ExtenderProcess::http_port() const {
  const std::string said = After("Volcano's extender (");
  return said.empty() ? 0 : std::atoi(said.c_str() + said.rfind(':') + 1);
}

std::string ExtenderProcess::pages() const {
  const std::string metrics = After("metrics at ");
  return metrics.substr(0, metrics.rfind('/'));
}
std::string ExtenderProcess::Page(const std::string& path) const { return *Get(pages(), path).body; }
int ExtenderProcess::PageCode(const std::string& path) const { return Get(pages(), path).code; }

}  // namespace gangway::testutil
