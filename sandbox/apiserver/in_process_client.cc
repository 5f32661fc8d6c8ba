#include "sandbox/apiserver/in_process_client.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "kube/client/status.h"

namespace gangway::sandbox {
namespace {

absl::Status Lost(const kube::Request& request) {
  return absl::UnavailableError(absl::StrCat(request.method, " ", request.path, ": the connection was lost"));
}

kube::Response Expired() {
  kube::Response response;
  response.code = 410;
  response.content_type = "application/json";
  response.body = MakeBytes(kube::StatusBody(410, "Expired", "too old resource version"));
  return response;
}

// How many frames of a stream may come again.
constexpr std::size_t kRemembered = 16;

void PostAfter(Loop& loop, absl::Duration delay, Token owner, Loop::Task task) {
  if (delay > absl::ZeroDuration()) {
    loop.PostAt(loop.Now() + delay, std::move(owner), std::move(task));
  } else {
    loop.Post(std::move(owner), std::move(task));
  }
}

// The client's end of one watch.
struct Stream {
  kube::Request request;
  Token owner;
  kube::Client::OnFrames on_frames;
  kube::Client::OnEnd on_end;
  std::unique_ptr<kube::Watch> server_side;
  // Batches keep their order: each delivery hands over the oldest, whichever timer of the same moment runs first.
  std::deque<Loop::Task> under_way;
  absl::Time last_delivery = absl::InfinitePast();
  bool ending = false;
  bool lost_place = false;        // frames are missing, and its holder has not been told
  std::vector<kube::Frame> held;  // come behind the next batch
  std::deque<kube::Frame> remembered;
  Owner alive;  // of what is under way to the client
};

}  // namespace

struct InProcessClient::State {
  State(Loop& l, ApiServer& s, std::string name, Faults f)
      : loop(l), server(s), caller{std::move(name), false}, faults(std::move(f)) {}

  Loop& loop;
  ApiServer& server;
  const Token running = server.running();
  Caller caller;
  Faults faults;
  std::uint64_t last_stream = 0;
  absl::btree_map<std::uint64_t, std::shared_ptr<Stream>> streams;
  // Requests under way to the server outlive the client: what was sent is carried out.
  std::shared_ptr<Owner> network = std::make_shared<Owner>();
  std::vector<Token> to_be_told;  // holders of watches that lost their place and ended otherwise
  Owner alive;

  void Deliver(Stream& stream, absl::Duration delay, Loop::Task task) {
    absl::Time at = loop.Now() + delay;
    if (at < stream.last_delivery) at = stream.last_delivery;
    stream.last_delivery = at;
    stream.under_way.push_back(std::move(task));
    const auto hand_over = [&stream] {
      Loop::Task oldest = std::move(stream.under_way.front());
      stream.under_way.pop_front();
      oldest();
    };
    if (at > loop.Now()) {
      loop.PostAt(at, stream.alive.token(), hand_over);
    } else {
      loop.Post(stream.alive.token(), hand_over);
    }
  }

  void End(std::uint64_t id, absl::Duration delay, absl::Status status) {
    const auto it = streams.find(id);
    if (it == streams.end() || it->second->ending) return;
    Stream& stream = *it->second;
    stream.ending = true;
    stream.server_side.reset();
    if (!absl::IsOutOfRange(status) && std::exchange(stream.lost_place, false)) to_be_told.push_back(stream.owner);
    Deliver(stream, delay, [this, id, status = std::move(status)] {
      const auto at = streams.find(id);
      if (at == streams.end()) return;
      const std::shared_ptr<Stream> ended = at->second;
      streams.erase(at);
      if (!ended->owner.expired()) ended->on_end(status);
    });
  }

  void OnServerFrames(std::uint64_t id, std::vector<kube::Frame> frames) {
    const auto it = streams.find(id);
    if (it == streams.end() || it->second->ending) return;
    Stream& stream = *it->second;
    WatchFate fate;
    if (faults.frames) fate = faults.frames(stream.request, frames);
    if (fate.break_before) return End(id, fate.delay, Lost(stream.request));
    if (fate.end_before) return End(id, fate.delay, absl::OkStatus());
    if (fate.error_before) return EndWithError(id, fate.delay, *fate.error_before);
    if (faults.frames) Disturb(id, stream, fate, frames);
    if (!frames.empty()) HandOver(id, stream, fate.delay, std::move(frames));
  }

