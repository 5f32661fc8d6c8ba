#include "sandbox/kubelet/claim_sync.h"

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/json_value.h"
#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr absl::string_view kClaim = R"({"metadata":{"name":"c","namespace":"ml","uid":"u1"},
  "spec":{"storageClassName":"standard","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"2Gi"}}},"status":{"phase":"Pending"}})";

std::string With(absl::string_view object, absl::string_view patch) {
  boost::json::value value = *api::ParseJson(object);
  if (!patch.empty()) api::ApplyMergePatch(value, *api::ParseJson(patch));
  return api::ToJson(value);
}

std::string VolumeText(absl::string_view name, absl::string_view storage, absl::string_view patch = {}) {
  return With(absl::StrCat(R"({"metadata":{"name":")", name, R"(","uid":"v-)", name,
                           R"("},"spec":{"storageClassName":"standard","capacity":{"storage":")", storage,
                           R"("},"accessModes":["ReadWriteOnce","ReadOnlyMany"]},"status":{"phase":"Available"}})"),
              patch);
}

// The writes of a pass as "VERB plural/name[/subresource] body".
std::vector<std::string> Texts(const kube::Plan& plan) {
  std::vector<std::string> out;
  for (const auto& stage : plan.stages) {
    for (const kube::Write& write : stage) {
      const char* const verb = write.verb == kube::Verb::kCreate   ? "create"
                               : write.verb == kube::Verb::kDelete ? "delete"
                                                                   : "patch";
      out.push_back(absl::StrCat(verb, " ", View(write.resource->plural), "/", write.name,
                                 write.subresource.empty() ? "" : "/", write.subresource, " ", write.body));
    }
  }
  for (const kube::EventNote& note : plan.events) out.push_back(absl::StrCat(note.reason, ": ", note.message));
  return out;
}

std::vector<std::string> Sync(
    absl::string_view claim_patch, const std::vector<std::string>& volumes = {},
    absl::string_view storage_class =
        R"({"metadata":{"name":"standard"},"provisioner":"sandbox.gangway.io/volumes","reclaimPolicy":"Delete"})") {
  const Claim claim = *api::Decode<Claim>(With(kClaim, claim_patch));
  std::optional<StorageClass> its;
  if (!storage_class.empty()) its = *api::Decode<StorageClass>(storage_class);
  std::vector<Volume> all;
  for (const std::string& volume : volumes) all.push_back(*api::Decode<Volume>(volume));
  ClaimView view{claim, its ? &*its : nullptr, {}};
  for (const Volume& volume : all) view.volumes.push_back(&volume);
  return Texts(SyncClaim(view));
}

TEST(ClaimSyncTest, APodOwnsTheClaimsOfItsEphemeralVolumes) {
  const auto made = [](absl::string_view patch, bool there = false) {
    const auto pod = *api::Decode<HostedPod>(
        With(R"({"metadata":{"name":"p","namespace":"ml","uid":"u7"},"spec":{"volumes":[{"name":"e","emptyDir":{}},
        {"name":"s","ephemeral":{"volumeClaimTemplate":{"metadata":{"labels":{"a":"b"}},"spec":{"storageClassName":"standard"}}}}]},"status":{"phase":"Pending"}})",
             patch));
    return Texts(MakeEphemeralClaims(pod, [&](const std::string& claim) { return there && claim == "p-s"; }));
  };
  EXPECT_THAT(
      made(""),
      ElementsAre(
          R"(create persistentvolumeclaims/p-s {"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"p-s","namespace":"ml",)"
          R"("labels":{"a":"b"},"annotations":{},"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u7","controller":true,)"
          R"("blockOwnerDeletion":true}]},"spec":{"storageClassName":"standard"}})"));
  EXPECT_THAT(made("", true), IsEmpty());
  EXPECT_THAT(made(R"({"status":{"phase":"Failed"}})"), IsEmpty());
  EXPECT_THAT(made(R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}})"), IsEmpty());
  EXPECT_THAT(made(R"({"spec":{"volumes":null}})"), IsEmpty());
}

