#include "api/paddle/paddle_rec.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json_value.h"
#include "base/nearest.h"
#include "base/strings.h"

namespace gangway::api::paddle {
namespace {

namespace json = boost::json;
using Type = FieldError::Type;

constexpr std::int32_t kMostThreads = 4096, kMostLogLevel = 100;

const std::vector<std::string> kSubmitKeys{"server_num", "trainer_num", "docker_image",
                                           "memory",     "storage",     "log_level"};

// What people, and PaddleRec's own guide, wrote for a key.
struct LookAlike {
  absl::string_view written, meant;
};
constexpr std::array kLookAlikes{LookAlike{"worker_num", "trainer_num"}, LookAlike{"workers_num", "trainer_num"},
                                 LookAlike{"pserver_num", "server_num"}, LookAlike{"ps_num", "server_num"},
                                 LookAlike{"mermory", "memory"},         LookAlike{"image", "docker_image"},
                                 LookAlike{"disk", "storage"},           LookAlike{"name", "job_name"}};

const json::object* ObjectAt(const json::object& parent, json::string_view key) {
  const json::value* const member = parent.if_contains(key);
  return member == nullptr ? nullptr : member->if_object();
}

// A scalar as text, as a shell would have got it; nullopt: a list, a map, a boolean or nothing.
std::optional<std::string> TextOf(const json::value* value) {
  if (value == nullptr) return std::nullopt;
  if (const json::string* const text = value->if_string()) return std::string(*text);
  if (value->is_number()) return ToJson(*value);
  return std::nullopt;
}

bool Same(absl::string_view a, absl::string_view b) { return absl::EqualsIgnoreCase(a, b); }

std::string Shown(const json::value* value) { return value == nullptr ? std::string() : ToJson(*value); }

// A whole number from `least` to `most`; else the error.
std::int32_t Number(const std::string& field, const json::value& value, std::int32_t least, std::int32_t most,
                    FieldErrors& errors) {
  const std::optional<std::string> text = TextOf(&value);
  std::int64_t number = 0;
  if (!text.has_value() || !absl::SimpleAtoi(*text, &number)) {
    errors.push_back({Type::kInvalid, field, Shown(&value), "must be a whole number", ""});
  } else if (number < least || number > most) {
    errors.push_back({Type::kInvalid, field, Shown(&value), absl::StrCat("must be from ", least, " to ", most), ""});
  } else {
    return static_cast<std::int32_t>(number);
  }
  return least;
}

class BackendReader {
 public:
  explicit BackendReader(const json::object& root) {
    const json::object* const engine = ObjectAt(root, "engine");
    top_ = engine != nullptr ? engine : &root;
    prefix_ = engine != nullptr ? "engine." : "";
    submit_ = ObjectAt(*top_, "submit");
  }

  RecBackendReading Read() && {
    if (!IsOurs()) return std::move(reading_);
    if (submit_ == nullptr) {
      Fail(Type::kRequired, absl::StrCat(prefix_, "submit"), top_->if_contains("submit"),
           "must be a map of server_num, trainer_num, docker_image, memory and storage");
      return std::move(reading_);
    }
    FindUnread();
    RecBackend& backend = reading_.backend;
    ReadJobName();
    if (const json::value* v = Required("server_num"))
      backend.servers = Number(Submit("server_num"), *v, 1, kMostRecPods, reading_.errors);
    if (const json::value* v = Required("trainer_num"))
      backend.trainers = Number(Submit("trainer_num"), *v, 1, kMostRecPods, reading_.errors);
    if (const json::value* v = Required("docker_image")) backend.image = Text(Submit("docker_image"), *v);
    if (const json::value* v = Required("memory")) backend.memory = Amount(Submit("memory"), *v);
    if (const json::value* v = Required("storage")) backend.storage = Amount(Submit("storage"), *v);
    if (const json::value* v = Given(*submit_, "log_level"))
      backend.log_level = Number(Submit("log_level"), *v, 0, kMostLogLevel, reading_.errors);
    for (const std::string& field : unread_)
      reading_.warnings.push_back({Type::kNotSupported, field, "", "nothing reads this key", Advice(field)});
    return std::move(reading_);
  }

 private:
  std::string Submit(absl::string_view key) const { return absl::StrCat(prefix_, "submit.", key); }

  void Fail(Type type, const std::string& field, const json::value* value, std::string rule, std::string fix = {}) {
    reading_.errors.push_back({type, field, Shown(value), std::move(rule), std::move(fix)});
  }

