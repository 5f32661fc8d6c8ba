#include "plugin/lifecycle/hyper_nodes/label_source.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "api/name.h"
#include "base/status_macros.h"
#include "plugin/lifecycle/hyper_nodes/hyper_nodes.h"

namespace gangway::lifecycle {
namespace {

namespace json = boost::json;
using api::AbslView;

constexpr char kDiscovery[] = "networkTopologyDiscovery", kTypes[] = "networkTopologyTypes", kLabel[] = "nodeLabel";
constexpr absl::string_view kHostname = "kubernetes.io/hostname";
constexpr std::size_t kMaxNotes = 100, kShownBytes = 80;

std::string Shown(absl::string_view text) {
  const std::string shown = absl::Utf8SafeCEscape(text.substr(0, kShownBytes));
  return text.size() > kShownBytes ? absl::StrCat(shown, "...") : shown;
}

// The path of a member, fit for ManifestDocument::Find.
std::string At(absl::string_view path, absl::string_view key) { return absl::StrCat(path, "[", key, "]"); }

class SourceReader {
 public:
  explicit SourceReader(const api::ManifestDocument& document) : document_(document) {}

  absl::StatusOr<LabelSourceFile> Read() {
    GW_ASSIGN_OR_RETURN(const json::value root, api::ParseJson(document_.json));
    if (root.is_null()) return std::move(out_);
    if (!root.is_object()) return Wrong("", absl::StrCat("must be a map with ", kDiscovery));
    if (const json::value* kind = root.as_object().if_contains("kind"); kind != nullptr && *kind == "ConfigMap") {
      return Wrong("kind",
                   "this is the ConfigMap; give the file that it holds, the text of its key volcano-controller.conf");
    }
    const json::value* const discovery = root.as_object().if_contains(kDiscovery);
    if (discovery == nullptr || discovery->is_null()) return std::move(out_);
    if (!discovery->is_array()) return Wrong(kDiscovery, "must be a list of sources");
    for (std::size_t i = 0; i < discovery->as_array().size(); ++i)
      GW_RETURN_IF_ERROR(ReadSource(discovery->as_array()[i], absl::StrCat(kDiscovery, "[", i, "]")));
    for (auto& [name, labels] : types_) out_.source.types.push_back({name, std::move(labels)});
    return std::move(out_);
  }

 private:
  std::string Where(absl::string_view path) const {
    return absl::StrCat(document_.source, ":", document_.Find(path).line, ": ");
  }
  absl::Status Wrong(absl::string_view path, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(Where(path), path, path.empty() ? "" : ": ", what));
  }
  void Note(absl::string_view path, absl::string_view what) {
    if (out_.notes.size() < kMaxNotes) out_.notes.push_back(absl::StrCat(Where(path), what));
  }

  absl::Status ReadSource(const json::value& value, const std::string& at) {
    if (!value.is_object()) return Wrong(at, "must be a map with source, enabled and config");
    const json::object& source = value.as_object();
    const json::value* const name = source.if_contains("source");
    const json::value* const enabled = source.if_contains("enabled");
    if (enabled != nullptr && !enabled->is_bool()) return Wrong(at + ".enabled", "must be true or false");
    if (enabled == nullptr || !enabled->as_bool()) return absl::OkStatus();
    if (name == nullptr || !name->is_string()) return Wrong(at + ".source", "must be the name of a source");
    if (name->as_string() != "label") {
      Note(at + ".source", absl::StrCat("source ", Shown(AbslView(name->as_string())),
                                        " is not followed: HyperNodes are made from labels of nodes alone"));
      return absl::OkStatus();
    }
    if (out_.source.enabled) {
      Note(at, "the source label stands here a second time, and the first one counts");
      return absl::OkStatus();
    }
    out_.source.enabled = true;
    const json::value* const config = source.if_contains("config");
    const json::value* const types =
        config == nullptr || !config->is_object() ? nullptr : config->as_object().if_contains(kTypes);
    const std::string types_at = absl::StrCat(at, ".config.", kTypes);
    if (types == nullptr || types->is_null()) {
      Note(types_at, absl::StrCat("there are no ", kTypes, ": labels make no HyperNode"));
    } else if (types->is_object()) {
      return ReadTypes(types->as_object(), types_at);
    } else if (types->is_array()) {
      for (std::size_t i = 0; i < types->as_array().size(); ++i) {
        const std::string item_at = absl::StrCat(types_at, "[", i, "]");
        if (!types->as_array()[i].is_object()) return Wrong(item_at, "must be a map from a name to a list of labels");
        GW_RETURN_IF_ERROR(ReadTypes(types->as_array()[i].as_object(), item_at));
      }
    } else {
      return Wrong(types_at, "must be a map from names to lists of labels");
    }
    return absl::OkStatus();
  }