  void HandOver(std::uint64_t id, Stream& stream, absl::Duration delay, std::vector<kube::Frame> frames) {
    Deliver(stream, delay, [this, id, frames = std::move(frames)]() mutable {
      const auto at = streams.find(id);
      if (at == streams.end()) return;
      const std::shared_ptr<Stream> open = at->second;  // the callback may end the watch
      if (!open->owner.expired()) open->on_frames(std::move(frames));
    });
  }

  // What is left of the batch, and what comes with it.
  void Disturb(std::uint64_t id, Stream& stream, const WatchFate& fate, std::vector<kube::Frame>& frames) {
    if (fate.place != WatchFate::Place::kInOrder) {
      if (fate.place == WatchFate::Place::kBehindNext)
        stream.held.insert(stream.held.end(), frames.begin(), frames.end());
      stream.lost_place = true;
      loop.PostAt(loop.Now() + fate.found_out_after, stream.alive.token(),
                  [this, id] { EndWithError(id, absl::ZeroDuration(), Expired()); });
      return frames.clear();
    }
    frames.insert(frames.end(), stream.held.begin(), stream.held.end());
    stream.held.clear();
    const std::size_t again = std::min(fate.repeat, stream.remembered.size());
    frames.insert(frames.begin(), stream.remembered.end() - static_cast<std::ptrdiff_t>(again),
                  stream.remembered.end());
    stream.remembered.insert(stream.remembered.end(), frames.begin() + static_cast<std::ptrdiff_t>(again),
                             frames.end());
    while (stream.remembered.size() > kRemembered) stream.remembered.pop_front();
  }

  void EndWithError(std::uint64_t id, absl::Duration delay, const kube::Response& refused) {
    const auto it = streams.find(id);
    if (it == streams.end() || it->second->ending) return;
    HandOver(id, *it->second, delay, {{kube::FrameType::kError, refused.body}});
    End(id, delay, kube::StatusFromResponse(refused));
  }

  // Whether this holder's last watch lost its place; told once.
  bool MustBeTold(const Token& owner) {
    const auto it = std::find_if(to_be_told.begin(), to_be_told.end(), [&](const Token& each) {
      return !each.owner_before(owner) && !owner.owner_before(each);
    });
    if (it == to_be_told.end()) return false;
    to_be_told.erase(it);
    return true;
  }

  void Open(std::uint64_t id) {
    const auto it = streams.find(id);
    if (it == streams.end() || it->second->ending) return;
    if (running.expired()) return End(id, absl::ZeroDuration(), Lost(it->second->request));
    if (MustBeTold(it->second->owner)) return End(id, absl::ZeroDuration(), kube::StatusFromResponse(Expired()));
    ApiServer::WatchAnswer answer = server.StartWatch(
        it->second->request, caller,
        [this, id](std::vector<kube::Frame> frames) { OnServerFrames(id, std::move(frames)); },
        [this, id](absl::Status status) { End(id, absl::ZeroDuration(), std::move(status)); });
    if (answer.refused.has_value()) return End(id, absl::ZeroDuration(), kube::StatusFromResponse(*answer.refused));
    it->second->server_side = std::move(answer.watch);
  }

  // The end of a stream that its holder has destroyed.
  void Drop(std::uint64_t id) {
    const auto it = streams.find(id);
    if (it == streams.end()) return;
    if (it->second->lost_place) to_be_told.push_back(it->second->owner);
    streams.erase(it);
  }
};

namespace {

class WatchHandle final : public kube::Watch {
 public:
  explicit WatchHandle(absl::AnyInvocable<void()> drop) : drop_(std::move(drop)) {}
  ~WatchHandle() override { drop_(); }

