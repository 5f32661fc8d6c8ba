// Kubernetes' API over a Store: the semantics of get, list, watch, create, update, patch and delete, their
// subresources, admission, garbage collection of owner references, namespaces and the expiry of events.
//
// Used on one loop. Callers are an HTTP front (kube/serve/http_front.h) and clients in the process
// (in_process_client.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/loop.h"
#include "kube/client/client.h"
#include "sandbox/apiserver/journal.h"
#include "sandbox/apiserver/store/store.h"
#include "sandbox/rbac/user.h"

namespace gangway::sandbox {

// Bodies beyond this are 413; a front refuses them before it has read them.
inline constexpr std::size_t kMaxBodyBytes = 3u << 20;

// The certificate that a client has shown.
struct CertifiedUser {
  User user;          // its CN, and O as groups
  std::string wrong;  // why it is not to be believed; "": it is
};

// What a request from outside says of who sends it.
struct Credentials {
  std::string authorization;  // the header
  // The headers Impersonate-*, by what is behind that, in lower case: {"user", "jane"}.
  std::vector<std::pair<std::string, std::string>> impersonate;
  std::optional<CertifiedUser> certificate = std::nullopt;
};

// Who sends a request; its name goes into the journal and, unless the request says fieldManager, into
// metadata.managedFields.
struct Caller {
  std::string name;
  // Shown metadata.managedFields. Components in the process have no use for it and would only read past it.
  bool managed_fields = true;
  std::shared_ptr<const User> user = nullptr;             // null: the sandbox's own, who may do everything
  std::optional<Credentials> credentials = std::nullopt;  // with RBAC `user` is made of them
};

// GET pods/log. Absent options are unset.
struct LogQuery {
  std::string ns, pod, uid, node, container;
  std::optional<std::int64_t> tail_lines, limit_bytes;
  absl::Time since = absl::InfinitePast();
  bool previous = false, timestamps = false, follow = false;
};
// Answers with the text, or NotFound / InvalidArgument with a message for the user. Called on the loop.
using PodLogs = absl::AnyInvocable<absl::StatusOr<std::string>(const LogQuery&)>;
// The same, and what is written from then on, until the container ends. Pieces of the text come as the objects of
// frames; callbacks as those of a watch.
using PodLogStreams = absl::AnyInvocable<absl::StatusOr<std::unique_ptr<kube::Watch>>(
    const LogQuery&, kube::Client::OnFrames, kube::Client::OnEnd)>;

// GET or POST pods/exec and pods/portforward, as checked: somebody wants a stream to a pod.
struct StreamQuery {
  std::string ns, pod, uid;
  bool forward = false;  // to its ports; otherwise a command in one of its containers:
  std::string container;
  std::vector<std::string> command;
  bool input = false, output = false, error_output = false, terminal = false;
};
// Whether it could be opened: as PodLogs, and Unimplemented when nothing could. Called on the loop.
using PodStreamCheck = absl::AnyInvocable<absl::Status(const StreamQuery&)>;

// An admission webhook is to be called.
struct WebhookCall {
  std::string server;           // "https://127.0.0.1:9443"
  std::string path, query;      // percent-encoded
  std::string tls_server_name;  // the name to verify, when it is not the server's
  std::string ca;               // PEM; "": the machine's
  absl::Duration timeout;
  std::string body;  // an AdmissionReview
};
// Calls back later on the loop, once, or never. An error says why there is no answer.
using WebhookCalls =
    absl::AnyInvocable<void(const WebhookCall&, absl::AnyInvocable<void(absl::StatusOr<kube::Response>)>)>;

// Roles and bindings are in force, and there are those that a cluster has from its beginning.
struct RbacOptions {
  std::map<std::string, User> tokens;  // by their bearer tokens; the group system:authenticated is added
  std::string token_secret;            // 32 bytes that nobody can guess: it signs the tokens of service accounts
};

struct ApiServerOptions {
  StoreOptions store;
  JournalSink journal;  // may be empty
  absl::Duration event_ttl = absl::Hours(1);
  std::size_t max_events = 20'000;  // the oldest go first
  absl::Duration bookmark_interval = absl::Minutes(1);
  std::vector<std::string> alpha_versions;  // that are served, too: "scheduling.k8s.io/v1alpha2"
  std::optional<RbacOptions> rbac;          // none: everybody may do everything
  // PEM of the authority that pods are to believe when they talk to this server: each namespace has it in the config
  // map kube-root-ca.crt, and pods have it mounted with a token of their account. "": they have neither.
  std::string root_ca;
  bool default_objects = true;  // the namespaces default, kube-*; system priority classes; a storage class; Volcano's
                                // queues root and default
};

class ApiServer {
 public:
  ApiServer(Loop& loop, ApiServerOptions options);
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  // Everything but watches and logs that are followed. Any malformed request gets a metav1.Status and changes nothing.
  // `respond` is called on the loop, once: within this call, unless webhooks have to be asked. The body of a long list
  // goes on in its second argument: in pieces, so that all who ask for the same objects share them.
  using Respond = absl::AnyInvocable<void(kube::Response, std::vector<Bytes> more)>;
  void Serve(kube::Request request, const Caller& caller, Respond respond);
  // The same at once, and so without asking a webhook. Without `more` the body is one text.
  kube::Response Handle(const kube::Request& request, const Caller& caller, std::vector<Bytes>* more = nullptr);

  // Whether `request` asks for a watch or to follow a log, and so belongs into StartWatch.
  static bool IsWatch(const kube::Request& request);

  // Frames come later, in batches, from tasks of the loop; each object is what the request's Accept asked for (the
  // object or a Table). `on_end` is called once, when the server ends the watch (timeoutSeconds: Ok; 410: the Status
  // frame came before). Nothing is called any more when the watch has been destroyed.
  struct WatchAnswer {
    std::unique_ptr<kube::Watch> watch;     // null when refused
    std::optional<kube::Response> refused;  // a Status
    std::string content_type;               // of the stream
    bool text = false;                      // a log: the objects of frames are its pieces
  };
  WatchAnswer StartWatch(const kube::Request& request, const Caller& caller, kube::Client::OnFrames on_frames,
                         kube::Client::OnEnd on_end);

  // Who answers GET pods/log; without, 404. May be set again. Without `streams` following a log ends with what is
  // there.
  void SetPodLogs(PodLogs pod_logs, PodLogStreams streams = nullptr);

  // Who calls webhooks; without, none is asked. May be set again.
  void SetWebhookCalls(WebhookCalls calls);

  // Who is asked, of a request for a stream that comes without one. May be set again.
  void SetPodStreamCheck(PodStreamCheck check);
  // What a request for a stream asks for; whoever has the connection opens it.
  struct StreamAnswer {
    std::optional<StreamQuery> query;
    std::optional<kube::Response> refused;  // a Status
  };
  StreamAnswer ReadStream(const kube::Request& request, const Caller& caller);

  // Ends every watch in an orderly way; clients resume.
  void BreakWatches();
  // As when the server is killed and comes back with what etcd has: every watch ends with Unavailable, in-process
  // requests under way get no answer, and the history is forgotten.
  void Restart();
  std::uint64_t restarts() const { return restarts_; }
  // Forgets the history, so that resuming watches and continued lists are told 410.
  void CompactHistory();

  const Store& store() const;
  // Expires with the server: for whoever holds a reference across tasks.
  Token running() const { return owner_.token(); }

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
  std::uint64_t restarts_ = 0;
  Owner owner_;
};

}  // namespace gangway::sandbox
