#include "translator/convert/template_env.h"

#include <algorithm>
#include <utility>

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
  findings.push_back(MakeFinding(Code::kEnvReserved, field, api::JsonString(own),
                                 absl::StrCat("is kept, but the lists of endpoints say ", expected, ", where nobody would listen"), "remove it"));
}

}  // namespace

std::string TakeEnv(const std::vector<RuntimeVariable>& env, absl::string_view left_out, absl::string_view field, json::object& container,
                    Findings& findings) {
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
      findings.push_back(MakeFinding(ours->identity ? Code::kEnvReserved : Code::kEnvUser, at + ".name", api::JsonString(name)));
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
  for (const char* const word : {"sh", "-c", "export PADDLE_TRAINER_ID=\"${PADDLE_POD_NAME##*-}\"; exec \"$@\"", "sh"}) wrapped.emplace_back(word);
  for (json::value& word : *command) wrapped.push_back(std::move(word));
  *command = std::move(wrapped);
  return true;
}

}  // namespace gangway::convert
