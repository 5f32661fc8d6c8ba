#include "api/kinds/kinds.h"

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "api/json_value.h"
#include "api/openapi/kubernetes_schemas.h"
#include "boost/json.hpp"
#include "gtest/gtest.h"

namespace gangway::api {
namespace {

TEST(KindsTest, EveryResourceIsFoundByItsKind) {
  std::set<std::pair<std::string, std::string_view>> seen;
  for (const KindRow& row : Kinds()) {
    const Resource* const resource = row.resource;
    EXPECT_EQ(&RowOf(*resource), &row);
    EXPECT_EQ(FindKind(resource->ApiVersion(), {resource->kind.data(), resource->kind.size()}), resource);
    EXPECT_TRUE(seen.emplace(resource->ApiVersion(), resource->plural).second) << resource->plural << " stands twice";
  }
}

TEST(KindsTest, UnknownKindsAreNotFound) {
  EXPECT_EQ(FindKind("v1", "Job"), nullptr);
  EXPECT_EQ(FindKind("batch/v1beta1", "Job"), nullptr);
  EXPECT_EQ(FindKind("batch.volcano.sh/v1alpha1x", "Job"), nullptr);
  EXPECT_EQ(FindKind("batch.volcano.sh", "Job"), nullptr);
  EXPECT_EQ(FindKind("/v1", "Pod"), nullptr);
  EXPECT_EQ(FindKind("", ""), nullptr);
  EXPECT_EQ(FindKind("v1", "pod"), nullptr);
}

TEST(KindsTest, CustomKindsSayAllThatADefinitionSays) {
  for (const KindRow& row : Kinds()) {
    if (!row.custom()) continue;
    ASSERT_NE(row.table, nullptr) << row.resource->kind;
    EXPECT_FALSE(row.table->view) << row.resource->kind;
    EXPECT_FALSE(row.doc.empty()) << row.resource->kind;
    EXPECT_FALSE(row.columns.empty()) << row.resource->kind;
  }
}

// The definition of Kubernetes' that is this kind.
const boost::json::object* DefinitionOf(const Resource& resource, const boost::json::object& definitions) {
  for (const auto& definition : definitions) {
    const boost::json::value* const kinds =
        definition.value().get_object().if_contains("x-kubernetes-group-version-kind");
    if (kinds == nullptr) continue;
    for (const boost::json::value& kind : kinds->get_array()) {
      if (kind.at("group").as_string() == boost::json::string_view(resource.group) &&
          kind.at("version").as_string() == boost::json::string_view(resource.version) &&
          kind.at("kind").as_string() == boost::json::string_view(resource.kind)) {
        return &definition.value().get_object();
      }
    }
  }
  return nullptr;
}

TEST(KindsTest, OfKubernetesKindsWeLookAtFieldsThatThereAre) {
  const std::string_view text = KubernetesSchemas();
  const boost::json::value data = *ParseJson({text.data(), text.size()});
  for (const KindRow& row : Kinds()) {
    if (row.custom()) continue;
    const boost::json::object* const definition = DefinitionOf(*row.resource, data.at("definitions").get_object());
    ASSERT_NE(definition, nullptr) << row.resource->kind;
    const boost::json::object& properties = definition->at("properties").get_object();
    EXPECT_FALSE(row.status && !properties.contains("status")) << row.resource->kind;
    if (row.table == nullptr) continue;
    EXPECT_TRUE(row.table->view) << row.resource->kind;
    for (std::size_t i = 0; i < row.table->field_count; ++i) {
      EXPECT_TRUE(properties.contains(row.table->fields[i].name))
          << row.resource->kind << "." << row.table->fields[i].name;
    }
  }
}

}  // namespace
}  // namespace gangway::api
