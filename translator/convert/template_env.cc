#include "translator/convert/template_env.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "translator/convert/document.h"

namespace gangway::convert {
namespace {

namespace json = boost::json;
using api::paddle::RuntimeVariable;

constexpr absl::string_view kPort = "PADDLE_PORT";

void Append(const RuntimeVariable& one, std::string& out) {
  if (!out.empty()) out += ',';
  out += R"({"name":")";
  out += one.name;
  if (one.from_field) {
    out += R"(","valueFrom":{"fieldRef":{"fieldPath":)";
    api::AppendJsonString(one.value, out);
    out += "}}}";
  } else {
    out += R"(","value":)";
    api::AppendJsonString(one.value, out);
    out += '}';
  }
}

// A pod whose port is not the one in the lists does not find itself there.
void SayPort(absl::string_view own, absl::string_view expected, const std::string& field, Findings& findings) {
  if (own.empty() || own == expected) return;
  findings.push_back(MakeFinding(
      Code::kEnvReserved, field, api::JsonString(own),
      absl::StrCat("is kept, but the lists of endpoints say ", expected, ", where nobody would listen"), "remove it"));
}

// The word before the end of `text`, without quotes: the flag in "--bind ", "--bind='", "-b tcp://".
std::string LastWord(absl::string_view text) {
  constexpr absl::string_view kBetween = " \t\n='\"";
  if (absl::EndsWith(text, "://")) text = text.substr(0, text.find_last_of(kBetween) + 1);
  const std::size_t end = text.find_last_not_of(kBetween) + 1;
  if (end == text.size()) return "";  // what follows is in the middle of a word: one of a list of endpoints
  text = text.substr(0, end);
  return absl::AsciiStrToLower(text.substr(text.find_last_of(kBetween) + 1));
}

bool Binds(absl::string_view word) {
  return word == "-b" || absl::StrContains(word, "bind") || absl::StrContains(word, "listen");
}

// Where the text refers to POD_IP behind a word that binds: as Kubernetes or a shell writes it.
bool BindsToPodIp(absl::string_view text) {
  for (const absl::string_view reference : {"$(POD_IP)", "${POD_IP}", "$POD_IP"}) {
    for (std::size_t at = text.find(reference); at != absl::string_view::npos; at = text.find(reference, at + 1)) {
      const std::size_t end = at + reference.size();
      const bool longer = reference.back() == 'P' && end < text.size() &&
                          (absl::ascii_isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_');
      if (!longer && Binds(LastWord(text.substr(0, at)))) return true;
    }
  }
  return false;
}

constexpr char kVolcanosIndex[] = "metadata.labels['volcano.sh/task-index']";
constexpr char kIndexOfJob[] = "metadata.labels['batch.kubernetes.io/job-completion-index']";

}  // namespace

std::vector<RuntimeVariable> ForIndexedJob(std::vector<RuntimeVariable> env, absl::string_view job) {
  for (RuntimeVariable& one : env) {
    if (!one.from_field) continue;
    if (one.value == "metadata.name") {
      one.value = absl::StrCat(job, "-$(JOB_COMPLETION_INDEX)");
      one.from_field = false;
    } else if (one.value == kVolcanosIndex) {
      one.value = kIndexOfJob;
    }
  }
  env.insert(env.begin(), {"JOB_COMPLETION_INDEX", kIndexOfJob, true, true});
  return env;
}

void CheckBinding(const std::vector<RuntimeVariable>& env, absl::string_view field, const json::object& container,
                  Findings& findings) {
  const auto pod_ip =
      std::find_if(env.begin(), env.end(), [](const RuntimeVariable& one) { return one.name == "POD_IP"; });
  if (pod_ip == env.end() || pod_ip->from_field) return;
  std::string before;  // the last word, which may be the flag
  for (const char* const key : {"command", "args"}) {
    const json::array* const words = FindList(container, key);
    for (std::size_t i = 0; words != nullptr && i < words->size(); ++i) {
      const json::string* const word = (*words)[i].if_string();
      const std::string text = word == nullptr ? "" : std::string(AbslView(*word));
      if (BindsToPodIp(absl::StrCat(before, " ", text)))
        findings.push_back(
            MakeFinding(Code::kPodIp, absl::StrCat(field, ".", key, "[", i, "]"), api::JsonString(text)));
      before = absl::StrContains(text, "POD_IP") ? "" : text;
    }
  }
}

std::string TakeEnv(const std::vector<RuntimeVariable>& env, absl::string_view left_out, absl::string_view field,
                    json::object& container, Findings& findings) {
  json::array& users = ListIn(container, "env");
  const auto find = [&](absl::string_view name) {
    return std::find_if(env.begin(), env.end(), [&](const RuntimeVariable& one) { return one.name == name; });
  };
  std::vector<bool> given(env.size());
  json::array kept(users.storage());
  kept.reserve(users.size());
  for (std::size_t i = 0; i < users.size(); ++i) {
    const json::object* const user = users[i].if_object();
    const absl::string_view name = user == nullptr ? absl::string_view() : FindText(*user, "name");
    const auto ours = find(name);
    if (ours != env.end()) {
      const std::string at = absl::StrCat(field, ".env[", i, "]");
      findings.push_back(
          MakeFinding(ours->identity ? Code::kEnvReserved : Code::kEnvUser, at + ".name", api::JsonString(name)));
      if (name == kPort) SayPort(FindText(*user, "value"), ours->value, at + ".value", findings);
      if (ours->identity) continue;
      given[static_cast<std::size_t>(ours - env.begin())] = true;
    }
    kept.push_back(std::move(users[i]));
  }
  users = std::move(kept);

  std::string out;
  out.reserve(2048);
  for (std::size_t i = 0; i < env.size(); ++i) {
    if (!given[i] && env[i].name != left_out) Append(env[i], out);
  }
  return out;
}

void PutEnvSource(absl::string_view config_map, json::object& container) {
  json::array& sources = ListIn(container, "envFrom");
  json::object source(sources.storage());
  SetText(ObjectIn(source, "configMapRef"), "name", config_map);
  sources.insert(sources.begin(), std::move(source));
}

bool WrapCommand(json::object& container) {
  json::array* const command = FindList(container, "command");
  if (command == nullptr || command->empty()) return false;
  json::array wrapped(command->storage());
  wrapped.reserve(command->size() + 4);
  for (const char* const word : {"sh", "-c", "export PADDLE_TRAINER_ID=\"${PADDLE_POD_NAME##*-}\"; exec \"$@\"", "sh"})
    wrapped.emplace_back(word);
  for (json::value& word : *command) wrapped.push_back(std::move(word));
  *command = std::move(wrapped);
  return true;
}

}  // namespace gangway::convert