  absl::Status ReadTypes(const json::object& types, const std::string& at) {
    for (const json::key_value_pair& type : types) {
      const std::string name(AbslView(type.key()));
      const std::string type_at = At(at, name);
      std::vector<std::string> labels;
      GW_RETURN_IF_ERROR(ReadLabels(type.value(), type_at, labels));
      if (Takes(name, type_at, labels)) {
        if (labels.back() != kHostname)
          Note(type_at, absl::StrCat("the last label stands for the node itself and makes no HyperNode; it is ",
                                     Shown(labels.back()), ", not ", kHostname));
        labels.pop_back();
        std::reverse(labels.begin(), labels.end());
        types_[name] = std::move(labels);
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadLabels(const json::value& list, const std::string& at, std::vector<std::string>& labels) const {
    if (!list.is_array()) return Wrong(at, "must be a list of labels, the widest first");
    for (std::size_t i = 0; i < list.as_array().size(); ++i) {
      const json::value& item = list.as_array()[i];
      const json::value* const label = item.is_object() ? item.as_object().if_contains(kLabel) : nullptr;
      if (label == nullptr || !label->is_string() || label->as_string().empty())
        return Wrong(absl::StrCat(at, "[", i, "]"), absl::StrCat("must be ", kLabel, ": and a label of nodes"));
      labels.emplace_back(AbslView(label->as_string()));
    }
    return absl::OkStatus();
  }

  // What Volcano would log and leave out, and what no HyperNode can be called after.
  bool Takes(const std::string& name, const std::string& at, const std::vector<std::string>& labels) {
    const auto leave = [&](absl::string_view why) {
      Note(at, absl::StrCat("type ", Shown(name), " is left out: ", why));
      return false;
    };
    if (name.size() > kMaxTopologyName)
      return leave(absl::StrCat("its name is longer than ", kMaxTopologyName, " characters"));
    if (!api::CheckDns1123Subdomain(HyperNodePrefix(name, 1) + "-x").empty())
      return leave("no HyperNode can be called after it");
    if (types_.size() >= kMaxTopologyTypes && !types_.contains(name))
      return leave(absl::StrCat("there are more than ", kMaxTopologyTypes));
    if (labels.empty()) return leave("it has no labels");
    if (labels.size() > kMaxTopologyTiers + 1) return leave(absl::StrCat("it has more than ", kMaxTopologyTiers));
    if (std::set<std::string>(labels.begin(), labels.end()).size() != labels.size())
      return leave("a label stands in it twice");
    return true;
  }

  const api::ManifestDocument& document_;
  LabelSourceFile out_;
  std::map<std::string, std::vector<std::string>> types_;
};

}  // namespace

absl::StatusOr<LabelSourceFile> ReadLabelSource(absl::string_view text, absl::string_view source) {
  if (text.size() > kMaxControllerConfBytes)
    return absl::InvalidArgumentError(absl::StrCat(source, ": is longer than ", kMaxControllerConfBytes,
                                                   " bytes; this is no volcano-controller.conf"));
  GW_ASSIGN_OR_RETURN(const std::vector<api::ManifestDocument> documents, api::ReadDocuments(text, source));
  if (documents.empty()) return LabelSourceFile();
  if (documents.size() > 1)
    return absl::InvalidArgumentError(absl::StrCat(source, ": one document is expected, there are ", documents.size()));
  return SourceReader(documents[0]).Read();
}

}  // namespace gangway::lifecycle
