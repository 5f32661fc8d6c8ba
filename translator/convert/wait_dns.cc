#include "translator/convert/wait_dns.h"

#include <utility>

#include "base/strings.h"
#include "translator/convert/document.h"
#include "translator/convert/template_env.h"

namespace gangway::convert {
namespace {

namespace json = boost::json;

// Backquotes, since $(...) is the API's.
constexpr absl::string_view kScript =
    R"(command -v getent >/dev/null || { echo 'this image has no getent: names are not waited for'; exit 0; }
start=`date +%s`
for host; do
  until getent hosts "$host" >/dev/null; do
    if [ $((`date +%s` - start)) -ge 600 ]; then
      echo "$host did not resolve within 600 s" | tee /dev/termination-log >&2
      exit 1
    fi
    sleep 1
  done
done
)";

// Its requests and limits of cpu and memory.
json::object ResourcesOf(const json::object& main) {
  json::object out(main.storage());
  const json::object* const resources = FindObject(main, "resources");
  if (resources == nullptr) return out;
  for (const char* const list : {"requests", "limits"}) {
    const json::object* const amounts = FindObject(*resources, list);
    if (amounts == nullptr) continue;
    for (const char* const name : {"cpu", "memory"}) {
      if (const json::value* const amount = Find(*amounts, name)) ObjectIn(out, list)[name] = *amount;
    }
  }
  return out;
}

}  // namespace

json::object WaitContainer(const json::object& main, absl::string_view image, const std::vector<std::string>& names,
                           absl::string_view indexed_job) {
  json::object out(main.storage());
  out.reserve(8);
  out.emplace("name", JsonView(View(kWaitContainer)));
  out.emplace("image", JsonView(image.empty() ? FindText(main, "image") : image));
  for (const char* const key : {"imagePullPolicy", "securityContext"}) {
    const json::value* const own = Find(main, key);
    if (own != nullptr && (image.empty() || key[0] == 's')) out.emplace(key, *own);
  }
  json::array& command = ListIn(out, "command");
  command.reserve(names.size() + 4);
  for (const absl::string_view word :
       {absl::string_view("sh"), absl::string_view("-c"), kScript, View(kWaitContainer)}) {
    command.emplace_back(JsonView(word));
  }
  for (const std::string& name : names) command.emplace_back(JsonView(name));
  std::vector<api::paddle::RuntimeVariable> env = {{"PADDLE_POD_NAME", "metadata.name", true}};
  if (!indexed_job.empty()) env = ForIndexedJob(std::move(env), indexed_job);
  for (const api::paddle::RuntimeVariable& one : env) {
    json::object& variable = AppendObject(ListIn(out, "env"));
    SetText(variable, "name", one.name);
    if (one.from_field)
      SetText(ObjectIn(ObjectIn(variable, "valueFrom"), "fieldRef"), "fieldPath", one.value);
    else
      SetText(variable, "value", one.value);
  }
  if (json::object resources = ResourcesOf(main); !resources.empty()) out.emplace("resources", std::move(resources));
  return out;
}

}  // namespace gangway::convert
