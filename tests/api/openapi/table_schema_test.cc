#include "api/openapi/table_schema.h"

#include <set>

#include "api/json_value.h"
#include "api/openapi/crd_defaults.h"
#include "api/openapi/kubernetes_schemas.h"
#include "api/volcano/job.h"
#include "api/volcano/kinds.h"
#include "api/volcano/scheduling.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::api {
namespace {

using boost::json::object;
using boost::json::value;

object Named(absl::string_view definition) { return {{"$ref", std::string(definition)}}; }
object Inline(absl::string_view definition) { return {{"type", "object"}, {"x-name", std::string(definition)}}; }

std::string At(const value& schema, const char* pointer) {
  boost::system::error_code error;
  const value* at = schema.find_pointer(pointer, error);
  return at == nullptr ? "nothing" : ToJson(*at);
}

TEST(SchemaOfTableTest, EmbedsTypesOfKubernetesWhereTheTableHasADocument) {
  const value job = SchemaOfTable(TypeOf<volcano::Job>(), Named);
  EXPECT_EQ(At(job, "/properties/spec/properties/tasks/items/properties/template"),
            R"({"allOf":[{"$ref":"io.k8s.api.core.v1.PodTemplateSpec"}],"description":"a core/v1 pod template"})");
  EXPECT_EQ(At(job, "/properties/metadata"), R"({"$ref":"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"})");
}

TEST(SchemaOfTableTest, DescriptionsStandInTheTypeItself) {
  const value job = SchemaOfTable(TypeOf<volcano::Job>(), Inline);
  EXPECT_EQ(
      At(job, "/properties/spec/properties/volumes/items/properties/volumeClaim"),
      R"({"type":"object","x-name":"io.k8s.api.core.v1.PersistentVolumeClaimSpec","description":"a claim to create"})");
}

TEST(SchemaOfTableTest, PartsOfOurOwnAreTables) {
  const value queue = SchemaOfTable(TypeOf<volcano::Queue>(), Named);
  EXPECT_EQ(At(queue, "/properties/spec/properties/extendClusters/type"), R"("array")");
  EXPECT_EQ(At(queue, "/properties/spec/properties/extendClusters/description"), R"("stored only")");
  EXPECT_EQ(At(queue, "/properties/spec/properties/extendClusters/items/properties/weight/type"), R"("integer")");
  const value group = SchemaOfTable(TypeOf<volcano::PodGroup>(), Named);
  EXPECT_THAT(At(group, "/properties/spec/properties/subGroupPolicy/items/properties/labelSelector"),
              ::testing::HasSubstr("io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"));
}

// What the others rely on: every name leads somewhere.
TEST(EmbeddedTest, EveryDefinitionAndEveryDefaultIsPublished) {
  const std::string_view text = KubernetesSchemas();
  const value data = *ParseJson({text.data(), text.size()});
  const object& definitions = data.at("definitions").get_object();
  std::set<std::string> names;
  for (const KindRow& kind : volcano::Kinds()) {
    SchemaOfTable(*kind.table, [&](absl::string_view definition) {
      names.insert(std::string(definition));
      return Named(definition);
    });
  }
  EXPECT_EQ(names.size(), 4u);
  for (const std::string& name : names) EXPECT_TRUE(definitions.contains(name)) << name;
  for (const CrdDefault& entry : CrdDefaults()) {
    const value* definition = definitions.if_contains("io.k8s.api." + std::string(entry.definition));
    ASSERT_NE(definition, nullptr) << entry.definition;
    EXPECT_TRUE(definition->at("properties").get_object().contains(entry.property))
        << entry.definition << " " << entry.property;
  }
}

}  // namespace
}  // namespace gangway::api
