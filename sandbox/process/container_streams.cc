#include "sandbox/process/container_streams.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace gangway::sandbox {
namespace {

// One host may serve several of us, one after the other.
std::string NextStreamId() {
  static std::atomic<std::uint64_t> last{0};
  return absl::StrCat("stream-", last.fetch_add(1) + 1);
}

}  // namespace

struct ContainerStreams::Shared {
  struct Open {
    StreamEvents events;
    std::size_t unwritten = 0;
  };
  ContainerHost* host;  // null: it is over
  std::map<std::string, std::shared_ptr<Open>, std::less<>> open;
};

class ContainerStreams::Handle final : public ContainerStream {
 public:
  Handle(std::shared_ptr<Shared> shared, std::string id) : shared_(std::move(shared)), id_(std::move(id)) {}
  ~Handle() override {
    if (!open()) return;
    shared_->open.erase(id_);
    Say([](StreamWord& word) { word.leave = true; });
  }
  void Write(absl::string_view bytes) override {
    if (!open() || bytes.empty()) return;
    shared_->open.find(id_)->second->unwritten += bytes.size();
    shared_->host->Write(id_, bytes);
  }
  std::size_t unwritten() const override { return open() ? shared_->open.find(id_)->second->unwritten : 0; }
  void CloseInput() override {
    if (open()) Say([](StreamWord& word) { word.no_more_input = true; });
  }
  void Resize(int columns, int rows) override {
    if (open()) Say([&](StreamWord& word) { word.columns = columns, word.rows = rows; });
  }
  void Took(std::size_t bytes) override {
    if (open() && bytes > 0) Say([&](StreamWord& word) { word.took = static_cast<std::int64_t>(bytes); });
  }

 private:
  bool open() const { return shared_->open.contains(id_); }
  template <class Fill>
  void Say(Fill fill) {
    if (shared_->host == nullptr) return;
    StreamWord word;
    word.id = id_;
    fill(word);
    shared_->host->Say(word);
  }

  const std::shared_ptr<Shared> shared_;
  const std::string id_;
};

ContainerStreams::ContainerStreams(ContainerHost& host) : shared_(std::make_shared<Shared>()) { shared_->host = &host; }

ContainerStreams::~ContainerStreams() {
  std::vector<std::string> ids;
  for (const auto& [id, open] : shared_->open) ids.push_back(id);
  for (const std::string& id : ids) {
    StreamWord word;
    word.id = id;
    word.leave = true;
    shared_->host->Say(word);
  }
  EndAll("the kubelet is gone");
  shared_->host = nullptr;
}

std::unique_ptr<ContainerStream> ContainerStreams::Open(StreamOrder order, StreamEvents events) {
  order.id = NextStreamId();
  auto open = std::make_shared<Shared::Open>();
  open->events = std::move(events);
  shared_->open.emplace(order.id, std::move(open));
  shared_->host->Open(order);
  return std::make_unique<Handle>(shared_, order.id);
}

void ContainerStreams::OnOutput(absl::string_view id, bool error_output, absl::string_view bytes) {
  const auto it = shared_->open.find(id);
  if (it == shared_->open.end()) return;
  const auto held = it->second;  // what is told may end it
  held->events.on_output(error_output, bytes);
}

void ContainerStreams::OnTook(const StreamWord& word) {
  const auto it = shared_->open.find(word.id);
  if (it == shared_->open.end()) return;
  const auto held = it->second;
  const std::size_t before = held->unwritten;
  held->unwritten -= std::min(before, static_cast<std::size_t>(std::max<std::int64_t>(0, word.took)));
  if (before > kStreamWindow / 2 && held->unwritten <= kStreamWindow / 2) held->events.on_room();
}

void ContainerStreams::OnEnded(const News& news) {
  const auto it = shared_->open.find(news.id);
  if (it == shared_->open.end()) return;
  const auto held = it->second;
  shared_->open.erase(it);
  held->events.on_end({news.error, news.exit_code});
}

void ContainerStreams::EndAll(absl::string_view why) {
  const auto ending = std::exchange(shared_->open, {});
  for (const auto& [id, open] : ending) open->events.on_end({std::string(why), 128});
}

}  // namespace gangway::sandbox
