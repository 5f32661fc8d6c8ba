// PaddleRec's two files: what they hold, and what is said of those that nobody can run here (docs/paddlerec.md).
#include "api/paddle/paddle_rec.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/manifest/manifest.h"
#include "base/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::api::paddle {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// As the guide has it.
const char kBackend[] = R"(
engine:
  backend: "k8s"
  job_name: "k8s-ctr-dnn"
  submit:
    server_num: 2
    trainer_num: 2
    docker_image: "hub.baidubce.com/ctr/paddlerec:alpha"
    memory: "4Gi"
    storage: "10Gi"
    log_level: 0
)";

std::string Json(const std::string& yaml) {
  const auto documents = ReadDocuments(yaml, "backend.yaml");
  GW_CHECK(documents.ok());
  return documents->empty() ? "{}" : documents->front().json;
}

std::string With(const std::string& what, const std::string& instead) {
  return Json(absl::StrReplaceAll(kBackend, {{what, instead}}));
}

std::vector<std::string> Told(const FieldErrors& errors) {
  std::vector<std::string> out;
  for (const FieldError& error : errors) out.push_back(error.ToString());
  return out;
}

std::vector<std::string> Errors(const std::string& json) { return Told(ReadRecBackend(json).errors); }

TEST(PaddleRecTest, TheGuidesBackendIsRead) {
  const RecBackendReading reading = ReadRecBackend(Json(kBackend));
  EXPECT_THAT(Told(reading.errors), IsEmpty());
  EXPECT_THAT(Told(reading.warnings), IsEmpty());
  EXPECT_EQ(reading.backend.job_name, "k8s-ctr-dnn");
  EXPECT_EQ(reading.backend.image, "hub.baidubce.com/ctr/paddlerec:alpha");
  EXPECT_EQ(reading.backend.servers, 2);
  EXPECT_EQ(reading.backend.trainers, 2);
  EXPECT_EQ(reading.backend.memory.ToString(), "4Gi");
  EXPECT_EQ(reading.backend.storage.ToString(), "10Gi");
  EXPECT_EQ(reading.backend.log_level, 0);
}

TEST(PaddleRecTest, R3AnySpellingOfTheBackend) {
  for (const char* const name : {"k8s", "K8S", "KUBERNETES", "Kubernetes"}) {
    EXPECT_THAT(Errors(With("\"k8s\"", name)), IsEmpty()) << name;
  }
  EXPECT_THAT(Errors(With("\"k8s\"", "yarn")), ElementsAre("engine.backend: Unsupported value: \"yarn\": must be k8s"));
}

