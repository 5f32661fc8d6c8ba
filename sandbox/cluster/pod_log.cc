#include "sandbox/cluster/pod_log.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace gangway::sandbox {
namespace {

// As a kubelet stamps lines: nine digits always.
std::string Stamp(absl::Time at) { return absl::FormatTime("%Y-%m-%dT%H:%M:%E9SZ", at, absl::UTCTimeZone()); }

constexpr std::size_t kMaxPiece = 64u << 10;

}  // namespace

void LogText::Begin(const ContainerLog& log) {
  const std::int64_t end = log.Count(began_);
  next_ = log.FirstKept(began_);
  while (next_ < end && log.TimeOf(next_) < query_.since) ++next_;
  if (query_.tail_lines.has_value()) next_ = std::max(next_, end - *query_.tail_lines);
}

void LogText::Append(const ContainerLog& log, absl::Time now, std::string& out) {
  if (next_ < 0) Begin(log);
  if (log.written != nullptr)
    next_ = std::max(next_, log.written->first_kept());  // the log may have dropped some since
  const std::size_t before = out.size();
  for (const std::int64_t end = log.Count(now); next_ < end && !full_; ++next_) {
    const LogLine line = log.Line(next_);
    if (line.at < query_.since) continue;
    if (query_.timestamps && line_begins_) absl::StrAppend(&out, Stamp(line.at), " ");
    line_begins_ = !line.partial;
    absl::StrAppend(&out, line.text, line.partial ? "" : "\n");
    full_ = query_.limit_bytes.has_value() &&
            written_ + static_cast<std::int64_t>(out.size() - before) >= *query_.limit_bytes;
  }
  if (full_) out.resize(before + static_cast<std::size_t>(*query_.limit_bytes - written_));
  written_ += static_cast<std::int64_t>(out.size() - before);
}

struct PodLogFollower::Stream {
  Stream(std::uint64_t number, LogQuery asked, absl::Time now)
      : id(number), query(asked), text(std::move(asked), now) {}
  const std::uint64_t id;
  const LogQuery query;
  LogText text;
  ContainerLog log;  // as it was seen last
  kube::Client::OnFrames on_frames;
  kube::Client::OnEnd on_end;
  Loop::TimerId timer = 0;
  bool dropped = false;  // by whoever held it
};

class PodLogFollower::Handle final : public kube::Watch {
 public:
  Handle(std::weak_ptr<PodLogFollower*> follower, std::shared_ptr<Stream> stream)
      : follower_(std::move(follower)), stream_(std::move(stream)) {}
  ~Handle() override {
    stream_->dropped = true;
    const auto follower = follower_.lock();
    if (follower == nullptr) return;
    (*follower)->loop_.Cancel(stream_->timer);
    (*follower)->streams_.erase(stream_->id);
  }

 private:
  const std::weak_ptr<PodLogFollower*> follower_;
  const std::shared_ptr<Stream> stream_;
};

absl::StatusOr<std::unique_ptr<kube::Watch>> PodLogFollower::Start(const LogQuery& query,
                                                                   kube::Client::OnFrames on_frames,
                                                                   kube::Client::OnEnd on_end) {
  absl::StatusOr<ContainerLog> log = read_(query);
  if (!log.ok()) return log.status();
  auto stream = std::make_shared<Stream>(++last_id_, query, loop_.Now());
  stream->log = *std::move(log);
  stream->on_frames = std::move(on_frames);
  stream->on_end = std::move(on_end);
  streams_[stream->id] = stream;
  loop_.Post(owner_.token(), [this, stream] { Look(stream); });
  return std::make_unique<Handle>(self_, stream);
}

void PodLogFollower::Look(const std::shared_ptr<Stream>& stream) {
  if (stream->dropped || !streams_.contains(stream->id)) return;
  const absl::Time now = loop_.Now();
  absl::StatusOr<ContainerLog> log = read_(stream->query);
  // The run we began with may be the previous one by now, or have gone.
  if (log.ok() && log->restarts > stream->log.restarts && !stream->query.previous) {
    LogQuery previous = stream->query;
    previous.previous = true;
    log = read_(previous);
  }
  const bool there = log.ok() && log->restarts == stream->log.restarts;
  if (there) {
    // Of a run that is over only whole seconds may be known by now.
    const absl::Time started = stream->log.started, ends = stream->log.ends;
    stream->log = *std::move(log);
    stream->log.started = started;
    stream->log.ends = ends;
    if (std::optional<absl::Time>& ended = stream->log.ended; ended.has_value()) {
      if (ends != absl::InfiniteFuture() && absl::FromUnixSeconds(absl::ToUnixSeconds(ends)) == *ended) ended = ends;
      ended = std::max(*ended, started);
    }
  }
  std::string text;
  stream->text.Append(stream->log, now, text);
  std::vector<kube::Frame> frames;
  for (std::size_t at = 0; at < text.size(); at += kMaxPiece)
    frames.push_back({kube::FrameType::kAdded, MakeBytes(text.substr(at, kMaxPiece))});
  if (!frames.empty()) stream->on_frames(std::move(frames));
  if (stream->dropped) return;
  if (!stream->query.follow || stream->text.full() || !there || stream->log.ended.has_value())
    return End(stream, absl::OkStatus());
  const absl::Time next = stream->log.TimeOf(stream->text.next());
  loop_.Cancel(stream->timer);
  stream->timer =
      next == absl::InfiniteFuture() ? 0 : loop_.PostAt(next, owner_.token(), [this, stream] { Look(stream); });
}

void PodLogFollower::End(const std::shared_ptr<Stream>& stream, absl::Status status) {
  loop_.Cancel(stream->timer);
  if (streams_.erase(stream->id) > 0) stream->on_end(std::move(status));
}

void PodLogFollower::Poke(const std::string& uid) {
  for (const auto& [id, stream] : streams_) {
    if (stream->query.uid != uid) continue;
    loop_.Post(owner_.token(), [this, held = stream] { Look(held); });
  }
}

void PodLogFollower::BreakAll() {
  std::vector<std::shared_ptr<Stream>> open;
  for (const auto& [id, stream] : streams_) open.push_back(stream);
  for (const auto& stream : open) End(stream, absl::UnavailableError("the kubelet is gone"));
}

}  // namespace gangway::sandbox
