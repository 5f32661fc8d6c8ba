#include "translator/convert/task_template.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/core/pod_validation.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/paddle/accelerator.h"
#include "base/strings.h"
#include "translator/convert/document.h"
#include "translator/convert/requests.h"
#include "translator/convert/template_env.h"
#include "translator/convert/wait_dns.h"

namespace gangway::convert {
namespace {

namespace json = boost::json;
using api::paddle::RuntimeVariable;

constexpr absl::string_view kScheduler = "volcano", kAlways = "Always", kOnFailure = "OnFailure";
constexpr absl::string_view kHostDns = "ClusterFirstWithHostNet", kInjectSidecar = "sidecar.istio.io/inject";
constexpr absl::string_view kNameLabel = "paddle-res-name";  // paddle-operator's, of single pods
constexpr absl::string_view kVolume = "sample-set", kSharedMemory = "/dev/shm";

bool AsksForAccelerator(const json::object& container) { return api::paddle::Accelerators(container) > 0; }

// Whether a key or a text of it is this one.
bool Mentions(const json::value& value, absl::string_view word) {
  if (const json::string* const text = value.if_string()) return AbslView(*text) == word;
  if (const json::array* const list = value.if_array()) {
    return std::any_of(list->begin(), list->end(), [&](const json::value& one) { return Mentions(one, word); });
  }
  if (const json::object* const object = value.if_object()) {
    return std::any_of(object->begin(), object->end(), [&](const json::key_value_pair& one) {
      return AbslView(one.key()) == word || Mentions(one.value(), word);
    });
  }
  return false;
}

void AddConfigMap(const json::object* reference, std::set<std::string>& names) {
  const absl::string_view name = reference == nullptr ? absl::string_view() : FindText(*reference, "name");
  if (!name.empty()) names.emplace(name);
}

// Those that its env and volumes come from.
std::set<std::string> ConfigMapsOf(const json::object& spec) {
  std::set<std::string> names;
  for (const char* const list : {"containers", "initContainers"}) {
    ForEachObject(FindList(spec, list), [&](const json::object& container) {
      ForEachObject(FindList(container, "envFrom"),
                    [&](const json::object& source) { AddConfigMap(FindObject(source, "configMapRef"), names); });
      ForEachObject(FindList(container, "env"), [&](const json::object& variable) {
        const json::object* const from = FindObject(variable, "valueFrom");
        if (from != nullptr) AddConfigMap(FindObject(*from, "configMapKeyRef"), names);
      });
    });
  }
  ForEachObject(FindList(spec, "volumes"), [&](const json::object& volume) {
    AddConfigMap(FindObject(volume, "configMap"), names);
    const json::object* const projected = FindObject(volume, "projected");
    if (projected == nullptr) return;
    ForEachObject(FindList(*projected, "sources"),
                  [&](const json::object& source) { AddConfigMap(FindObject(source, "configMap"), names); });
  });
  return names;
}

class TemplateMaker {
 public:
  TemplateMaker(json::value& pod_template, const TemplateFacts& facts, Findings& findings)
      : template_(pod_template), facts_(facts), findings_(findings) {}

  TaskTemplate Make() && {
    if (!FindContainers() || !Check()) return {};
    out_.config_maps = ConfigMapsOf(*spec_);
    KeepMetadata();
    SayLabelSelectors();
    RemoveNames();
    SetScheduler();
    SetRestartPolicy();
    SetNetwork();
    WriteRequests(template_);
    FindSpec();
    MountVolume();
    ForEachContainer([&](json::object& container, std::size_t i) { FillContainer(container, i); });
    ExposePorts();
    WaitForNames();
    // Only these could clash with what the user wrote.
    if ((out_.host_network || facts_.volume.has_value()) && !HasErrors(findings_)) Check();
    Write(out_.json);
    return std::move(out_);
  }

 private:
  std::string At(absl::string_view rest) const { return absl::StrCat(facts_.field, ".", rest); }
  std::string ContainerAt(std::size_t i) const { return absl::StrCat(facts_.field, ".spec.containers[", i, "]"); }
  void Say(Code code, absl::string_view field, absl::string_view value = {}, absl::string_view rule = {},
           absl::string_view fix = {}) {
    findings_.push_back(MakeFinding(code, field, value, rule, fix));
  }

  // Objects move when their parents grow, so what is kept of them is found again after changes.
  void FindSpec() {
    spec_ = FindObject(template_.get_object(), "spec");
    containers_ = FindList(*spec_, "containers");
  }
  json::object& main() { return (*containers_)[main_].get_object(); }

