#include "tests/sandbox/rbac/asks.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json.h"
#include "api/json_value.h"
#include "base/check.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

const std::string kRbac = "/apis/rbac.authorization.k8s.io/v1/";
const std::string kInA = kRbac + "namespaces/a/";

std::string Role(const std::string& name, const std::string& rules, const std::string& more = "") {
  return absl::StrCat(R"({"metadata":{"name":")", name, R"("},"rules":[)", rules, "]", more, "}");
}
std::string Rule(const std::string& groups, const std::string& resources, const std::string& verbs,
                 const std::string& names = "") {
  return absl::StrCat(R"({"apiGroups":[)", groups, R"(],"resources":[)", resources, R"(],"verbs":[)", verbs, "]",
                      names.empty() ? "" : absl::StrCat(R"(,"resourceNames":[)", names, "]"), "}");
}
std::string Binding(const std::string& name, const std::string& kind, const std::string& role,
                    const std::string& subjects) {
  return absl::StrCat(R"({"metadata":{"name":")", name,
                      R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":")", kind, R"(","name":")", role,
                      R"("},"subjects":[)", subjects, "]}");
}
std::string UserSubject(const std::string& name) {
  return absl::StrCat(R"({"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":")", name, "\"}");
}
std::string GroupSubject(const std::string& name) {
  return absl::StrCat(R"({"kind":"Group","apiGroup":"rbac.authorization.k8s.io","name":")", name, "\"}");
}
std::string MayI(const std::string& verb, const std::string& group, const std::string& resource, const std::string& ns,
                 const std::string& more = "") {
  return absl::StrCat(
      R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":{"verb":")",
      verb, R"(","group":")", group, R"(","resource":")", resource, R"(","namespace":")", ns, "\"", more, "}}}");
}

const std::string kSelf = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

