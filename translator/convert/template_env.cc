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

void Append(const RuntimeVariable& one, json::array& env) {
  json::object& entry = AppendObject(env);
  entry.reserve(2);
  entry.emplace("name", JsonView(one.name));
  if (!one.from_field) {
    entry.emplace("value", JsonView(one.value));
    return;
  }
  json::object& from = entry.emplace("valueFrom", json::object(env.storage())).first->value().get_object();
  json::object& field = from.emplace("fieldRef", json::object(env.storage())).first->value().get_object();
  field.emplace("fieldPath", JsonView(one.value));
}

// A pod whose port is not the one in the lists does not find itself there.
void SayPort(absl::string_view own, absl::string_view expected, const std::string& field, Findings& findings) {
  if (own.empty() || own == expected) return;
  findings.push_back(MakeFinding(Code::kEnvReserved, field, api::JsonString(own),
                                 absl::StrCat("is kept, but the lists of endpoints say ", expected, ", where nobody would listen"), "remove it"));
}

}  // namespace

void PutEnv(const std::vector<RuntimeVariable>& env, absl::string_view left_out, absl::string_view field, json::object& container,
            Findings& findings) {
  json::array& users = ListIn(container, "env");
  const auto find = [&](absl::string_view name) {
    return std::find_if(env.begin(), env.end(), [&](const RuntimeVariable& one) { return one.name == name; });
  };
  std::vector<bool> given(env.size()), goes(users.size());
  for (std::size_t i = 0; i < users.size(); ++i) {
    const json::object* const user = users[i].if_object();
    if (user == nullptr) continue;
    const absl::string_view name = FindText(*user, "name");
    const auto ours = find(name);
    if (ours == env.end()) continue;
    const std::string at = absl::StrCat(field, ".env[", i, "]");
    goes[i] = ours->identity;
    given[static_cast<std::size_t>(ours - env.begin())] = !ours->identity;
    findings.push_back(MakeFinding(ours->identity ? Code::kEnvReserved : Code::kEnvUser, at + ".name", api::JsonString(name)));
    if (name == kPort) SayPort(FindText(*user, "value"), ours->value, at + ".value", findings);
  }

  json::array all(users.storage());
  all.reserve(env.size() + users.size());
  for (std::size_t i = 0; i < env.size(); ++i) {
    if (!given[i] && env[i].name != left_out) Append(env[i], all);
  }
  for (std::size_t i = 0; i < users.size(); ++i) {
    if (!goes[i]) all.push_back(std::move(users[i]));
  }
  users = std::move(all);
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