 private:
  absl::AnyInvocable<void()> drop_;
};

}  // namespace

InProcessClient::InProcessClient(Loop& loop, ApiServer& server, std::string name, Faults faults)
    : state_(std::make_shared<State>(loop, server, std::move(name), std::move(faults))) {}
InProcessClient::~InProcessClient() = default;

void InProcessClient::Send(kube::Request request, Token owner, Done done) {
  State& state = *state_;
  RequestFate fate;
  if (state.faults.request) fate = state.faults.request(request);
  const absl::Duration request_delay = fate.request_delay;
  // The task owns its way to the server, not the client: only the answer is the client's.
  auto carry = [&loop = state.loop, &server = state.server, running = state.server.running(),
                restarts = state.server.restarts(), caller = state.caller, network = state.network,
                fate = std::move(fate), alive = state.alive.token(), owner = std::move(owner),
                request = std::move(request), done = std::move(done)]() mutable {
    absl::Status lost = Lost(request);
    auto hand_back = [&loop, &server, running, restarts, lost, delay = fate.reply_delay, alive = std::move(alive),
                      owner = std::move(owner), done = std::move(done)](absl::StatusOr<kube::Response> answer) mutable {
      if (alive.expired() || owner.expired()) return;
      PostAfter(loop, delay, owner,
                [&server, running, restarts, lost = std::move(lost), alive = std::move(alive),
                 answer = std::move(answer), done = std::move(done)]() mutable {
                  if (!running.expired() && server.restarts() != restarts) answer = std::move(lost);
                  if (!alive.expired()) done(std::move(answer));
                });
    };
    if (fate.answer) return hand_back(*std::move(fate.answer));
    if (fate.loss == RequestFate::Loss::kRequest || running.expired() || server.restarts() != restarts)
      return hand_back(lost);
    if (!fate.query.empty()) request.query = fate.query;
    if (request.method == "GET") {
      kube::Response response = server.Handle(request, caller);
      return fate.loss == RequestFate::Loss::kNone ? hand_back(std::move(response)) : hand_back(lost);
    }
    server.Serve(std::move(request), caller,
                 [lost, reply_lost = fate.loss != RequestFate::Loss::kNone, hand_back = std::move(hand_back)](
                     kube::Response response, const std::vector<Bytes>& more) mutable {
                   if (reply_lost) return hand_back(lost);
                   if (!more.empty()) {
                     std::string whole = *response.body;
                     for (const Bytes& piece : more) whole += *piece;
                     response.body = MakeBytes(std::move(whole));
                   }
                   hand_back(std::move(response));
                 });
  };
  PostAfter(state.loop, request_delay, state.network->token(), std::move(carry));
}

std::unique_ptr<kube::Watch> InProcessClient::StartWatch(kube::Request request, Token owner, OnFrames on_frames,
                                                         OnEnd on_end) {
  State& state = *state_;
  RequestFate fate;
  if (state.faults.request) fate = state.faults.request(request);
  const std::uint64_t id = ++state.last_stream;
  auto stream = std::make_shared<Stream>();
  stream->request = std::move(request);
  stream->owner = std::move(owner);
  stream->on_frames = std::move(on_frames);
  stream->on_end = std::move(on_end);
  state.streams.emplace(id, stream);
  PostAfter(state.loop, fate.request_delay, stream->alive.token(), [&state, id, fate] {
    if (fate.answer) return state.End(id, fate.reply_delay, kube::StatusFromResponse(*fate.answer));
    if (fate.loss == RequestFate::Loss::kNone) return state.Open(id);
    const auto it = state.streams.find(id);
    if (it != state.streams.end()) state.End(id, fate.reply_delay, Lost(it->second->request));
  });
  return std::make_unique<WatchHandle>([weak = std::weak_ptr<State>(state_), id] {
    if (const auto alive = weak.lock()) alive->Drop(id);
  });
}

std::unique_ptr<kube::Watch> InProcessClient::StartText(kube::Request request, Token owner, OnText on_text,
                                                        OnEnd on_end) {
  return StartWatch(std::move(request), std::move(owner), kube::TextOfFrames(std::move(on_text)), std::move(on_end));
}

void InProcessClient::ShowManagedFields() { state_->caller.managed_fields = true; }

void InProcessClient::ActAs(User user) { state_->caller.user = std::make_shared<const User>(std::move(user)); }

void InProcessClient::BreakWatches() {
  std::vector<std::uint64_t> open;
  for (const auto& entry : state_->streams) open.push_back(entry.first);
  for (const std::uint64_t id : open) {
    state_->End(id, absl::ZeroDuration(), Lost(state_->streams.at(id)->request));
  }
}

}  // namespace gangway::sandbox
