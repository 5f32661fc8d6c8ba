// `gangway extender` as a process, on free ports of loopback.
#pragma once

#include <string>
#include <vector>

#include "tests/process/process.h"

namespace gangway::testutil {

// Of --http-budget: longer than an answer takes on a busy machine. What is late is answered without a plan.
inline constexpr char kAmpleBudget[] = "30s";

class ExtenderProcess {
 public:
  // With its pages, and these flags. Serving when the constructor returns.
  explicit ExtenderProcess(std::vector<std::string> flags = {});

  std::string address() const { return After("extender at "); }  // of gRPC
  int http_port() const;                                         // of Volcano's verbs; 0: none are served
  std::string Page(const std::string& path) const;               // its text
  int PageCode(const std::string& path) const;
  // All it wrote so far.
  std::string output() const { return ReadFile(output_); }
  ChildProcess& process() { return process_; }

 private:
  // The rest of the line after `mark`; "" until it is there.
  std::string After(const std::string& mark) const;
  std::string pages() const;

  const TemporaryFolder folder_{"gangway-extender"};
  const std::string output_ = folder_.path() + "/out";
  ChildProcess process_;
};

}  // namespace gangway::testutil
