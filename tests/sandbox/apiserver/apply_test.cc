// Server-side apply through the server: what of it clients see beside the answers that tests/conformance compares.
#include "sandbox/apiserver/in_process_client.h"
#include "tests/sandbox/apiserver/server_fixture.h"

namespace gangway::testutil {
namespace {

constexpr absl::string_view kApply = "application/apply-patch+yaml";

class ApplyTest : public ServerTest {
 protected:
  Answer Apply(absl::string_view path, absl::string_view config, std::string query = "fieldManager=m") {
    return Patch(path, config, std::string(kApply), std::move(query));
  }
  static std::string Config(absl::string_view data) {
    return absl::StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{)", data, "}}");
  }
  const std::string path_ = absl::StrCat(kConfigMaps, "/a");
};

TEST_F(ApplyTest, AnApplyThatChangesNothingIsNoCommit) {
  ASSERT_EQ(Apply(path_, Config(R"("k":"v")")).code, 201);
  const std::uint64_t before = revision();
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(Apply(path_, Config(R"("k":"v")")).code, 200);
  EXPECT_EQ(revision(), before);
}

TEST_F(ApplyTest, WhoeverReadsSeesTheManagedFields) {
  Apply(path_, Config(R"("k":"v")"));
  EXPECT_EQ(Get(path_).Text("metadata.managedFields.0.manager"), "m");
  EXPECT_EQ(Get(kConfigMaps).Text("items.0.metadata.managedFields.0.operation"), "Apply");
  EXPECT_EQ(Do("GET", path_, {}, {.accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"})
                .Text("metadata.managedFields.0.manager"),
            "m");
}

// JSON has no such bytes: what is read would be another manager.
TEST_F(ApplyTest, AManagerIsStoredAsItIsRead) {
  Apply(path_, Config(R"("k":"v")"), "fieldManager=m%FF%C3%A4");
  const Answer read = Get(path_);
  EXPECT_EQ(read.Text("metadata.managedFields.0.manager"), "m\xEF\xBF\xBD\xC3\xA4");
  const std::uint64_t before = revision();
  EXPECT_EQ(Do("PUT", path_, read.body).code, 200);
  EXPECT_EQ(revision(), before);
}

// Also of deletions, where the revision may have more digits than the object had: 9 to 10, 99 to 100.
TEST_F(ApplyTest, WatchersSeeThemToo) {
  std::vector<std::string> seen;
  kube::Request request;
  request.method = "GET";
  request.path = std::string(kConfigMaps);
  request.query = "watch=true";
  auto watch = server_.StartWatch(
      request, {"test"},
      [&](std::vector<kube::Frame> frames) {
        for (const kube::Frame& frame : frames) seen.push_back(*frame.object);
      },
      [](absl::Status) {});
  for (int i = 0; i < 60; ++i) {
    Apply(path_, Config(R"("k":"v")"));
    Delete(path_);
    Settle();
    ASSERT_EQ(seen.size(), 2u);
    for (const std::string& object : seen)
      ASSERT_EQ(Json(object).Text("metadata.managedFields.0.manager"), "m") << object;
    ASSERT_EQ(Json(seen[1]).Text("metadata.resourceVersion"), absl::StrCat(revision()));
    seen.clear();
  }
}

TEST_F(ApplyTest, ComponentsInTheProcessAreSparedThem) {
  sandbox::InProcessClient client(loop_, server_, "controller");
  std::vector<std::string> answers;
  const auto ask = [&] {
    Owner owner;
    client.Send({.method = "GET", .path = path_, .query = {}, .content_type = {}, .accept = {}, .body = {}},
                owner.token(), [&](absl::StatusOr<kube::Response> response) { answers.push_back(*response->body); });
    Settle();
  };
  Apply(path_, Config(R"("k":"v")"));
  ask();
  client.ShowManagedFields();
  ask();
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_FALSE(Json(answers[0]).Has("metadata.managedFields"));
  EXPECT_TRUE(Json(answers[1]).Has("metadata.managedFields"));
}

TEST_F(ApplyTest, TheNameOfTheClientIsTheManagerOfAnUpdate) {
  Post(kConfigMaps, ConfigMapJson("a"));
  EXPECT_EQ(Get(path_).Text("metadata.managedFields.0.manager"), "test");
  Patch(path_, R"({"data":{"b":"2"}})", "merge", "fieldManager=me");
  EXPECT_EQ(Get(path_).json().Size("metadata.managedFields"), 2u);
}

TEST_F(ApplyTest, DeepAndHugeConfigurationsAreRefused) {
  std::string deep = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":)";
  deep += std::string(500, '[') + std::string(500, ']') + "}";
  EXPECT_EQ(Apply(path_, deep).code, 400);
  EXPECT_EQ(Apply(path_, Config(absl::StrCat(R"("k":")", std::string(4u << 20, 'x'), "\""))).code, 413);
  std::string laughs = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\na: &a [x,x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c < 'i'; ++c) {
    absl::StrAppend(&laughs, std::string(1, c), ": &", std::string(1, c), " [");
    for (int i = 0; i < 10; ++i)
      absl::StrAppend(&laughs, i == 0 ? "*" : ",*", std::string(1, static_cast<char>(c - 1)));
    absl::StrAppend(&laughs, "]\n");
  }
  const Answer bomb = Apply(path_, laughs);
  EXPECT_TRUE(bomb.code == 400 || bomb.code == 413) << bomb.code;
  EXPECT_EQ(Get(path_).code, 404);
}

// Many keys, in no order: everything stays near linear.
TEST_F(ApplyTest, AConfigurationOfManyKeys) {
  std::string data;
  for (int i = 0; i < 20000; ++i) absl::StrAppend(&data, i == 0 ? "" : ",", "\"k", (i * 7919) % 20000, "\":\"v\"");
  ASSERT_EQ(Apply(path_, Config(data)).code, 201);
  ASSERT_EQ(Apply(path_, Config(R"("k1":"v")")).code, 200);
  EXPECT_EQ(Get(path_).Text("data.k1"), "v");
  EXPECT_FALSE(Get(path_).json().Has("data.k2"));
}

}  // namespace
}  // namespace gangway::testutil
