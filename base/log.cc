#include "base/log.h"

#include <atomic>
#include <charconv>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "absl/base/thread_annotations.h"
#include "absl/container/node_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/mutex.h"
#include "base/printable.h"
#include "base/utf8.h"

namespace gangway::log {
namespace {

constexpr std::size_t kRememberedLines = 1024;

std::string_view LevelName(Level level) {
  switch (level) {
    case Level::kDebug:
      return "debug";
    case Level::kInfo:
      return "info";
    case Level::kWarning:
      return "warning";
    case Level::kError:
      return "error";
    case Level::kOff:
      return "off";
  }
  return "";
}

spdlog::level::level_enum ToSpdlog(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarning:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
    case Level::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

// base/ stands below api/json.h; a log line needs no more of JSON than this.
void AppendQuoted(absl::string_view s, std::string& out) {
  out += '"';
  for (std::size_t i = 0; i < s.size();) {
    const std::size_t n = Utf8Length(s, i);
    const char c = s[i];
    if (n == 0) {
      out += "\xef\xbf\xbd";
      ++i;
      continue;
    }
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (const std::uint32_t code = Utf8Decode(s, i, n); IsPrintable(code)) {
      out.append(s.data() + i, n);
    } else {
      out += EscapeForJson(code);
    }
    i += n;
  }
  out += '"';
}

// In the text format a word needs no quotes.
void AppendWord(absl::string_view s, std::string& out) {
  bool plain = !s.empty();
  for (const char c : s) plain = plain && c > ' ' && c < 0x7f && c != '"' && c != '\\' && c != '=';
  if (plain) {
    absl::StrAppend(&out, s);
  } else {
    AppendQuoted(s, out);
  }
}

void AppendText(absl::string_view s, Format format, std::string& out) {
  format == Format::kJson ? AppendQuoted(s, out) : AppendWord(s, out);
}

void AppendDouble(double v, std::string& out) {
  if (!(v - v == 0)) {  // JSON has no infinity
    out += "null";
    return;
  }
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, v);
  out.append(buffer, end.ptr);
}

void AppendValue(const Field::Value& value, Format format, std::string& out) {
  if (const auto* view = std::get_if<absl::string_view>(&value)) return AppendText(*view, format, out);
  if (const auto* text = std::get_if<std::string>(&value)) return AppendText(*text, format, out);
  if (const auto* i = std::get_if<std::int64_t>(&value)) return absl::StrAppend(&out, *i);
  if (const auto* u = std::get_if<std::uint64_t>(&value)) return absl::StrAppend(&out, *u);
  if (const auto* d = std::get_if<double>(&value)) return AppendDouble(*d, out);
  out += std::get<bool>(value) ? "true" : "false";
}

// Everything of a line but its time and its end; what makes two lines the same.
std::string Body(Level level, Format format, absl::string_view msg, Fields fields) {
  std::string body;
  const bool json = format == Format::kJson;
  if (json) {
    absl::StrAppend(&body, "\"level\":\"", View(LevelName(level)), "\",\"msg\":");
    AppendQuoted(msg, body);
  } else {
    absl::StrAppend(&body, View(LevelName(level)), " ", OneLine(msg));
  }
  for (const Field& field : fields) {
    if (json) {
      body += ',';
      AppendQuoted(field.key(), body);
      body += ':';
    } else {
      absl::StrAppend(&body, " ", field.key(), "=");
    }
    AppendValue(field.value(), format, body);
  }
  return body;
}

class Logger {
 public:
  explicit Logger(Options options)
      : level_(options.level),
        format_(options.format),
        window_(options.repeat_window),
        sink_(std::move(options.sink)),
        now_(std::move(options.now)) {
    if (!sink_) {
      out_ = std::make_unique<spdlog::logger>("gangway", std::make_shared<spdlog::sinks::stderr_sink_mt>());
      out_->set_pattern("%v");
      out_->set_level(ToSpdlog(level_));
      out_->flush_on(spdlog::level::debug);
    }
  }

  bool Enabled(Level level) const { return level >= level_ && level != Level::kOff; }

