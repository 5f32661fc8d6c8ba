#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "cmd/archive/record.h"
#include "cmd/archive/sink.h"

namespace gangway::cmd {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr std::size_t kLineHead = 256;  // in which the UID stands

absl::Status Wrong(const std::string& path, absl::string_view what, int why) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": ", what, why == 0 ? "" : ": ", why == 0 ? "" : std::strerror(why)));
}

absl::StatusOr<std::string> ReadAt(int fd, const std::string& path, off_t at, std::size_t count) {
  std::string out(count, '\0');
  std::size_t got = 0;
  while (got < count) {
    const ssize_t n = pread(fd, out.data() + got, count - got, at + static_cast<off_t>(got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Wrong(path, "cannot be read", errno);
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  out.resize(got);
  return out;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FileSink>> FileSink::Open(Loop& loop, const std::string& path) {
  std::unique_ptr<FileSink> sink(new FileSink(loop, path));
  GW_RETURN_IF_ERROR(sink->Reopen());
  return sink;
}

FileSink::~FileSink() {
  if (fd_ >= 0) close(fd_);
}

absl::Status FileSink::Reopen() {
  if (fd_ >= 0) close(fd_);
  fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (fd_ < 0) return Wrong(path_, "cannot be opened", errno);
  struct stat about{};
  if (fstat(fd_, &about) != 0) return Wrong(path_, "cannot be looked at", errno);
  if (!S_ISREG(about.st_mode)) return Wrong(path_, "is no file", 0);
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0)
    return Wrong(path_, "another gangway archive writes it; each needs a file of its own", 0);
  return DropBrokenLine();
}

absl::Status FileSink::DropBrokenLine() {
  const off_t size = lseek(fd_, 0, SEEK_END);
  if (size <= 0) return absl::OkStatus();
  GW_ASSIGN_OR_RETURN(const std::string head, ReadAt(fd_, path_, 0, kLineHead));
  if (UidOfLine(head).empty() && absl::string_view(R"({"uid":")").substr(0, head.size()) != head)
    return Wrong(path_, "its first line is no record of an archive; give another file", 0);
  off_t end = size;  // behind the last line break
  while (end > 0) {
    const off_t from = end > static_cast<off_t>(kPiece) ? end - static_cast<off_t>(kPiece) : 0;
    GW_ASSIGN_OR_RETURN(const std::string piece, ReadAt(fd_, path_, from, static_cast<std::size_t>(end - from)));
    const std::size_t at = piece.rfind('\n');
    if (at != std::string::npos) {
      end = from + static_cast<off_t>(at) + 1;
      break;
    }
    end = from;
  }
  if (end == size) return absl::OkStatus();
  log::Warning("the last line of the archive broke off; it is taken away and written anew where its job is still there",
               {{"file", path_}, {"bytes", static_cast<std::int64_t>(size - end)}});
  return ftruncate(fd_, end) == 0 ? absl::OkStatus() : Wrong(path_, "cannot be shortened", errno);
}

absl::StatusOr<std::set<std::string>> FileSink::Known(const std::set<std::string>& uids) {
  std::set<std::string> known;
  std::string begun;  // the beginning of the line that is read
  const auto take = [&](absl::string_view more) {
    if (begun.size() < kLineHead) absl::StrAppend(&begun, more.substr(0, kLineHead - begun.size()));
  };
  for (off_t at = 0;;) {
    GW_ASSIGN_OR_RETURN(const std::string piece, ReadAt(fd_, path_, at, kPiece));
    if (piece.empty()) return known;
    at += static_cast<off_t>(piece.size());
    absl::string_view rest = piece;
    for (std::size_t end = rest.find('\n'); end != absl::string_view::npos; end = rest.find('\n')) {
      take(rest.substr(0, end));
      rest.remove_prefix(end + 1);
      if (const std::string uid(UidOfLine(begun)); uids.contains(uid)) known.insert(uid);
      begun.clear();
    }
    take(rest);
  }
}

absl::Status FileSink::Append(const std::string& line) {
  struct stat ours{}, there{};
  if (fd_ < 0 || fstat(fd_, &ours) != 0 || stat(path_.c_str(), &there) != 0 || ours.st_ino != there.st_ino ||
      ours.st_dev != there.st_dev) {
    GW_RETURN_IF_ERROR(Reopen());
  }
  const off_t before = lseek(fd_, 0, SEEK_END);
  const std::string text = absl::StrCat(line, "\n");
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(fd_, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    written += static_cast<std::size_t>(n);
  }
  if (written == text.size() && fdatasync(fd_) == 0) return absl::OkStatus();
  const int why = errno;
  if (ftruncate(fd_, before) != 0)
    log::Error("half a line stays in the archive until it is opened again", {{"file", path_}});
  return absl::UnavailableError(absl::StrCat(path_, ": cannot be written: ", std::strerror(why)));
}

void FileSink::Put(const Record& record, Done done) {
  loop_.Post(owner_.token(),
             [done = std::move(done), status = Append(record.line)]() mutable { done(std::move(status)); });
}

}  // namespace gangway::cmd
