// Manifests as documents, and looking into them.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"

namespace gangway::testutil {

using boost::json::value;

inline const std::string kDeploy = GW_SOURCE_DIR "/deploy/volcano";

// At a JSON pointer; null when it is not there.
inline const value& At(const value& document, const char* pointer) {
  static const value kNull;
  boost::system::error_code error;
  const value* at = document.find_pointer(pointer, error);
  return at == nullptr ? kNull : *at;
}
inline std::string TextAt(const value& document, const char* pointer) {
  const value& at = At(document, pointer);
  return at.is_string() ? std::string(at.get_string()) : std::string();
}
inline const boost::json::array& ListAt(const value& document, const char* pointer) {
  static const boost::json::array kNone;
  const value& at = At(document, pointer);
  return at.is_array() ? at.get_array() : kNone;
}
inline std::vector<std::string> TextsAt(const value& document, const char* pointer) {
  std::vector<std::string> out;
  for (const value& text : ListAt(document, pointer)) out.emplace_back(text.get_string());
  return out;
}
using Labels = std::map<std::string, std::string>;
inline Labels LabelsAt(const value& document, const char* pointer) {
  Labels out;
  const value& at = At(document, pointer);
  if (!at.is_object()) return out;
  for (const auto& label : at.get_object()) out.emplace(label.key(), label.value().get_string());
  return out;
}
inline bool Selects(const Labels& selector, const Labels& labels) {
  return !selector.empty() && std::includes(labels.begin(), labels.end(), selector.begin(), selector.end());
}

// "Deployment gangway-system/gangway-scheduler"
inline std::string NameOf(const value& document) {
  const std::string ns = TextAt(document, "/metadata/namespace");
  return absl::StrCat(TextAt(document, "/kind"), " ", ns, ns.empty() ? "" : "/", TextAt(document, "/metadata/name"));
}

inline std::vector<value> Read(const std::string& yaml, const std::string& source) {
  std::vector<value> out;
  const auto documents = api::ReadManifest(yaml, source);
  EXPECT_TRUE(documents.ok()) << documents.status();
  if (!documents.ok()) return out;
  for (const api::ManifestDocument& document : *documents) out.push_back(*api::ParseJson(document.json));
  return out;
}

// What `kubectl kustomize` makes of a folder.
inline std::string RenderedFolder(const std::string& folder) {
  const Outcome outcome = RunProgram({"kubectl", "kustomize", folder});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return outcome.out;
}
// The same of one of ours, rendered once.
inline const std::string& Rendered(const std::string& kustomization) {
  static std::map<std::string, std::string> rendered;
  const auto [it, fresh] = rendered.try_emplace(kustomization);
  if (fresh) it->second = RenderedFolder(kDeploy + "/" + kustomization);
  return it->second;
}

}  // namespace gangway::testutil