  void Write(Level level, absl::string_view msg, Fields fields) {
    std::string body = Body(level, format_, msg, fields);
    MutexLock lock(mu_);  // held while writing too: lines come out in the order of their times
    const absl::Time now = now_ ? now_() : absl::Now();
    if (window_ <= absl::ZeroDuration()) return Print(now, level, body, 0);
    PrintExpired(now);
    body.shrink_to_fit();  // it may be kept
    const auto [it, fresh] = seen_.try_emplace(std::move(body), Seen{level, 0});
    if (!fresh) {
      ++it->second.repeats;
      return;
    }
    order_.emplace_back(now, &it->first);
    Print(now, level, it->first, 0);
  }

  void Flush() {
    MutexLock lock(mu_);
    const absl::Time now = now_ ? now_() : absl::Now();
    while (!order_.empty()) Expire(now);
    if (out_) out_->flush();
  }

 private:
  struct Seen {
    Level level;
    std::int64_t repeats;  // not printed
  };

  void PrintExpired(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    while (!order_.empty() && (now - order_.front().first >= window_ || order_.size() >= kRememberedLines)) Expire(now);
  }

  void Expire(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const auto it = seen_.find(*order_.front().second);
    if (it->second.repeats > 0) Print(now, it->second.level, it->first, it->second.repeats);
    seen_.erase(it);
    order_.pop_front();
  }

  void Print(absl::Time now, Level level, absl::string_view body, std::int64_t repeats)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const std::string ts = absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", now, absl::UTCTimeZone());
    std::string line =
        format_ == Format::kJson ? absl::StrCat("{\"ts\":\"", ts, "\",", body) : absl::StrCat(ts, " ", body);
    if (repeats > 0) absl::StrAppend(&line, format_ == Format::kJson ? ",\"repeated\":" : " repeated=", repeats);
    if (format_ == Format::kJson) line += '}';
    if (sink_) {
      sink_(line);
    } else {
      out_->log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
    }
  }

  const Level level_;
  const Format format_;
  const absl::Duration window_;
  Mutex mu_;
  absl::AnyInvocable<void(absl::string_view)> sink_ ABSL_GUARDED_BY(mu_);
  absl::AnyInvocable<absl::Time()> now_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<spdlog::logger> out_;
  absl::node_hash_map<std::string, Seen> seen_ ABSL_GUARDED_BY(mu_);
  std::deque<std::pair<absl::Time, const std::string*>> order_ ABSL_GUARDED_BY(mu_);  // when first printed
};

// Loggers are never destroyed: another thread may be printing with the one before, or in the end of the process.
class Loggers {
 public:
  Logger& current() const { return *current_.load(std::memory_order_acquire); }
  void Replace(Options options) {
    auto fresh = std::make_unique<Logger>(std::move(options));
    Logger* const before = current_.exchange(fresh.get());
    {
      MutexLock lock(mu_);
      all_.push_back(std::move(fresh));
    }
    if (before != nullptr) before->Flush();
  }
  static Loggers& Get() {
    static Loggers* const loggers = [] {
      auto* made = new Loggers;
      made->Replace({});
      return made;
    }();
    return *loggers;
  }

 private:
  std::atomic<Logger*> current_ = nullptr;
  Mutex mu_;
  std::vector<std::unique_ptr<Logger>> all_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

void Configure(Options options) { Loggers::Get().Replace(std::move(options)); }

bool ParseLevel(absl::string_view text, Level& level) {
  for (const Level l : {Level::kDebug, Level::kInfo, Level::kWarning, Level::kError, Level::kOff}) {
    if (text == View(LevelName(l))) {
      level = l;
      return true;
    }
  }
  return false;
}

bool Enabled(Level level) { return Loggers::Get().current().Enabled(level); }

void Write(Level level, absl::string_view msg, Fields fields) {
  Logger& logger = Loggers::Get().current();
  if (logger.Enabled(level)) logger.Write(level, msg, fields);
}

void Flush() { Loggers::Get().current().Flush(); }

}  // namespace gangway::log