  // Null counts as absent, and so does an empty text: the scripts saw no difference.
  static const json::value* Given(const json::object& in, absl::string_view key) {
    const json::value* const value = in.if_contains(StdView(key));
    if (value == nullptr || value->is_null() || (value->is_string() && value->get_string().empty())) return nullptr;
    return value;
  }

  // Whether it is for a Kubernetes cluster; otherwise says for what, and what to do.
  bool IsOurs() {
    const std::string field = absl::StrCat(prefix_, "backend");
    const json::value* const given = Given(*top_, "backend");
    const std::string backend = TextOf(given).value_or("");
    const std::string cluster_type = TextOf(Given(*top_, "cluster_type")).value_or("");
    if (given == nullptr) {
      Fail(Type::kRequired, field, nullptr, "must be given", "write backend: k8s");
    } else if (Same(cluster_type, "mpi") || Same(backend, "mpi")) {
      Fail(Type::kNotSupported, Same(backend, "mpi") ? field : absl::StrCat(prefix_, "cluster_type"),
           Same(backend, "mpi") ? given : top_->if_contains("cluster_type"),
           "MPI clusters run PaddleRec without Kubernetes", absl::StrCat("write backend: k8s, and ", OwnSubmit()));
      TellHosted();
    } else if (Same(backend, "PaddleCloud")) {
      Fail(Type::kNotSupported, field, given,
           "PaddleCloud is a hosted service: its jobs are submitted with its own client and keys, not to this cluster",
           absl::StrCat("to run it here write backend: k8s, and ", OwnSubmit()));
      TellHosted();
    } else if (!Same(backend, "k8s") && !Same(backend, "kubernetes")) {
      Fail(Type::kNotSupported, field, given, "must be k8s", "");
    }
    return reading_.errors.empty();
  }

  // What of a hosted job can be counted, in our keys.
  std::string OwnSubmit() const {
    const auto count = [&](absl::string_view key) {
      const std::string text = submit_ == nullptr ? "" : TextOf(Given(*submit_, key)).value_or("");
      return text.empty() ? std::string("N") : text;
    };
    return absl::StrCat(
        "submit: {server_num: ", count("k8s_ps_num"), ", trainer_num: ", count("k8s_trainers"),
        ", docker_image: IMAGE, memory: 4Gi, storage: 10Gi}; the threads of the config are a pod's cores");
  }

  // Keys that only the hosted service knows, where they stand.
  void TellHosted() {
    for (const auto& [place, object] : {std::pair{"config", ObjectAt(*top_, "config")}, std::pair{"submit", submit_}}) {
      if (object == nullptr) continue;
      std::vector<std::string> keys;
      for (const auto& [key, value] : *object) {
        const std::string name(key);
        const bool ours =
            name == "job_name" || std::find(kSubmitKeys.begin(), kSubmitKeys.end(), name) != kSubmitKeys.end();
        if (!ours) keys.push_back(name);
      }
      std::sort(keys.begin(), keys.end());
      if (keys.empty()) continue;
      Fail(Type::kNotSupported, absl::StrCat(prefix_, place), nullptr,
           absl::StrCat("keys of the hosted service: ", absl::StrJoin(keys, ", ")));
    }
  }

  // Keys that say nothing to us, in the order they stand.
  void FindUnread() {
    const auto known = [](absl::string_view key) {
      return key == "backend" || key == "job_name" || key == "submit" || key == "cluster_type";
    };
    for (const auto& [key, value] : *top_) {
      if (!known(View(key))) unread_.push_back(absl::StrCat(prefix_, View(key)));
    }
    for (const auto& [key, value] : *submit_) {
      const std::string name(key);
      if (name != "job_name" && std::find(kSubmitKeys.begin(), kSubmitKeys.end(), name) == kSubmitKeys.end())
        unread_.push_back(Submit(name));
    }
  }

  void ReadJobName() {
    const bool below = Given(*top_, "job_name") == nullptr && Given(*submit_, "job_name") != nullptr;
    RecBackend& backend = reading_.backend;
    backend.job_name_field = below ? Submit("job_name") : absl::StrCat(prefix_, "job_name");
    const json::value* const given = Given(below ? *submit_ : *top_, "job_name");
    if (given == nullptr) return Missing("job_name", backend.job_name_field);
    backend.job_name = Text(backend.job_name_field, *given);
  }

  const json::value* Required(absl::string_view key) {
    const json::value* const given = Given(*submit_, key);
    if (given == nullptr) Missing(key, Submit(key));
    return given;
  }

  // Says which key of those that nothing reads was most likely meant.
  void Missing(absl::string_view key, const std::string& field) {
    const std::string instead = TakeLookAlike(key);
    Fail(Type::kRequired, field, nullptr, "must be given",
         instead.empty() ? "" : absl::StrCat(instead, " stands there, which nothing reads: write ", field));
  }