TEST(PaddleRecTest, TheLaterLayoutHasNoEngine) {
  const RecBackendReading reading = ReadRecBackend(Json(R"(
backend: KUBERNETES
submit: {job_name: ctr, server_num: "2", trainer_num: 3, docker_image: i, memory: 1Gi, storage: 2Gi}
)"));
  EXPECT_THAT(Told(reading.errors), IsEmpty());
  EXPECT_EQ(reading.backend.job_name, "ctr");
  EXPECT_EQ(reading.backend.job_name_field, "submit.job_name");
  EXPECT_EQ(reading.backend.servers, 2) << "PaddleRec exported all of it as text";
  EXPECT_EQ(reading.backend.trainers, 3);
}

TEST(PaddleRecTest, R4WorkerNum) {
  EXPECT_THAT(Errors(With("trainer_num", "worker_num")),
              ElementsAre("engine.submit.trainer_num: Required value: must be given (engine.submit.worker_num stands "
                          "there, which nothing reads: write "
                          "engine.submit.trainer_num)"));
}

TEST(PaddleRecTest, R5Mermory) {
  EXPECT_THAT(Errors(With("memory", "mermory")), ElementsAre(AllOf(HasSubstr("engine.submit.memory: Required value"),
                                                                   HasSubstr("engine.submit.mermory stands there"))));
}

TEST(PaddleRecTest, AnyMissingKeyIsNamedAndOtherMisspellingsAreSeen) {
  for (const char* const key : {"job_name", "server_num", "trainer_num", "docker_image", "memory", "storage"}) {
    EXPECT_THAT(Errors(With(key, "else")), ElementsAre(HasSubstr(absl::StrCat(key, ": Required value")))) << key;
  }
  EXPECT_THAT(Errors(With("storage", "storge")), ElementsAre(HasSubstr("engine.submit.storge stands there")));
  EXPECT_THAT(Errors(Json("engine: {backend: k8s, job_name: a, server_num: 2, submit: {trainer_num: 1, docker_image: "
                          "i, memory: 1Gi, storage: 1Gi}}")),
              ElementsAre(HasSubstr("engine.server_num stands there")))
      << "in the wrong place";
  EXPECT_THAT(
      Told(ReadRecBackend(With("log_level: 0", "loglevel: 3")).warnings),
      ElementsAre("engine.submit.loglevel: Unsupported value: nothing reads this key (did you mean log_level?)"));
  EXPECT_THAT(Errors(Json("engine: {backend: k8s, job_name: a}")),
              ElementsAre(HasSubstr("engine.submit: Required value")));
  EXPECT_THAT(Errors("{}"), ElementsAre("backend: Required value: must be given (write backend: k8s)"));
  EXPECT_THAT(Errors("[1]"), ElementsAre(HasSubstr("must be a map of keys")));
}

TEST(PaddleRecTest, ValuesThatMeanNothing) {
  EXPECT_THAT(Errors(With("server_num: 2", "server_num: 0")),
              ElementsAre("engine.submit.server_num: Invalid value: 0: must be from 1 to 10000"));
  EXPECT_THAT(Errors(With("server_num: 2", "server_num: -1")), ElementsAre(HasSubstr("must be from 1 to 10000")));
  EXPECT_THAT(Errors(With("server_num: 2", "server_num: many")), ElementsAre(HasSubstr("must be a whole number")));
  EXPECT_THAT(Errors(With("server_num: 2", "server_num: 99999999999999999999")),
              ElementsAre(HasSubstr("must be a whole number")));
  EXPECT_THAT(
      Errors(With("\"4Gi\"", "four")),
      ElementsAre("engine.submit.memory: Invalid value: \"four\": must be an amount greater than 0, such as 4Gi"));
  EXPECT_THAT(Errors(With("\"4Gi\"", "-1Gi")), ElementsAre(HasSubstr("must be an amount greater than 0")));
  EXPECT_THAT(Errors(With("\"4Gi\"", "[1]")), ElementsAre(HasSubstr("must be an amount greater than 0")));
  EXPECT_THAT(Errors(With("\"k8s-ctr-dnn\"", "{a: b}")), ElementsAre(HasSubstr("engine.job_name")));
}

TEST(PaddleRecTest, R13HostedServiceIsRefusedWithWhatToWriteInstead) {
  const std::vector<std::string> told = Errors(Json(R"(
backend: PaddleCloud
cluster_type: k8s
config: {fs_name: afs://x, fs_ugi: u, output_path: o}
submit: {ak: a, sk: s, priority: high, job_name: ctr, group: g, k8s_trainers: 4, k8s_ps_num: 3, k8s_ps_cores: 5}
)"));
  EXPECT_THAT(
      told,
      ElementsAre(AllOf(HasSubstr("backend: Unsupported value: \"PaddleCloud\": PaddleCloud is a hosted service"),
                        HasSubstr("write backend: k8s, and submit: {server_num: 3, trainer_num: 4, ")),
                  HasSubstr("config: Unsupported value: keys of the hosted service: fs_name, fs_ugi, output_path"),
                  HasSubstr("submit: Unsupported value: keys of the hosted service: ak, group, k8s_ps_cores, "
                            "k8s_ps_num, k8s_trainers, priority, sk")));
  // The other half of it stands in the config: the same reason that PaddleRec gave.
  EXPECT_THAT(
      Told(ReadRecConfig(Json("mode: t\nrunner: [{name: t, class: cluster_train, device: gpu, fleet_mode: ps}]"))
               .errors),
      ElementsAre(
          HasSubstr("runner[0].device: Unsupported value: \"gpu\": parameter servers and gpu exclude each other")));
}

TEST(PaddleRecTest, MpiIsRefused) {
  EXPECT_THAT(Errors(Json("backend: PaddleCloud\ncluster_type: mpi\nsubmit: {nodes: 10}")),
              ElementsAre(AllOf(HasSubstr("cluster_type: Unsupported value: \"mpi\""), HasSubstr("write backend: k8s")),
                          HasSubstr("keys of the hosted service: nodes")));
  EXPECT_THAT(Errors(With("\"k8s\"", "MPI")),
              ElementsAre(HasSubstr("engine.backend: Unsupported value: \"MPI\": MPI clusters")));
  EXPECT_THAT(Told(ReadRecConfig(Json("train: {engine: cluster_mpi}")).errors),
              ElementsAre(HasSubstr("write engine: cluster")));
}

TEST(PaddleRecTest, R7ThreadsAbsentAreTwo) {
  EXPECT_EQ(ReadRecConfig(Json("train: {engine: cluster}")).config.threads, 2);
  EXPECT_EQ(ReadRecConfig(Json("train: {engine: cluster, trainer: {threads: 8}}")).config.threads, 8);
  EXPECT_THAT(Told(ReadRecConfig(Json("train: {engine: cluster, trainer: {threads: 0}}")).errors),
              ElementsAre(HasSubstr("train.trainer.threads: Invalid value: 0")));
}

TEST(PaddleRecTest, R14ATrainingThatIsNoClustersIsRefused) {
  for (const char* const engine : {"single", "local_cluster"}) {
    EXPECT_THAT(Told(ReadRecConfig(Json(absl::StrCat("train: {engine: ", engine, "}"))).errors),
                ElementsAre(AllOf(HasSubstr("train.engine: Unsupported value"), HasSubstr("there is nothing to submit"),
                                  HasSubstr("write engine: cluster"))));
  }
  EXPECT_THAT(Told(ReadRecConfig(Json("train: {epochs: 3}")).errors),
              ElementsAre(HasSubstr("train.engine: Required value")));
  EXPECT_THAT(Told(ReadRecConfig(Json("epochs: 3")).errors), ElementsAre(HasSubstr("train: Required value")));
}

TEST(PaddleRecTest, TheLaterConfigNamesItsRunner) {
  const char kRunners[] = R"(
mode: [train]
runner:
- {name: local, class: train}
- {name: train, class: cluster_train, device: cpu, fleet_mode: ps}
phase: [{thread_num: 4}, {thread_num: 10}, {name: x}]
)";
  const RecConfigReading reading = ReadRecConfig(Json(kRunners));
  EXPECT_THAT(Told(reading.errors), IsEmpty());
  EXPECT_TRUE(reading.config.late);
  EXPECT_EQ(reading.config.threads, 10);
  EXPECT_THAT(Told(ReadRecConfig(Json(absl::StrReplaceAll(kRunners, {{"[train]", "local"}}))).errors),
              ElementsAre(HasSubstr("runner[0].class: Unsupported value: \"train\"")));
  EXPECT_THAT(Told(ReadRecConfig(Json(absl::StrReplaceAll(kRunners, {{"[train]", "other"}}))).errors),
              ElementsAre("mode: Not found: \"other\": there is no runner of this name"));
  EXPECT_THAT(
      Told(ReadRecConfig(Json(absl::StrReplaceAll(kRunners, {{"fleet_mode: ps", "fleet_mode: collective"}}))).errors),
      ElementsAre(HasSubstr("runner[1].fleet_mode")));
}

TEST(PaddleRecTest, FilesAreKnownByTheirKeys) {
  EXPECT_EQ(RecFileOf(Json(kBackend)), RecFile::kBackend);
  EXPECT_EQ(RecFileOf(Json("backend: PaddleCloud")), RecFile::kBackend);
  EXPECT_EQ(RecFileOf(Json("train: {engine: cluster}")), RecFile::kConfig);
  EXPECT_EQ(RecFileOf(Json("runner: []")), RecFile::kConfig);
  EXPECT_EQ(RecFileOf(Json("a: b")), RecFile::kNeither);
  EXPECT_EQ(RecFileOf(Json("apiVersion: v1\nkind: X\nbackend: y")), RecFile::kNeither);
  EXPECT_EQ(RecFileOf("7"), RecFile::kNeither);
}

}  // namespace
}  // namespace gangway::api::paddle
