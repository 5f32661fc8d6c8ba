// The page of a cluster behind an HTTP front: it watches, and sends open pages what changes. It only reads, with its
// client's own rights, and of Secrets nothing.
//
//   GET /                the page; ?lang=en|zh, ?q=TEXT
//   GET /events          server-sent events: `change` (page/sheet.h), or `anew`: ask for the page again; ?lang,
//   ?from=VERSION GET /dashboard.css   and the other files
//
// Reading begins with Start, or with the first request. Nothing is rendered while nobody looks. Used on its loop.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "api/meta.h"
#include "base/loop.h"
#include "cmd/dashboard/page/pace.h"
#include "cmd/dashboard/page/sheet.h"
#include "cmd/dashboard/view/seen.h"
#include "kube/client/client.h"
#include "kube/runtime/informers.h"
#include "kube/serve/http_front.h"

namespace gangway::dashboard {

struct DashboardOptions {
  std::string server;                   // which cluster it is, to a reader
  std::vector<std::string> namespaces;  // only these; empty: all
};

class Dashboard final : public kube::HttpHandler {
 public:
  // The loop and the client outlive it.
  Dashboard(Loop& loop, kube::Client& client, DashboardOptions options);
  ~Dashboard() override;

  void Start();

  bool IsWatch(const kube::Request& request) override { return request.path == "/events"; }
  void HandleRequest(kube::Request request, kube::HttpCaller caller, Respond respond) override;
  WatchAnswer StartWatch(kube::Request request, kube::HttpCaller caller, kube::Client::OnFrames on_frames,
                         kube::Client::OnEnd on_end) override;

 private:
  struct Sources;  // the informers
  class Viewer;

  Sheet& SheetOf(Lang lang) { return sheets_[static_cast<std::size_t>(lang)]; }
  std::vector<std::string> NotSeen() const;
  Seen See() const;
  // Something was seen; the sheets are behind.
  void OnChange();
  void Show(Lang lang);
  void ShowViewers();
  void Tick();

  Loop& loop_;
  const DashboardOptions options_;
  const std::string epoch_;  // of versions: another process counts anew
  absl::btree_map<api::NamespacedName, PodSeen> pods_;
  absl::btree_map<api::NamespacedName, EventSeen> events_;
  std::unique_ptr<Sources> sources_;
  bool started_ = false;
  std::uint64_t changes_ = 1;
  std::array<Sheet, 2> sheets_;           // by language
  std::array<std::uint64_t, 2> shown_{};  // up to which change each is
  std::vector<std::string> last_not_seen_;
  absl::btree_set<Viewer*> viewers_;
  Pace pace_;
  bool due_ = false, ticking_ = false;
  Owner owner_;
};

}  // namespace gangway::dashboard
