#include "sandbox/process/volumes.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testutil::StatusIs;

class VolumesTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::vector<PodVolume>> Volumes(const std::string& volume) {
    pod_ = *api::Decode<HostedPod>(
        absl::StrCat(R"({"metadata":{"name":"p","namespace":"ml","labels":{"a":"b"}},"spec":{"volumes":[{"name":"v",)",
                     volume, "}]}}"));
    return VolumesOf({pod_, "10.1.0.7", "10.0.0.3", nullptr, sources_}, folders_);
  }
  PodVolume Only(const std::string& volume) {
    const auto volumes = Volumes(volume);
    EXPECT_TRUE(volumes.ok()) << volumes.status();
    return volumes.ok() ? volumes->at(0) : PodVolume{};
  }
  static std::vector<std::string> Files(const PodVolume& volume) {
    std::vector<std::string> out;
    for (const VolumeFile& file : volume.files)
      out.push_back(absl::StrCat(file.path, "=", file.content, " ", file.mode));
    return out;
  }

  HostedPod pod_;
  const SourceObject conf_ =
      *api::Decode<SourceObject>(R"({"metadata":{"name":"conf"},"data":{"a":"1","b":"2"},"binaryData":{"c":"AAE="}})");
  const SourceObject keys_ = *api::Decode<SourceObject>(R"({"metadata":{"name":"keys"},"data":{"k":"MQ=="}})");
  static inline const std::string kUid = "uid-7";
  VolumeFolders folders_{"/state/volumes", "/claims"};
  SourceLookup sources_{[this](const std::string& name) { return name == "conf" ? &conf_ : nullptr; },
                        [this](const std::string& name) { return name == "keys" ? &keys_ : nullptr; },
                        [](const std::string&) { return nullptr; }};
};

TEST_F(VolumesTest, WhatEachKindIsOnTheMachine) {
  EXPECT_EQ(Only(R"("emptyDir":{})").kind, PodVolume::Kind::kEmpty);
  EXPECT_EQ(Only(R"("emptyDir":{})").folder, "/state/volumes/v");
  const PodVolume memory = Only(R"("emptyDir":{"medium":"Memory","sizeLimit":"1Mi"})");
  EXPECT_EQ(memory.kind, PodVolume::Kind::kMemory);
  EXPECT_EQ(memory.memory_bytes, 1 << 20);
  const PodVolume host = Only(R"("hostPath":{"path":"/data","type":"Directory"})");
  EXPECT_EQ(host.kind, PodVolume::Kind::kHost);
  EXPECT_EQ(host.folder, "/data");
  EXPECT_EQ(host.host_type, "Directory");
  const PodVolume claim = Only(R"("persistentVolumeClaim":{"claimName":"model","readOnly":true})");
  EXPECT_EQ(claim.folder, "/claims/ml/model");
  EXPECT_TRUE(claim.read_only);
  sources_.claim_uid = [](const std::string& name) { return name == "model" ? &kUid : nullptr; };
  EXPECT_EQ(Only(R"("persistentVolumeClaim":{"claimName":"model"})").folder, "/claims/ml/model")
      << "whoever keeps it finds it by its name";
  folders_.claims_by_name = false;
  EXPECT_EQ(Only(R"("persistentVolumeClaim":{"claimName":"model"})").folder, "/claims/ml/model/uid-7")
      << "made again it has another, and nothing is there";
  EXPECT_EQ(Only(R"("ephemeral":{"volumeClaimTemplate":{"spec":{}}})").folder, "/state/volumes/v")
      << "it goes with its pod";
}

TEST_F(VolumesTest, FilesOfOtherObjects) {
  EXPECT_THAT(Files(Only(R"("configMap":{"name":"conf"})")),
              ElementsAre("a=1 420", "b=2 420", std::string("c=\0\1 420", 8)));
  EXPECT_THAT(
      Files(Only(
          R"("configMap":{"name":"conf","defaultMode":256,"items":[{"key":"b","path":"d/e"},{"key":"a","path":"f","mode":511}]})")),
      ElementsAre("d/e=2 256", "f=1 511"));
  EXPECT_THAT(Files(Only(R"("configMap":{"name":"gone","optional":true})")), IsEmpty());
  EXPECT_THAT(Files(Only(R"("secret":{"secretName":"keys"})")), ElementsAre("k=1 420"));
  EXPECT_THAT(Files(Only(R"("downwardAPI":{"items":[{"path":"labels","fieldRef":{"fieldPath":"metadata.labels"}}]})")),
              ElementsAre("labels=a=\"b\" 420"));
  EXPECT_THAT(
      Files(Only(
          R"("projected":{"sources":[{"configMap":{"name":"conf","items":[{"key":"a","path":"x"}]}},{"secret":{"name":"keys"}}]})")),
      ElementsAre("x=1 420", "k=1 420"));
  EXPECT_TRUE(Only(R"("secret":{"secretName":"keys"})").read_only);
}