TEST(ClaimSyncTest, AClaimIsGivenANewVolumeThatNamesIt) {
  EXPECT_THAT(
      Sync(""),
      ElementsAre(
          R"(create persistentvolumes/pvc-u1 {"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"pvc-u1",)"
          R"("annotations":{"pv.kubernetes.io/provisioned-by":"sandbox.gangway.io/volumes"}},"spec":{"capacity":{"storage":"2Gi"},)"
          R"("accessModes":["ReadWriteOnce"],"claimRef":{"apiVersion":"v1","kind":"PersistentVolumeClaim","namespace":"ml","name":"c","uid":"u1"},)"
          R"("hostPath":{"path":"/var/lib/sandbox/volumes/pvc-u1"},"persistentVolumeReclaimPolicy":"Delete","storageClassName":"standard","volumeMode":"Filesystem"}})",
          "ProvisioningSucceeded: Successfully provisioned volume pvc-u1"));
}

TEST(ClaimSyncTest, TheSmallestVolumeThatFitsIsTaken) {
  const auto bound = [](const char* name) {
    return ElementsAre(HasSubstr(absl::StrCat("patch persistentvolumes/", name, " {\"spec\":{\"claimRef\"")),
                       HasSubstr(absl::StrCat("\"spec\":{\"volumeName\":\"", name, "\"}")));
  };
  EXPECT_THAT(Sync("", {VolumeText("a", "4Gi"), VolumeText("b", "3Gi"), VolumeText("small", "1Gi")}), bound("b"));
  EXPECT_THAT(Sync("", {VolumeText("a", "4Gi"), VolumeText("b", "3Gi", R"({"status":{"phase":"Released"}})")}),
              bound("a"));
  EXPECT_THAT(Sync("", {VolumeText("a", "4Gi"), VolumeText("b", "3Gi", R"({"spec":{"storageClassName":"other"}})")}),
              bound("a"));
  EXPECT_THAT(Sync("", {VolumeText("a", "4Gi"), VolumeText("b", "3Gi", R"({"spec":{"volumeMode":"Block"}})")}),
              bound("a"));
  EXPECT_THAT(
      Sync("", {VolumeText("a", "4Gi"), VolumeText("b", "3Gi", R"({"spec":{"accessModes":["ReadOnlyMany"]}})")}),
      bound("a"));
  EXPECT_THAT(Sync("", {VolumeText("a", "4Gi"),
                        VolumeText("b", "3Gi", R"({"spec":{"claimRef":{"namespace":"ml","name":"other"}}})")}),
              bound("a"));
  EXPECT_THAT(Sync(R"({"spec":{"selector":{"matchLabels":{"l":"v"}}}})",
                   {VolumeText("a", "4Gi", R"({"metadata":{"labels":{"l":"v"}}})"), VolumeText("b", "3Gi")}),
              bound("a"));
  // One that names the claim comes first, whatever its size.
  EXPECT_THAT(Sync("", {VolumeText("a", "3Gi"),
                        VolumeText("b", "4Gi", R"({"spec":{"claimRef":{"namespace":"ml","name":"c"}}})")}),
              bound("b"));
}

