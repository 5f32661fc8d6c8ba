// PaddleJobs written as people write them, translated, and looked at.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/field_table.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "api/paddle/paddle_job.h"
#include "api/volcano/admission.h"
#include "base/check.h"
#include "base/strings.h"
#include "translator/convert/translate.h"

namespace gangway::testutil {

inline api::paddle::PaddleJob PaddleJobOf(const std::string& yaml) {
  const auto documents = api::ReadManifest(yaml, "job.yaml");
  GW_CHECK(documents.ok() && documents->size() == 1);
  const auto job = api::Decode<api::paddle::PaddleJob>(documents->front().json);
  GW_CHECK(job.ok());
  return *job;
}

// `spec` in YAML's flow style: "ps: {replicas: 2, template: T}", where T stands for a template with one container.
inline api::paddle::PaddleJob PaddleJobWith(std::string spec,
                                            const std::string& metadata = "name: wd, namespace: default") {
  const std::string plain = "{spec: {containers: [{name: paddle, image: paddle:2.6, command: [python, train.py]}]}}";
  const std::string gpu =
      "{spec: {containers: [{name: paddle, image: paddle:2.6, command: [python, train.py], resources: {limits: "
      "{nvidia.com/gpu: 1}}, "
      "volumeMounts: [{name: shm, mountPath: /dev/shm}]}], volumes: [{name: shm, emptyDir: {medium: Memory}}]}}";
  for (const auto& [mark, text] : {std::pair("template: T", plain), std::pair("template: G", gpu)}) {
    for (std::size_t at = 0; (at = spec.find(mark, at)) != std::string::npos;) {
      spec.replace(at, std::string(mark).size(), "template: " + text);
      at += text.size();
    }
  }
  return PaddleJobOf(absl::StrCat("{apiVersion: batch.paddlepaddle.org/v1, kind: PaddleJob, metadata: {", metadata,
                                  "}, spec: {", spec, "}}"));
}

inline constexpr char kTwoAndTwo[] = "ps: {replicas: 2, template: T}, worker: {replicas: 2, template: T}";

inline convert::TranslateOptions ForGangway() { return {.target = convert::Target::kGangway, .kept = true}; }

// "W-DNS spec.ps.template.spec.dnsPolicy; I-PRIORITY"
inline std::string Told(const convert::Findings& findings) {
  return absl::StrJoin(findings, "; ", [](std::string* out, const convert::Finding& one) {
    absl::StrAppend(out, View(convert::EntryOf(one.code).name), one.error.field.empty() ? "" : " ", one.error.field);
  });
}
// The text of the first finding of a code; "" when there is none.
inline std::string TextOf(const convert::Findings& findings, convert::Code code) {
  for (const convert::Finding& one : findings) {
    if (one.code == code) return one.ToString();
  }
  return "";
}

// The template of a task; GW_CHECK that there is one.
inline boost::json::object TemplateOf(const convert::Translation& done, const std::string& task) {
  for (const auto& one : done.job.spec.tasks) {
    if (one.name == task) return api::ParseJson(one.pod_template.json).value().as_object();
  }
  GW_CHECK(false && "no such task");
  return {};
}
inline boost::json::object PodOf(const convert::Translation& done, const std::string& task) {
  return TemplateOf(done, task).at("spec").as_object();
}
inline boost::json::object ContainerOf(const convert::Translation& done, const std::string& task, std::size_t i = 0) {
  return PodOf(done, task).at("containers").as_array().at(i).as_object();
}

// "NAME=value" in their order; "NAME<metadata.name" of fields.
inline std::vector<std::string> EnvOf(const boost::json::object& container) {
  std::vector<std::string> out;
  if (!container.contains("env")) return out;
  for (const boost::json::value& one : container.at("env").as_array()) {
    const std::string name(one.at("name").as_string());
    const auto* const value = one.as_object().if_contains("value");
    const auto* const from = one.as_object().if_contains("valueFrom");
    const auto* const field = from == nullptr ? nullptr : from->as_object().if_contains("fieldRef");
    if (field != nullptr) {
      out.push_back(absl::StrCat(name, "<", std::string(field->at("fieldPath").as_string())));
    } else {
      out.push_back(absl::StrCat(name, "=", value == nullptr ? "" : std::string(value->as_string())));
    }
  }
  return out;
}
inline std::vector<std::string> EnvOf(const convert::Translation& done, const std::string& task) {
  return EnvOf(ContainerOf(done, task));
}
// The value of a variable; "-" when there is none.
inline std::string Variable(const std::vector<std::string>& env, const std::string& name) {
  for (const std::string& one : env) {
    if (one.rfind(name + "=", 0) == 0 || one.rfind(name + "<", 0) == 0) return one.substr(name.size() + 1);
  }
  return "-";
}

// What Volcano's admission says of the Job; "" when it takes it as it is.
inline std::string Refusal(const convert::Translation& done) {
  const std::string text = api::Encode(done.job);
  boost::json::value object = api::ParseJson(text).value();
  const api::volcano::AdmissionRequest request{
      .resource = &api::kJobs, .ns = done.job.metadata.ns, .name = done.job.metadata.name};
  return api::volcano::Admit(request, &object, nullptr).message;
}

}  // namespace gangway::testutil
