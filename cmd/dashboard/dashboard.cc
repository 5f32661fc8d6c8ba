#include "cmd/dashboard/dashboard.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/paddle_resources.h"
#include "api/resource.h"
#include "base/percent.h"
#include "base/strings.h"
#include "cmd/dashboard/page/files.h"
#include "cmd/dashboard/page/page.h"
#include "cmd/dashboard/page/words.h"
#include "cmd/dashboard/view/view.h"
#include "kube/serve/pages.h"

namespace gangway::dashboard {
namespace {

constexpr absl::Duration kTick = absl::Seconds(20);  // who is gone without a word is noticed, and what cannot be read
constexpr char kHeartbeat[] = ": \n\n";
constexpr std::size_t kMaxQuery = 200;

// The first of that name in a query, decoded; "" when it is absent or broken.
std::string Parameter(absl::string_view query, absl::string_view name) {
  for (const absl::string_view part : absl::StrSplit(query, '&')) {
    const std::pair<absl::string_view, absl::string_view> words = absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (words.first == name) return PercentDecode(words.second.substr(0, kMaxQuery), true).value_or("");
  }
  return "";
}

kube::Response Answer(absl::string_view content_type, std::string body) {
  kube::Response response;
  response.code = 200;
  response.content_type = std::string(content_type);
  response.body = MakeBytes(std::move(body));
  return response;
}

}  // namespace

struct Dashboard::Sources {
  Sources(Loop& loop, kube::Client& client, std::vector<std::string> namespaces)
      : informers(loop, client, nullptr, std::move(namespaces)) {}

  template <class T>
  kube::Informer<T>& Watch(const api::Resource& resource, kube::Selection selection,
                           typename kube::Informer<T>::OnChange on_change, Token token,
                           kube::AnyInformer::OnSynced on_synced) {
    selection.optional = true;
    kube::Informer<T>& informer = informers.Of<T>(resource, selection);
    informer.Listen(std::move(token), std::move(on_change), std::move(on_synced));
    all.push_back(&informer);
    return informer;
  }

  kube::Informers informers;
  std::vector<kube::AnyInformer*> all;
  kube::Informer<api::volcano::Queue>* queues = nullptr;
  kube::Informer<api::volcano::PodGroup>* groups = nullptr;
  kube::Informer<api::volcano::Job>* jobs = nullptr;
  kube::Informer<api::paddle::PaddleJob>* paddle_jobs = nullptr;
  kube::Informer<api::paddle::kubeflow::PaddleJob>* kubeflow_jobs = nullptr;
  kube::Informer<api::core::Node>* nodes = nullptr;
};

// One open page.
class Dashboard::Viewer final : public kube::Watch {
 public:
  Viewer(Dashboard& of, Lang lang, std::uint64_t from, kube::Client::OnFrames on_frames)
      : of_(of), lang_(lang), version_(from), on_frames_(std::move(on_frames)) {
    of_.viewers_.insert(this);
  }
  ~Viewer() override { of_.viewers_.erase(this); }

  Lang lang() const { return lang_; }
  std::uint64_t version() const { return version_; }
  void Send(Bytes event, std::uint64_t version) {
    version_ = version;
    on_frames_({{kube::FrameType::kModified, std::move(event)}});
  }