TEST(ClaimSyncTest, BothHalvesOfABindingAreBroughtToAnEnd) {
  const std::string half = VolumeText("a", "4Gi", R"({"spec":{"claimRef":{"namespace":"ml","name":"c","uid":"u1"}}})");
  EXPECT_THAT(Sync("", {half}), ElementsAre(HasSubstr("patch persistentvolumeclaims/c {\"metadata\"")));
  EXPECT_THAT(
      Sync(R"({"spec":{"volumeName":"a"}})", {half}),
      ElementsAre(
          R"(patch persistentvolumeclaims/c/status {"status":{"phase":"Bound","accessModes":["ReadWriteOnce","ReadOnlyMany"],"capacity":{"storage":"4Gi"}}})"));
  EXPECT_THAT(Sync(R"({"spec":{"volumeName":"a"}})", {VolumeText("a", "4Gi")}),
              ElementsAre(HasSubstr("patch persistentvolumes/a {\"spec\":{\"claimRef\"")));
  EXPECT_THAT(Sync(R"({"spec":{"volumeName":"a"},"status":{"phase":"Bound"}})", {half}), IsEmpty());
  EXPECT_THAT(Sync(R"({"spec":{"volumeName":"a"}})"), IsEmpty());  // it may come
  EXPECT_THAT(Sync(R"({"spec":{"volumeName":"a"},"status":{"phase":"Bound"}})"),
              ElementsAre(HasSubstr("\"phase\":\"Lost\""), HasSubstr("ClaimLost")));
}

TEST(ClaimSyncTest, AClaimThatWaitsSaysWhatFor) {
  EXPECT_THAT(Sync(R"({"spec":{"storageClassName":""}})", {}, ""),
              ElementsAre("FailedBinding: no persistent volumes available for this claim and no storage class is set"));
  EXPECT_THAT(Sync("", {}, ""), ElementsAre("ProvisioningFailed: storageclass.storage.k8s.io \"standard\" not found"));
  EXPECT_THAT(Sync("", {}, R"({"provisioner":"example.com/x"})"),
              ElementsAre(HasSubstr("ExternalProvisioning: Waiting for a volume to be created either by the external "
                                    "provisioner 'example.com/x'")));
  const char* const late =
      R"({"provisioner":"sandbox.gangway.io/volumes","volumeBindingMode":"WaitForFirstConsumer","reclaimPolicy":"Delete"})";
  EXPECT_THAT(Sync("", {VolumeText("a", "4Gi")}, late),
              ElementsAre("WaitForFirstConsumer: waiting for first consumer to be created before binding"));
  EXPECT_THAT(Sync(R"({"metadata":{"annotations":{"volume.kubernetes.io/selected-node":"n"}}})", {}, late),
              ElementsAre(HasSubstr("create persistentvolumes/pvc-u1"), testing::_));
  EXPECT_THAT(Sync(R"({"metadata":{"deletionTimestamp":"2027-01-15T08:00:00Z"}})"), IsEmpty());
}

TEST(ClaimSyncTest, VolumesFollowTheirClaims) {
  const auto sync = [](absl::string_view patch, absl::string_view claim_patch, bool there = true) {
    const Volume volume = *api::Decode<Volume>(VolumeText("a", "4Gi", patch));
    const Claim claim = *api::Decode<Claim>(With(kClaim, claim_patch));
    return Texts(SyncVolume(volume, there ? &claim : nullptr));
  };
  const char* const named = R"({"spec":{"claimRef":{"namespace":"ml","name":"c","uid":"u1"}}})";
  EXPECT_THAT(sync("", "", false), IsEmpty());
  EXPECT_THAT(sync(named, ""), ElementsAre(R"(patch persistentvolumes/a/status {"status":{"phase":"Bound"}})"));
  EXPECT_THAT(sync(named, "", false),
              ElementsAre(R"(patch persistentvolumes/a/status {"status":{"phase":"Released"}})"));
  EXPECT_THAT(sync(named, R"({"metadata":{"uid":"u2"}})"), ElementsAre(HasSubstr("Released")));
  EXPECT_THAT(
      sync(R"({"spec":{"persistentVolumeReclaimPolicy":"Delete","claimRef":{"namespace":"ml","name":"c","uid":"u1"}},
                       "metadata":{"annotations":{"pv.kubernetes.io/provisioned-by":"sandbox.gangway.io/volumes"}}})",
           "", false),
      ElementsAre("delete persistentvolumes/a "));
}

}  // namespace
}  // namespace gangway::sandbox