  template <class F>
  void ForEachContainer(F visit) {
    for (std::size_t i = 0; i < containers_->size(); ++i) visit((*containers_)[i].get_object(), i);
  }

  bool FindContainers() {
    const json::object* const object = template_.if_object();
    const json::object* const spec = object == nullptr ? nullptr : FindObject(*object, "spec");
    const json::array* const containers = spec == nullptr ? nullptr : FindList(*spec, "containers");
    if (containers == nullptr || containers->empty()) {
      Say(Code::kNoContainer, At("spec.containers"));
      return false;
    }
    if (!std::all_of(containers->begin(), containers->end(), [](const json::value& one) { return one.is_object(); })) {
      if (Check()) Say(Code::kNoContainer, At("spec.containers"));
      return false;
    }
    FindSpec();
    if (facts_.main_container.empty()) return true;
    for (main_ = 0; main_ < containers->size(); ++main_) {
      if (FindText((*containers)[main_].get_object(), "name") == facts_.main_container) return true;
    }
    Say(Code::kNoContainer, At("spec.containers"), {},
        absl::StrCat("no container has the name ", facts_.main_container));
    return false;
  }

  // What an API server would refuse; after this the shapes are what they should be.
  bool Check() {
    const api::FieldErrors errors = api::core::CheckPodTemplate(template_, facts_.field);
    for (const api::FieldError& error : errors) findings_.push_back({Code::kRefused, error});
    return errors.empty();
  }

  // Of a task's template only labels and annotations reach the pods.
  void KeepMetadata() {
    json::object& root = template_.get_object();
    json::object kept(root.storage());
    if (json::object* const metadata = FindObject(root, "metadata")) {
      const json::array* const finalizers = FindList(*metadata, "finalizers");
      if (finalizers != nullptr && !finalizers->empty()) Say(Code::kFinalizers, At("metadata.finalizers"));
      for (const char* const key : {"labels", "annotations"}) {
        if (json::object* const texts = FindObject(*metadata, key)) kept.emplace(key, std::move(*texts));
      }
    }
    for (const auto& [key, text] : facts_.labels) SetText(ObjectIn(kept, "labels"), key, text);
    for (const auto& [key, text] : facts_.annotations) SetText(ObjectIn(kept, "annotations"), key, text);
    SetSidecars(kept);
    json::object ordered(root.storage());
    ordered.reserve(root.size() + 1);
    ordered.emplace("metadata", std::move(kept));
    for (json::key_value_pair& member : root)
      ordered.emplace(member.key(), std::move(member.value()));  // all but a second metadata
    template_ = std::move(ordered);
    FindSpec();
  }

  // 6.9: a label for the Istio of today, an annotation for that of old.
  void SetSidecars(json::object& metadata) {
    absl::string_view wish;
    for (const char* const key : {"annotations", "labels"}) {
      const json::object* const texts = FindObject(metadata, key);
      if (texts != nullptr && wish.empty()) wish = FindText(*texts, kInjectSidecar);
    }
    if (wish == "true") {
      return Say(Code::kIstio, At("metadata"), {},
                 "the sidecar that is asked for never ends and breaks the pods' connections",
                 "annotate the template with sidecar.istio.io/inject: \"false\"");
    }
    if (!facts_.no_sidecars || !wish.empty()) return;
    SetText(ObjectIn(metadata, "labels"), kInjectSidecar, "false");
    SetText(ObjectIn(metadata, "annotations"), kInjectSidecar, "false");
    Say(Code::kIstio, At("metadata.annotations"));
  }

  void SayLabelSelectors() {
    for (const char* const key : {"affinity", "topologySpreadConstraints"}) {
      const json::value* const value = Find(*spec_, key);
      if (value != nullptr && Mentions(*value, kNameLabel)) Say(Code::kLabel, At(absl::StrCat("spec.", key)));
    }
  }

  void Erase(absl::string_view key) {
    if (const auto at = spec_->find(JsonView(key)); at != spec_->end()) api::EraseMember(*spec_, at);
  }

  void RemoveNames() {
    for (const char* const key : {"hostname", "subdomain"}) {
      if (const absl::string_view name = FindText(*spec_, key); !name.empty()) {
        Say(Code::kHostname, At(absl::StrCat("spec.", key)), api::JsonString(name));
      }
      Erase(key);
    }
  }

  void SetScheduler() {
    const absl::string_view name = FindText(*spec_, "schedulerName");
    if (!facts_.indexed_job.empty()) {
      out_.scheduler = std::string(name);
    } else if (!name.empty() && name != kScheduler) {
      if (facts_.any_scheduler)
        out_.scheduler = std::string(name);
      else
        Say(Code::kScheduler, At("spec.schedulerName"), api::JsonString(name));
    }
    Erase("schedulerName");
  }