  std::string TakeLookAlike(absl::string_view key) {
    for (auto at = unread_.begin(); at != unread_.end(); ++at) {
      const absl::string_view word = LastWord(*at);
      const bool listed = std::any_of(kLookAlikes.begin(), kLookAlikes.end(),
                                      [&](const LookAlike& one) { return one.written == word && one.meant == key; });
      if (!listed && !Same(word, key) && Meant(word) != key) continue;
      std::string found = std::move(*at);
      unread_.erase(at);
      return found;
    }
    return "";
  }

  static absl::string_view LastWord(absl::string_view field) {
    return field.substr(field.rfind('.') == absl::string_view::npos ? 0 : field.rfind('.') + 1);
  }

  static std::string Meant(absl::string_view word) {
    for (const LookAlike& one : kLookAlikes) {
      if (one.written == word) return std::string(one.meant);
    }
    std::vector<std::string> known = kSubmitKeys;
    known.emplace_back("job_name");
    return Nearest(word, known);
  }

  static std::string Advice(absl::string_view field) {
    const std::string meant = Meant(LastWord(field));
    return meant.empty() ? "" : absl::StrCat("did you mean ", meant, "?");
  }

  std::string Text(const std::string& field, const json::value& value) {
    const std::optional<std::string> text = TextOf(&value);
    if (!text.has_value()) Fail(Type::kTypeInvalid, field, &value, "must be a text");
    return text.value_or("");
  }

  Quantity Amount(const std::string& field, const json::value& value) {
    const std::string text = TextOf(&value).value_or("");
    const absl::StatusOr<Quantity> amount = Quantity::Parse(text);
    if (text.empty() || !amount.ok() || amount->negative() || amount->zero()) {
      Fail(Type::kInvalid, field, &value, "must be an amount greater than 0, such as 4Gi");
      return {};
    }
    return *amount;
  }

  const json::object* top_;
  std::string prefix_;
  const json::object* submit_;
  std::vector<std::string> unread_;  // fields
  RecBackendReading reading_;
};

class ConfigReader {
 public:
  explicit ConfigReader(const json::object& root) : root_(root) {}

  RecConfigReading Read() && {
    if (const json::object* const train = ObjectAt(root_, "train")) {
      ReadTrain(*train);
    } else if (root_.contains("runner")) {
      reading_.config.late = true;
      ReadRunners();
    } else {
      Fail(Type::kRequired, "train", nullptr, "a config of PaddleRec has train.engine, or a list of runners");
    }
    return std::move(reading_);
  }

 private:
  void Fail(Type type, std::string field, const json::value* value, std::string rule, std::string fix = {}) {
    reading_.errors.push_back({type, std::move(field), Shown(value), std::move(rule), std::move(fix)});
  }

  void RefuseMpi(const std::string& field, const json::value* value, const std::string& instead) {
    Fail(Type::kNotSupported, field, value, "MPI clusters run PaddleRec without Kubernetes",
         absl::StrCat("write ", instead));
  }

  // Not a cluster's: PaddleRec would have trained right here, whatever the backend file says.
  void RefuseLocal(const std::string& field, const json::value* value, const std::string& instead) {
    Fail(Type::kNotSupported, field, value,
         "there is nothing to submit: PaddleRec runs this training on the machine where it is called",
         absl::StrCat("for a cluster write ", instead));
  }

  void ReadTrain(const json::object& train) {
    const json::value* const engine = train.if_contains("engine");
    const std::string name = TextOf(engine).value_or("");
    if (engine == nullptr) {
      Fail(Type::kRequired, "train.engine", nullptr, "must be given", "write engine: cluster");
    } else if (absl::EndsWithIgnoreCase(name, "mpi")) {
      RefuseMpi("train.engine", engine, "engine: cluster");
    } else if (!Same(name, "cluster")) {
      RefuseLocal("train.engine", engine, "engine: cluster");
    }
    const json::object* const trainer = ObjectAt(train, "trainer");
    const json::value* const threads = trainer == nullptr ? nullptr : trainer->if_contains("threads");
    if (threads != nullptr && !threads->is_null())
      reading_.config.threads = Number("train.trainer.threads", *threads, 1, kMostThreads, reading_.errors);
  }

  void ReadRunners() {
    const json::array* const runners = root_.at("runner").if_array();
    if (runners == nullptr || runners->empty())
      return Fail(Type::kTypeInvalid, "runner", root_.if_contains("runner"), "must be a list with a runner");
    std::size_t chosen = 0;
    if (!FindRunner(*runners, chosen)) return;
    const std::string path = IndexPath("runner", chosen);
    const json::object* const runner = (*runners)[chosen].if_object();
    if (runner == nullptr) return Fail(Type::kTypeInvalid, path, &(*runners)[chosen], "must be a map");
    Judge(*runner, path);
    ReadPhases();
  }