std::vector<Ask> MakeAsks() {
  std::vector<Ask> out;
  const auto add = [&out](std::string as, std::string method, std::string path, std::string body = "",
                          std::vector<std::string> groups = {}) {
    out.push_back({std::move(as), std::move(groups), std::move(method), std::move(path), std::move(body)});
    if (out.back().method == "PATCH") out.back().content_type = "application/merge-patch+json";
  };
  const std::string pods = "/api/v1/namespaces/a/pods", maps = "/api/v1/namespaces/a/configmaps";
  add("", "POST", "/api/v1/namespaces", R"({"metadata":{"name":"a"}})");
  add("", "POST", "/api/v1/namespaces", R"({"metadata":{"name":"b"}})");
  add("", "POST", maps, R"({"metadata":{"name":"one"},"data":{"k":"v"}})");

  // Somebody with no rights.
  add("jane", "GET", pods);
  add("jane", "GET", pods + "/x");
  add("jane", "GET", pods + "?watch=true");
  add("jane", "GET", "/api/v1/pods");
  add("jane", "GET", pods + "/x/log");
  add("jane", "POST", pods + "/x/exec?command=ls");
  add("jane", "DELETE", pods);
  add("jane", "DELETE", pods + "/x");
  add("jane", "POST", pods, R"({"metadata":{"name":"x"}})");
  add("jane", "PUT", maps + "/one", R"({"metadata":{"name":"one"}})");
  add("jane", "PATCH", maps + "/one", "{}");
  add("jane", "GET", "/api/v1/nodes/n<&>");
  add("jane", "GET", "/api/v1/namespaces/a");
  add("jane", "PUT", "/api/v1/namespaces/a/finalize", R"({"metadata":{"name":"a"}})");
  add("jane", "GET", "/apis/example.com/v1/nothing");
  add("jane", "GET", "/apis/apps/v1/namespaces/a/deployments/d/scale");
  add("jane", "GET", "/api");
  add("jane", "GET", "/apis/apps/v1");
  add("jane", "GET", "/version");
  add("jane", "GET", "/healthz");
  add("jane", "GET", "/metrics");
  add("jane", "GET", "/logs/x");
  add("jane", "POST", kSelf, MayI("create", "batch", "jobs", "a"));
  add("system:anonymous", "GET", pods);
  add("system:anonymous", "GET", "/version");
  add("system:anonymous", "GET", "/api");
  add("system:anonymous", "POST", kSelf, MayI("get", "", "pods", "a"));

  // Rules of every shape.
  add("", "POST", kInA + "roles", Role("reader", Rule(R"("")", R"("configmaps")", R"("get")", R"("one","two")")));
  add("", "POST", kInA + "rolebindings", Binding("reader", "Role", "reader", UserSubject("rita")));
  add("rita", "GET", maps + "/one");
  add("rita", "GET", maps + "/three");
  add("rita", "GET", maps);
  add("rita", "GET", "/api/v1/namespaces/b/configmaps/one");
  add("rita", "POST", kSelf, MayI("get", "", "configmaps", "a", R"(,"name":"two")"));
  add("", "POST", kInA + "roles", Role("lister", Rule(R"("")", R"("configmaps")", R"("list","watch")", R"("one")")));
  add("", "POST", kInA + "rolebindings", Binding("lister", "Role", "lister", UserSubject("lisa")));
  add("lisa", "GET", maps + "?fieldSelector=metadata.name%3Done");
  add("lisa", "GET", maps + "?fieldSelector=metadata.name%3Dtwo");
  add("lisa", "GET", maps);
  add("", "POST", kRbac + "clusterroles",
      Role("subs", absl::StrCat(Rule(R"("")", R"("*/log","pods/exec")", R"("get")"), ",",
                                Rule(R"("*")", R"("*/status")", R"("*")"), ",",
                                R"({"nonResourceURLs":["/metrics","/logs/*"],"verbs":["get"]})")));
  add("", "POST", kRbac + "clusterrolebindings", Binding("subs", "ClusterRole", "subs", GroupSubject("subs")));
  add("sue", "GET", pods + "/x/log", "", {"subs"});
  add("sue", "GET", pods + "/x", "", {"subs"});
  add("sue", "PATCH", "/apis/apps/v1/namespaces/a/deployments/d/status", "{}", {"subs"});
  add("sue", "PATCH", "/apis/apps/v1/namespaces/a/deployments/d", "{}", {"subs"});
  add("sue", "POST", kSelf, MayI("delete", "batch", "jobs", "b", R"(,"subresource":"status")"), {"subs"});
  add("sue", "POST", kSelf,
      R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"nonResourceAttributes":{"verb":"get","path":"/logs/a/b"}}})",
      {"subs"});
  add("sue", "POST", kSelf,
      R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"nonResourceAttributes":{"verb":"post","path":"/metrics"}}})",
      {"subs"});

  // Roles of the cluster in one namespace; accounts; what is not there.
  add("", "POST", kInA + "rolebindings",
      Binding("view", "ClusterRole", "view", R"({"kind":"ServiceAccount","name":"robot"})"));
  const std::string robot = "system:serviceaccount:a:robot";
  add(robot, "GET", maps);
  add(robot, "GET", "/api/v1/namespaces/a/secrets");
  add(robot, "GET", "/api/v1/namespaces/b/configmaps");
  add(robot, "POST", kSelf, MayI("list", "apps", "deployments", "a"));
  add("system:serviceaccount:b:robot", "GET", maps);
  add("", "POST", kInA + "rolebindings", Binding("edit", "ClusterRole", "edit", UserSubject("edda")));
  add("edda", "POST", maps, R"({"metadata":{"name":"two"}})");
  add("edda", "DELETE", maps + "/two");
  add("edda", "GET", "/api/v1/namespaces/a/secrets");
  add("edda", "POST", kInA + "roles", Role("mine", Rule(R"("")", R"("pods")", R"("get")")));
  add("", "POST", kInA + "rolebindings", Binding("gone", "Role", "gone", UserSubject("gina")));
  add("", "POST", kRbac + "clusterrolebindings", Binding("gone", "ClusterRole", "gone", UserSubject("gina")));
  add("gina", "GET", pods);
  add("gina", "POST", kSelf, MayI("get", "", "pods", "a"));

  // Nobody gives what he has not got.
  add("", "POST", kInA + "rolebindings", Binding("admin", "ClusterRole", "admin", UserSubject("adam")));
  add("adam", "POST", kInA + "roles", Role("mine", Rule(R"("")", R"("pods")", R"("get","list")")));
  add("adam", "POST", kInA + "roles",
      Role("more", absl::StrCat(Rule(R"("")", R"("nodes","pods")", R"("get","list")"), ",",
                                Rule(R"("x.example.com")", R"("things")", R"("*")", R"("a")"))));
  add("adam", "PATCH", kInA + "roles/mine", absl::StrCat(R"({"rules":[)", Rule(R"("*")", R"("*")", R"("*")"), "]}"));
  add("adam", "PATCH", kInA + "roles/reader", R"({"metadata":{"labels":{"x":"y"}}})");
  add("adam", "POST", kInA + "rolebindings", Binding("friend", "Role", "mine", UserSubject("jane")));
  add("adam", "POST", kInA + "rolebindings", Binding("boss", "ClusterRole", "cluster-admin", UserSubject("jane")));
  add("adam", "POST", kInA + "rolebindings", Binding("none", "Role", "none", UserSubject("jane")));
  add("adam", "POST", kRbac + "clusterroles", Role("mine", Rule(R"("")", R"("pods")", R"("get")")));
  add("", "POST", kRbac + "clusterroles",
      Role("role-writer",
           absl::StrCat(
               Rule(R"("rbac.authorization.k8s.io")", R"("clusterroles","clusterrolebindings","roles","rolebindings")",
                    R"("create","update","patch","get","delete")"),
               ",", Rule(R"("rbac.authorization.k8s.io")", R"("clusterroles")", R"("bind")", R"("view")"))));
  add("", "POST", kRbac + "clusterrolebindings",
      Binding("role-writer", "ClusterRole", "role-writer", UserSubject("wren")));
  add("wren", "POST", kRbac + "clusterroles", Role("w1", R"({"nonResourceURLs":["/metrics"],"verbs":["get"]})"));
  add("wren", "POST", kRbac + "clusterroles",
      Role("w2", Rule(R"("rbac.authorization.k8s.io")", R"("roles")", R"("get")")));
  add("wren", "POST", kRbac + "clusterroles",
      Role("w3", "", R"(,"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]})"));
  add("wren", "POST", kRbac + "clusterrolebindings", Binding("w1", "ClusterRole", "view", UserSubject("jane")));
  add("wren", "POST", kRbac + "clusterrolebindings", Binding("w2", "ClusterRole", "edit-none", UserSubject("jane")));
  add("wren", "POST", kRbac + "clusterrolebindings",
      Binding("w3", "ClusterRole", "cluster-admin", UserSubject("jane")));
  add("", "POST", kRbac + "clusterroles",
      Role("escalate", Rule(R"("rbac.authorization.k8s.io")", R"("roles")", R"("escalate","create")")));
  add("", "POST", kInA + "rolebindings", Binding("escalate", "ClusterRole", "escalate", UserSubject("esther")));
  add("esther", "POST", kInA + "roles", Role("all", Rule(R"("*")", R"("*")", R"("*")")));

  // A PUT creates only for who may create.
  add("", "POST", kInA + "roles", Role("updater", Rule(R"("")", R"("configmaps","events")", R"("update","patch")")));
  add("", "POST", kInA + "rolebindings", Binding("updater", "Role", "updater", UserSubject("uma")));
  add("uma", "PUT", "/api/v1/namespaces/a/events/e",
      R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"e","namespace":"a"},"involvedObject":{"namespace":"a"},"reason":"r"})");
  out.push_back({"uma",
                 {},
                 "PATCH",
                 maps + "/new?fieldManager=m",
                 R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"new"}})",
                 "application/apply-patch+yaml"});

  add("", "PUT", kRbac + "clusterroles/by-put", Role("by-put", Rule(R"("")", R"("pods")", R"("get")")));
  add("wren", "PUT", kInA + "roles/by-put", Role("by-put", Rule(R"("")", R"("pods")", R"("get")")));

  // Reviews of others, and of oneself.
  const std::string others = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
  const auto about = [](const std::string& spec) {
    return absl::StrCat(R"({"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":)", spec, "}");
  };
  add("", "POST", others,
      about(R"({"user":"adam","resourceAttributes":{"verb":"delete","resource":"pods","namespace":"a"}})"));
  add("", "POST", others,
      about(R"({"user":"adam","resourceAttributes":{"verb":"delete","resource":"pods","namespace":"b"}})"));
  add("", "POST", others,
      about(R"({"user":"x","groups":["subs"],"nonResourceAttributes":{"verb":"get","path":"/metrics"}})"));
  add("", "POST", others,
      about(R"({"user":"x","groups":["system:masters"],"resourceAttributes":{"verb":"v","resource":"r"}})"));
  add("", "POST", others, about(R"({"user":"jane"})"));
  add("", "POST", others, about(R"({"resourceAttributes":{"verb":"get","resource":"pods"}})"));
  add("", "POST", others,
      about(
          R"({"user":"jane","resourceAttributes":{"verb":"get","resource":"pods"},"nonResourceAttributes":{"verb":"get","path":"/"}})"));
  add("jane", "POST", others, about(R"({"user":"jane","resourceAttributes":{"verb":"get","resource":"pods"}})"));
  add("adam", "POST", "/apis/authorization.k8s.io/v1/namespaces/a/localsubjectaccessreviews",
      R"({"apiVersion":"authorization.k8s.io/v1","kind":"LocalSubjectAccessReview","metadata":{"namespace":"a"},"spec":{"user":"rita","resourceAttributes":{"verb":"get","resource":"configmaps","name":"one","namespace":"a"}}})");
  add("", "POST", "/apis/authorization.k8s.io/v1/namespaces/a/localsubjectaccessreviews",
      R"({"apiVersion":"authorization.k8s.io/v1","kind":"LocalSubjectAccessReview","metadata":{"namespace":"a"},"spec":{"user":"rita","resourceAttributes":{"verb":"get","resource":"configmaps","namespace":"b"}}})");
  const std::string me = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const std::string me_body = R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})";
  add("jane", "POST", me, me_body, {"devs"});
  add(robot, "POST", me, me_body);
  add("system:anonymous", "POST", me, me_body);
  add("rita", "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
      R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectRulesReview","spec":{"namespace":""}})");

  // Tokens.
  add("", "POST", "/api/v1/namespaces/a/serviceaccounts", R"({"metadata":{"name":"robot"}})");
  const auto token = [](const std::string& spec) {
    return absl::StrCat(R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":)", spec, "}");
  };
  add("", "POST", "/api/v1/namespaces/a/serviceaccounts/none/token", token("{}"));
  add("", "POST", "/api/v1/namespaces/a/serviceaccounts/robot/token", token(R"({"expirationSeconds":5})"));
  add("", "POST", "/api/v1/namespaces/a/serviceaccounts/robot/token",
      token(R"({"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"none"}})"));
  add("jane", "POST", "/api/v1/namespaces/a/serviceaccounts/robot/token", token("{}"));
  return out;
}

// What matters of an answer: of refusals all that is said, of reviews their verdict, of others that they came.
std::string Told(const kube::Response& response) {
  const absl::StatusOr<json::value> body = api::ParseJson(*response.body);
  if (!body.ok() || !body->is_object()) return absl::StrCat(response.code);
  const json::object& object = body->get_object();
  const json::value* const kind = object.if_contains("kind");
  const std::string name = kind == nullptr || !kind->is_string() ? "" : std::string(kind->get_string());
  std::string out = absl::StrCat(response.code);
  if (name == "Status") {
    for (const char* const field : {"reason", "message", "details"}) {
      const json::value* const value = object.if_contains(field);
      if (value == nullptr || response.ok()) continue;
      absl::StrAppend(&out, "\n  ", field, ": ",
                      value->is_string() ? std::string(value->get_string()) : api::ToJson(*value));
    }
  } else if (absl::EndsWith(name, "Review") && object.contains("status")) {
    absl::StrAppend(&out, "\n  ", api::ToJson(object.at("status")));
  }
  return out;
}

}  // namespace

const std::vector<Ask>& Asks() {
  static const auto& asks = *new std::vector<Ask>(MakeAsks());
  return asks;
}

std::string AnswersOf(const std::function<kube::Response(const Ask&)>& send) {
  std::string out;
  for (const Ask& ask : Asks()) {
    absl::StrAppend(&out, ask.as.empty() ? "admin" : ask.as, ask.groups.empty() ? "" : " of ",
                    absl::StrJoin(ask.groups, ","), ": ", ask.method, " ", ask.path, ask.body.empty() ? "" : " ",
                    ask.body, "\n", Told(send(ask)), "\n\n");
  }
  return out;
}

std::string RecordedAnswersFile() { return GW_SOURCE_DIR "/tests/golden/rbac/answers.txt"; }

}  // namespace gangway::testutil