  void SetRestartPolicy() {
    const absl::string_view own = FindText(*spec_, "restartPolicy");
    std::string policy = !facts_.restart_policy.empty()
                             ? facts_.restart_policy
                             : std::string(own.empty() ? facts_.default_restart_policy : own);
    const std::string at = At("spec.restartPolicy");
    if (!facts_.restart_policy.empty() && !own.empty() && own != policy) {
      Say(Code::kUnused, at, api::JsonString(own), absl::StrCat(policy, " is taken"), "remove it");
    } else if (policy == kAlways) {
      Say(Code::kRestartAlways, at, api::JsonString(policy));
      policy = std::string(kOnFailure);
    }
    SetText(*spec_, "restartPolicy", policy);
    out_.restart_policy = std::move(policy);
  }

  // 6.5.3, and short names off the host network: they are found through the cluster's search list alone.
  void SetNetwork() {
    if (facts_.host_network) (*spec_)["hostNetwork"] = true;
    const json::value* const on_host = Find(*spec_, "hostNetwork");
    out_.host_network = on_host != nullptr && on_host->is_bool() && on_host->get_bool();
    const std::string policy(FindText(*spec_, "dnsPolicy"));
    const std::string at = At("spec.dnsPolicy");
    const bool foreign = policy == "Default" || policy == "None";
    const bool finds_names = facts_.absolute_names || !facts_.short_names_needed;
    if (out_.host_network) {
      if (policy == "ClusterFirst") Say(Code::kDnsChanged, at, api::JsonString(policy));
      if (foreign && !finds_names) Say(Code::kDns, at, api::JsonString(policy));
      if (!foreign) SetText(*spec_, "dnsPolicy", kHostDns);
    } else if (foreign && !finds_names && !HasSearchList()) {
      Say(Code::kDns, at, api::JsonString(policy),
          "with this dnsPolicy pods do not find the short names of their peers",
          "write ClusterFirst, or choose the name style absolute");
    }
  }

  bool HasSearchList() const {
    const json::object* const config = FindObject(std::as_const(*spec_), "dnsConfig");
    const json::array* const searches = config == nullptr ? nullptr : FindList(*config, "searches");
    return searches != nullptr && !searches->empty();
  }

  void MountVolume() {
    if (!facts_.volume.has_value()) return;
    json::array& volumes = ListIn(*spec_, "volumes");
    std::string name(kVolume);
    const auto taken = [&](const json::value& one) {
      return one.is_object() && FindText(one.get_object(), "name") == name;
    };
    while (std::any_of(volumes.begin(), volumes.end(), taken)) name += "-x";
    json::object& volume = AppendObject(volumes);
    SetText(volume, "name", name);
    SetText(ObjectIn(volume, "persistentVolumeClaim"), "claimName", facts_.volume->claim);
    FindSpec();
    json::object& mount = AppendObject(ListIn(main(), "volumeMounts"));
    SetText(mount, "name", name);
    SetText(mount, "mountPath", facts_.volume->mount_path);
  }

  const std::vector<RuntimeVariable>& EnvFor(bool accelerator) {
    std::optional<std::vector<RuntimeVariable>>& env = env_[accelerator ? 1 : 0];
    if (!env.has_value()) {
      env = facts_.env ? facts_.env(accelerator) : std::vector<RuntimeVariable>();
      if (!facts_.indexed_job.empty()) env = ForIndexedJob(*std::move(env), facts_.indexed_job);
    }
    return *env;
  }

  void FillContainer(json::object& container, std::size_t i) {
    const bool accelerator = AsksForAccelerator(container);
    written_env_.push_back(TakeEnv(EnvFor(accelerator), facts_.index_from_name ? "PADDLE_TRAINER_ID" : "",
                                   ContainerAt(i), container, findings_));
    CheckBinding(EnvFor(accelerator), ContainerAt(i), container, findings_);
    if (!facts_.env_source.empty()) PutEnvSource(facts_.env_source, container);
    if (facts_.index_from_name && !WrapCommand(container)) {
      Say(Code::kVolcanoOld, ContainerAt(i) + ".command", {},
          "the pod's index is cut from its name by a shell around the command, and there is none",
          "write the command of the image here");
    }
    if (facts_.shares_memory && accelerator && !MountsSharedMemory(container))
      Say(Code::kShm, ContainerAt(i) + ".volumeMounts");
  }

  static bool MountsSharedMemory(const json::object& container) {
    bool found = false;
    ForEachObject(FindList(container, "volumeMounts"), [&](const json::object& mount) {
      found = found || absl::StripSuffix(FindText(mount, "mountPath"), "/") == kSharedMemory;
    });
    return found;
  }