  // The one that `mode` names, a text or a list of texts; without it the first.
  bool FindRunner(const json::array& runners, std::size_t& chosen) {
    const json::value* mode = root_.if_contains("mode");
    if (mode != nullptr && mode->is_array() && !mode->get_array().empty()) mode = &mode->get_array().front();
    const std::optional<std::string> name = TextOf(mode);
    if (!name.has_value()) return true;
    for (std::size_t i = 0; i < runners.size(); ++i) {
      const json::object* const runner = runners[i].if_object();
      if (runner != nullptr && TextOf(runner->if_contains("name")) == name) {
        chosen = i;
        return true;
      }
    }
    Fail(Type::kNotFound, "mode", mode, "there is no runner of this name");
    return false;
  }

  void Judge(const json::object& runner, const std::string& path) {
    const json::value* const what = runner.if_contains("class");
    const std::string name = TextOf(what).value_or("");
    const std::string device = TextOf(runner.if_contains("device")).value_or("cpu"),
                      fleet = TextOf(runner.if_contains("fleet_mode")).value_or("ps");
    if (absl::EndsWithIgnoreCase(name, "mpi")) return RefuseMpi(ChildPath(path, "class"), what, "class: cluster_train");
    if (!Same(name, "cluster_train")) return RefuseLocal(ChildPath(path, "class"), what, "class: cluster_train");
    if (Same(fleet, "ps") && Same(device, "gpu")) {
      Fail(Type::kNotSupported, ChildPath(path, "device"), runner.if_contains("device"),
           "parameter servers and gpu exclude each other, in PaddleRec too", "write device: cpu");
    } else if (!Same(fleet, "ps")) {
      Fail(Type::kNotSupported, ChildPath(path, "fleet_mode"), runner.if_contains("fleet_mode"),
           "PaddleRec has jobs with parameter servers only on Kubernetes",
           "write fleet_mode: ps, or a PaddleJob with workers alone");
    }
  }

  void ReadPhases() {
    const json::value* const phases = root_.if_contains("phase");
    if (phases == nullptr || !phases->is_array()) return;
    std::int32_t most = 0;
    const json::array& all = phases->get_array();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const json::object* const phase = all[i].if_object();
      const json::value* const threads = phase == nullptr ? nullptr : phase->if_contains("thread_num");
      if (threads == nullptr || threads->is_null()) continue;
      most = std::max(
          most, Number(ChildPath(IndexPath("phase", i), "thread_num"), *threads, 1, kMostThreads, reading_.errors));
    }
    if (most > 0) reading_.config.threads = most;
  }

  const json::object& root_;
  RecConfigReading reading_;
};

// Nullopt with the error of a document that is no map.
std::optional<json::value> RootOf(absl::string_view text, FieldErrors& errors) {
  absl::StatusOr<json::value> root = ParseJson(text);
  if (!root.ok() || !root->is_object()) {
    errors.push_back({Type::kTypeInvalid, "", "", "must be a map of keys", ""});
    return std::nullopt;
  }
  return *std::move(root);
}

}  // namespace

RecFile RecFileOf(absl::string_view text) {
  FieldErrors ignored;
  const std::optional<json::value> root = RootOf(text, ignored);
  if (!root.has_value()) return RecFile::kNeither;
  const json::object& keys = root->get_object();
  if (keys.contains("apiVersion") || keys.contains("kind")) return RecFile::kNeither;
  const json::object* const engine = ObjectAt(keys, "engine");
  if (engine != nullptr ? engine->contains("backend") || engine->contains("submit") : keys.contains("backend"))
    return RecFile::kBackend;
  const json::object* const train = ObjectAt(keys, "train");
  if (train != nullptr ? train->contains("engine") || train->contains("trainer") : keys.contains("runner"))
    return RecFile::kConfig;
  return RecFile::kNeither;
}

RecBackendReading ReadRecBackend(absl::string_view text) {
  RecBackendReading reading;
  const std::optional<json::value> root = RootOf(text, reading.errors);
  return root.has_value() ? BackendReader(root->get_object()).Read() : std::move(reading);
}

RecConfigReading ReadRecConfig(absl::string_view text) {
  RecConfigReading reading;
  const std::optional<json::value> root = RootOf(text, reading.errors);
  return root.has_value() ? ConfigReader(root->get_object()).Read() : std::move(reading);
}

}  // namespace gangway::api::paddle