TEST_F(VolumesTest, TokensAreFilesOfAProjectedVolume) {
  const std::string volume = R"("projected":{"defaultMode":256,"sources":[
      {"serviceAccountToken":{"path":"token","expirationSeconds":3607}},
      {"serviceAccountToken":{"path":"vault","audience":"vault"}}]})";
  EXPECT_THAT(Volumes(volume).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("MountVolume.SetUp failed for volume \"v\" : failed to fetch token")));
  EXPECT_THAT(TokenWishesOf(pod_), ElementsAre(TokenWish{"", 3607}, TokenWish{"vault", 3600}));
  const PodTokens tokens = {{{"", 3607}, "ours"}, {{"vault", 3600}, "theirs"}};
  const auto made = VolumesOf({pod_, "", "", nullptr, sources_, &tokens}, folders_);
  GW_ASSERT_OK(made);
  EXPECT_THAT(Files(made->at(0)), ElementsAre("token=ours 256", "vault=theirs 256"));
  EXPECT_EQ(made->at(0).files[1].token, (TokenWish{"vault", 3600}));
}

TEST_F(VolumesTest, WhatIsWrongIsSaidAsAKubeletDoes) {
  EXPECT_THAT(Volumes(R"("nfs":{"server":"s","path":"/"})"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("MountVolume.SetUp failed for volume \"v\" : volumes of this kind cannot be had")));
  for (const char* const path : {"../x", "/x", "a/../../b", ""}) {
    EXPECT_THAT(Volumes(absl::StrCat(R"("configMap":{"name":"conf","items":[{"key":"a","path":")", path, "\"}]}")),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("leaves the volume")))
        << path;
  }
  EXPECT_THAT(Volumes(R"("hostPath":{"path":"data"})"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no absolute path")));
}

TEST_F(VolumesTest, MountsAreInTheOrderOfTheirDepth) {
  const std::vector<PodVolume> volumes = {Only(R"("emptyDir":{})"), Only(R"("secret":{"secretName":"keys"})")};
  const auto container = api::Decode<HostedContainer>(R"x({"name":"c","volumeMounts":[
    {"name":"v","mountPath":"/data/deep","subPathExpr":"of-$(POD)"},{"name":"v","mountPath":"/data","readOnly":true}]})x");
  const auto mounts = MountsOf(*container, volumes, {{"POD", "p"}});
  GW_ASSERT_OK(mounts);
  ASSERT_EQ(mounts->size(), 2u);
  EXPECT_EQ((*mounts)[0].target, "/data");
  EXPECT_TRUE((*mounts)[0].read_only);
  EXPECT_EQ((*mounts)[1].source, "/state/volumes/v");
  EXPECT_EQ((*mounts)[1].sub_path, "of-p");
  EXPECT_FALSE((*mounts)[1].read_only);
}

TEST_F(VolumesTest, AMountThatIsWrongIsNamed) {
  const std::vector<PodVolume> volumes = {Only(R"("emptyDir":{})")};
  const auto mounts = [&](const std::string& mount) {
    return MountsOf(*api::Decode<HostedContainer>(absl::StrCat(R"({"name":"c","volumeMounts":[)", mount, "]}")),
                    volumes, {});
  };
  EXPECT_THAT(mounts(R"({"name":"x","mountPath":"/d"})"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("mount /d of volume x: there is no such volume")));
  EXPECT_THAT(mounts(R"({"name":"v","mountPath":"/d/../.."})"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("must be a folder below /")));
  EXPECT_THAT(mounts(R"({"name":"v","mountPath":"/d","subPath":"../x"})"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("subPath ../x leaves the volume")));
  EXPECT_THAT(mounts(R"x({"name":"v","mountPath":"/d","subPathExpr":"a-$(NONE)-$(OTHER)"})x"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("missing value for NONE, OTHER")));
}

}  // namespace
}  // namespace gangway::sandbox