  void ExposePorts() {
    for (const TemplatePort& port : facts_.ports) ExposePort(port);
    if (!facts_.port_per_accelerator || !out_.host_network || facts_.ports.empty()) return;
    const auto processes = std::clamp<std::int64_t>(api::paddle::Accelerators(main()), 1, api::paddle::kPortsOfARole);
    for (int i = 1; i < processes; ++i) ExposePort({facts_.ports[0].number + i});
  }

  // Unless it is exposed already. A port that is taken on the node as well, the scheduler must see.
  void ExposePort(const TemplatePort& port) {
    json::array& ports = ListIn(main(), "ports");
    json::object* entry = nullptr;
    for (json::value& one : ports) {
      if (one.is_object() && one.get_object().contains("containerPort") &&
          one.get_object().at("containerPort") == port.number)
        entry = &one.get_object();
    }
    if (entry == nullptr) {
      entry = &AppendObject(ports);
      entry->emplace("containerPort", port.number);
      if (!port.name.empty()) SetText(*entry, "name", port.name);
    }
    if (out_.host_network) (*entry)["hostPort"] = port.number;
  }

  void WaitForNames() {
    if (facts_.wait_for.empty()) return;
    bool taken = false;
    for (const char* const list : {"initContainers", "containers"}) {
      ForEachObject(FindList(std::as_const(*spec_), list), [&](const json::object& container) {
        taken = taken || FindText(container, "name") == View(kWaitContainer);
      });
    }
    if (taken) return;  // the user's own way of waiting
    json::object wait = WaitContainer(main(), facts_.wait_image, facts_.wait_for, facts_.indexed_job);
    ListIn(*spec_, "initContainers").push_back(std::move(wait));
    FindSpec();
  }

  // The document, and in its regular containers our env before what there is of the user's.
  void Write(std::string& out) const {
    std::size_t bytes = 2048;
    for (const std::string& env : written_env_) bytes += env.size();
    out.reserve(bytes);
    WriteMembers(template_.get_object(), out, [&](absl::string_view key, const json::value& value) {
      if (key != "spec") return api::AppendJson(value, out);
      WriteMembers(value.get_object(), out, [&](absl::string_view name, const json::value& member) {
        if (name != "containers") return api::AppendJson(member, out);
        WriteContainers(member.get_array(), out);
      });
    });
  }
  void WriteContainers(const json::array& containers, std::string& out) const {
    out += '[';
    for (std::size_t i = 0; i < containers.size(); ++i) {
      if (i > 0) out += ',';
      WriteMembers(containers[i].get_object(), out, [&](absl::string_view key, const json::value& value) {
        if (key != "env") return api::AppendJson(value, out);
        absl::StrAppend(&out, "[", written_env_[i]);
        for (const json::value& user : value.get_array()) {
          if (out.back() != '[') out += ',';
          api::AppendJson(user, out);
        }
        out += ']';
      });
    }
    out += ']';
  }
  template <class F>
  static void WriteMembers(const json::object& object, std::string& out, F write) {
    char before = '{';
    for (const json::key_value_pair& member : object) {
      out += before;
      before = ',';
      api::AppendJsonString(AbslView(member.key()), out);
      out += ':';
      write(AbslView(member.key()), member.value());
    }
    if (before == '{') out += '{';
    out += '}';
  }

  json::value& template_;
  const TemplateFacts& facts_;
  Findings& findings_;
  json::object* spec_ = nullptr;
  json::array* containers_ = nullptr;
  std::size_t main_ = 0;
  std::array<std::optional<std::vector<RuntimeVariable>>, 2> env_;
  std::vector<std::string> written_env_;  // by container
  TaskTemplate out_;
};

}  // namespace

TemplateTraits TraitsOf(const json::value& pod_template) {
  TemplateTraits traits;
  const json::object* const object = pod_template.if_object();
  const json::object* const spec = object == nullptr ? nullptr : FindObject(*object, "spec");
  if (spec == nullptr) return traits;
  const json::value* const on_host = Find(*spec, "hostNetwork");
  traits.host_network = on_host != nullptr && on_host->is_bool() && on_host->get_bool();
  ForEachObject(FindList(*spec, "containers"), [&](const json::object& container) {
    traits.accelerator = traits.accelerator || AsksForAccelerator(container);
  });
  return traits;
}

TaskTemplate MakeTaskTemplate(json::value& pod_template, const TemplateFacts& facts, Findings& findings) {
  return TemplateMaker(pod_template, facts, findings).Make();
}

}  // namespace gangway::convert
