// Copies of this process that go on from where it is: what they have in common is done once.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/check.h"

namespace gangway::testutil {

// What copies, and copies of theirs, say is wrong comes together here, whoever made them. A copy is made while this
// process has one thread; nothing of it is ever waited for but by who made it.
class Copies {
 public:
  Copies() { GW_CHECK(file_ != nullptr); }
  Copies(const Copies&) = delete;

  // True in the copy, which ends with End(); false here. `name` is what is told of a copy that ends otherwise.
  bool Begin(std::string name) {
    const pid_t copy = fork();
    GW_CHECK(copy >= 0);
    if (copy == 0) {
      names_.clear();  // they are not the copy's own
      return true;
    }
    names_[copy] = std::move(name);
    return false;
  }
  [[noreturn]] void End(absl::string_view wrong) {
    if (!wrong.empty()) Tell(wrong);
    _exit(0);  // what is to be done at an exit is the first process's
  }

  // Until no more than so many are left.
  void Await(std::size_t left) {
    while (names_.size() > left) {
      int status = 0;
      const pid_t copy = wait(&status);
      GW_CHECK(copy > 0);
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        Tell(absl::StrCat(names_[copy], ": the process ended with ", WIFSIGNALED(status) ? "signal " : "code ",
                          WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)));
      names_.erase(copy);
    }
  }

  // So far, a text each.
  std::vector<std::string> wrong() const {
    std::string all;
    char part[4096];
    off_t at = 0;
    for (ssize_t got = 0; (got = pread(fileno(file_.get()), part, sizeof(part), at)) > 0; at += got)
      all.append(part, static_cast<std::size_t>(got));
    return absl::StrSplit(all, '\0', absl::SkipEmpty());
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  // They share where it is written, so that none writes over another.
  void Tell(absl::string_view text) {
    const std::string line = absl::StrCat(text, absl::string_view("\0", 1));
    GW_CHECK(write(fileno(file_.get()), line.data(), line.size()) == static_cast<ssize_t>(line.size()));
  }

  std::unique_ptr<std::FILE, Close> file_{std::tmpfile()};
  std::map<pid_t, std::string> names_;  // of those that are not known to have ended
};

}  // namespace gangway::testutil