 private:
  Dashboard& of_;
  const Lang lang_;
  std::uint64_t version_;  // that its page shows
  kube::Client::OnFrames on_frames_;
};

Dashboard::Dashboard(Loop& loop, kube::Client& client, DashboardOptions options)
    : loop_(loop),
      options_(std::move(options)),
      epoch_(absl::StrCat(absl::Hex(loop.Random()), ".")),
      sources_(std::make_unique<Sources>(loop, client, options_.namespaces)) {
  const auto changed = [this](const auto&...) { OnChange(); };
  const Token token = owner_.token();
  Sources& from = *sources_;
  from.queues = &from.Watch<api::volcano::Queue>(api::kQueues, {}, changed, token, changed);
  from.groups = &from.Watch<api::volcano::PodGroup>(api::kPodGroups, {}, changed, token, changed);
  from.jobs = &from.Watch<api::volcano::Job>(api::kJobs, {}, changed, token, changed);
  from.paddle_jobs = &from.Watch<api::paddle::PaddleJob>(api::paddle::kPaddleJobs, {}, changed, token, changed);
  from.kubeflow_jobs =
      &from.Watch<api::paddle::kubeflow::PaddleJob>(api::paddle::kubeflow::kPaddleJobs, {}, changed, token, changed);
  from.nodes = &from.Watch<api::core::Node>(api::kNodes, {}, changed, token, changed);
  from.Watch<api::core::Pod>(
      api::kPods, {.keep = false},
      [this](const api::NamespacedName& key, const auto&, const auto& after) {
        if (after == nullptr) {
          pods_.erase(key);
        } else {
          pods_[key] = PodSeenOf(*after);
        }
        OnChange();
      },
      token, changed);
  from.Watch<cmd::JobEvent>(
      api::kEvents, {.fields = "involvedObject.kind=Job", .keep = false},
      [this](const api::NamespacedName& key, const auto&, const auto& after) {
        if (after == nullptr) {
          events_.erase(key);
        } else {
          events_[key] = EventSeenOf(*after);
        }
        OnChange();
      },
      token, changed);
}

Dashboard::~Dashboard() = default;

void Dashboard::Start() {
  if (!std::exchange(started_, true)) sources_->informers.Start();
}

std::vector<std::string> Dashboard::NotSeen() const {
  std::vector<std::string> lines;
  for (const kube::AnyInformer* informer : sources_->all) {
    std::string problem = informer->problem();
    if (!problem.empty() && std::find(lines.begin(), lines.end(), problem) == lines.end())
      lines.push_back(std::move(problem));
  }
  return lines;
}

Seen Dashboard::See() const {
  Seen seen;
  const auto keep = [](auto& into) {
    return [&into](const api::NamespacedName&, const auto& object) {
      if (object != nullptr) into.push_back(object);
    };
  };
  sources_->queues->ForEach(keep(seen.queues));
  sources_->groups->ForEach(keep(seen.groups));
  sources_->jobs->ForEach(keep(seen.jobs));
  sources_->paddle_jobs->ForEach(keep(seen.paddle_jobs));
  sources_->kubeflow_jobs->ForEach(keep(seen.kubeflow_jobs));
  sources_->nodes->ForEach(keep(seen.nodes));
  for (const auto& [key, pod] : pods_) seen.pods.push_back(&pod);
  for (const auto& [key, event] : events_) seen.events.push_back(&event);
  seen.not_seen = NotSeen();
  return seen;
}

void Dashboard::OnChange() {
  ++changes_;
  if (viewers_.empty() || std::exchange(due_, true)) return;
  loop_.PostAt(pace_.Next(loop_.Now()), owner_.token(), [this] { ShowViewers(); });
}

void Dashboard::Show(Lang lang) {
  std::uint64_t& shown = shown_[static_cast<std::size_t>(lang)];
  if (std::exchange(shown, changes_) == changes_) return;
  const Seen seen = See();
  last_not_seen_ = seen.not_seen;
  SheetOf(lang).Take(RowsOf(MakeView(seen), lang));
}

// Those that show the same are sent the same bytes.
void Dashboard::ShowViewers() {
  due_ = false;
  pace_.Showed(loop_.Now());
  absl::btree_map<std::pair<Lang, std::uint64_t>, Bytes> events;
  for (Viewer* viewer : std::vector<Viewer*>(viewers_.begin(), viewers_.end())) {
    const Lang lang = viewer->lang();
    Show(lang);
    const Sheet& sheet = SheetOf(lang);
    if (viewer->version() == sheet.version()) continue;
    Bytes& event = events[{lang, viewer->version()}];
    if (event == nullptr) {
      const std::optional<std::string> change = sheet.ChangedSince(viewer->version(), epoch_);
      event = MakeBytes(change.has_value() ? absl::StrCat("event: change\ndata: ", *change, "\n\n")
                                           : std::string("event: anew\ndata:\n\n"));
    }
    viewer->Send(event, sheet.version());
  }
}

// While somebody looks.
void Dashboard::Tick() {
  if (viewers_.empty()) {
    ticking_ = false;
    return;
  }
  static const Bytes kBeat = MakeBytes(kHeartbeat);
  for (Viewer* viewer : std::vector<Viewer*>(viewers_.begin(), viewers_.end())) viewer->Send(kBeat, viewer->version());
  if (NotSeen() != last_not_seen_) OnChange();
  loop_.PostAt(loop_.Now() + kTick, owner_.token(), [this] { Tick(); });
}

void Dashboard::HandleRequest(kube::Request request, kube::HttpCaller caller, Respond respond) {
  if (request.method != "GET") return respond(kube::TextPage(405, "this page is only read"));
  if (const PageFile* const file = FindFile(request.path); file != nullptr)
    return respond(Answer(file->content_type, std::string(file->text)));
  if (request.path != "/") return respond(kube::TextPage(404, "there is no such page; the dashboard is at /"));
  Start();
  PageText text;
  text.lang = ChooseLang(Parameter(request.query, "lang"), caller.languages);
  text.query = Parameter(request.query, "q");
  text.server = options_.server;
  text.reading =
      !std::all_of(sources_->all.begin(), sources_->all.end(), [](const auto* informer) { return informer->synced(); });
  if (NotSeen() != last_not_seen_) ++changes_;
  Show(text.lang);
  text.version = absl::StrCat(epoch_, SheetOf(text.lang).version());
  respond(Answer("text/html; charset=utf-8", RenderPage(SheetOf(text.lang).rows(), text)));
}

kube::HttpHandler::WatchAnswer Dashboard::StartWatch(kube::Request request, kube::HttpCaller caller,
                                                     kube::Client::OnFrames on_frames, kube::Client::OnEnd) {
  Start();
  WatchAnswer answer;
  if (request.method != "GET") {
    answer.refused = kube::TextPage(405, "this page is only read");
    return answer;
  }
  const Lang lang = ChooseLang(Parameter(request.query, "lang"), caller.languages);
  const std::string from_text = Parameter(request.query, "from");
  absl::string_view from = from_text;
  std::uint64_t version = 0;
  // A version that is not ours is higher than all of them: the page begins anew.
  if (!absl::ConsumePrefix(&from, epoch_) || !absl::SimpleAtoi(from, &version))
    version = std::numeric_limits<std::uint64_t>::max();
  answer.watch = std::make_unique<Viewer>(*this, lang, version, std::move(on_frames));
  answer.content_type = "text/event-stream";
  answer.text = true;
  loop_.Post(owner_.token(), [this] { ShowViewers(); });
  if (!std::exchange(ticking_, true)) loop_.PostAt(loop_.Now() + kTick, owner_.token(), [this] { Tick(); });
  return answer;
}

}  // namespace gangway::dashboard
