// The image and the archive: the same bytes each time, what is in them and nothing else, and that they run with no more
// than that. Looked at with the tools of others (skopeo, umoci), and run in a root filesystem of their own
// (bubblewrap).
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"

namespace gangway::testutil {
namespace {

namespace fs = std::filesystem;
using boost::json::value;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Ends with 0 where this machine may make a container: in one of Docker's, and on some distributions, it may not.
const std::vector<std::string> kContainer{"bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"};
const std::vector<std::string> kTime{"SOURCE_DATE_EPOCH=1700000000"};
const std::string kName = "gangway-" GW_PROJECT_VERSION "-linux";
constexpr int kMaxCompressedBytes = 25 << 20;

value Json(const std::string& text) {
  const absl::StatusOr<value> read = api::ParseJson(text);
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? *read : value();
}
std::string Text(const value& v) { return std::string(v.get_string()); }

std::string RunToEnd(const std::vector<std::string>& argv, const std::vector<std::string>& environment = {}) {
  const Outcome outcome = RunProgram(argv, environment);
  EXPECT_EQ(outcome.exit_code, 0) << argv[0] << ": " << outcome.out << outcome.err;
  return outcome.out;
}

// One image and one archive for all cases.
class PackagingTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (const char* tool : {"skopeo", "umoci"}) {
      if (RunProgram({tool, "--version"}).exit_code == 127) return;
    }
    if (RunProgram(kContainer).exit_code != 0) return;
    folder_ = std::make_unique<TemporaryFolder>("gangway-packaging");
    fs::create_directories(at("programs"));
    // Of a copy: somebody may work in the checkout meanwhile, and its commit is told in what is made.
    RunToEnd({"bash", "-ec",
              "mkdir '" + at("checkout") +
                  "' && cd '" GW_SOURCE_DIR
                  "' && cp -r scripts deploy docs examples LICENSE README.md CHANGELOG.md CMakeLists.txt '" +
                  at("checkout") + "'"});
    const fs::path programs = fs::path(GW_GANGWAY).parent_path();
    for (const char* name : {"gangway", "gangway-extender"})
      fs::create_symlink(programs / name, at("programs") + "/" + name);
    RunToEnd({script("image"), "--programs", at("programs"), "--into", at("image")}, kTime);
    RunToEnd({script("dist"), "--programs", at("programs"), "--into", at("dist")}, kTime);
    RunToEnd({"umoci", "unpack", "--rootless", "--image", layout() + ":" GW_PROJECT_VERSION, at("bundle")});
  }
  static void TearDownTestSuite() { folder_.reset(); }
  void SetUp() override {
    if (folder_ == nullptr) GTEST_SKIP() << "there is no skopeo or umoci, or no container of bwrap, on this machine";
  }
  static std::string at(const std::string& name) { return folder_->path() + "/" + name; }
  static std::string script(const std::string& name) { return at("checkout/scripts/" + name); }
  static std::string layout() { return at("image/" + kName); }
  static std::string root() { return at("bundle/rootfs"); }
  static std::string beside(const std::string& end) { return at("image/" + kName + "-" GW_ARCH + end); }
  // As a container of it: nobody in particular, its own filesystem, read-only, no network.
  static Outcome RunInside(const std::string& root, std::vector<std::string> command,
                           std::vector<std::string> more = {}) {
    std::vector<std::string> argv{"bwrap",
                                  "--unshare-all",
                                  "--die-with-parent",
                                  "--ro-bind",
                                  root,
                                  "/",
                                  "--proc",
                                  "/proc",
                                  "--dev",
                                  "/dev",
                                  "--tmpfs",
                                  "/tmp",
                                  "--uid",
                                  "65532",
                                  "--gid",
                                  "65532",
                                  "--clearenv",
                                  "--setenv",
                                  "PATH",
                                  "/usr/local/bin"};
    argv.insert(argv.end(), more.begin(), more.end());
    argv.insert(argv.end(), command.begin(), command.end());
    return RunProgram(argv);
  }

  // One release that tags and pushes nothing, in "release"; what it says.
  static const std::string& Release() {
    if (released_.empty()) {
      released_ = RunToEnd({script("release"), "--registry", "registry.example/ml", "--programs", at("programs"),
                            "--into", at("release"), "--downloads", "https://downloads.example/v1", "--dry-run"},
                           kTime);
    }
    return released_;
  }

  static std::unique_ptr<TemporaryFolder> folder_;
  static std::string released_;
};
std::unique_ptr<TemporaryFolder> PackagingTest::folder_;
std::string PackagingTest::released_;

TEST_F(PackagingTest, TheSameInputsGiveTheSameBytes) {
  // Elsewhere, later, by somebody with another locale, time zone and umask.
  RunToEnd({"bash", "-c", "umask 077; exec \"$@\"", "-", script("image"), "--programs", at("programs"), "--into",
            at("again")},
           {"SOURCE_DATE_EPOCH=1700000000", "LC_ALL=C.UTF-8", "TZ=Asia/Shanghai"});
  for (const std::string& file :
       {kName + ".oci.tar", kName + "-" GW_ARCH ".spdx.json", kName + "-" GW_ARCH ".provenance.json"})
    EXPECT_EQ(RunProgram({"cmp", at("image/" + file), at("again/" + file)}).out, "") << file;
  RunToEnd({script("dist"), "--programs", at("programs"), "--into", at("dist-again")},
           {"SOURCE_DATE_EPOCH=1700000000", "TZ=Asia/Shanghai"});
  EXPECT_EQ(ReadFile(at("dist/SHA256SUMS")), ReadFile(at("dist-again/SHA256SUMS")));
}

TEST_F(PackagingTest, OthersReadTheImage) {
  const value said = Json(RunToEnd({"skopeo", "inspect", "--config", "oci:" + layout() + ":" GW_PROJECT_VERSION}));
  EXPECT_EQ(Text(said.at("architecture")), GW_ARCH);
  EXPECT_EQ(Text(said.at("created")), "2023-11-14T22:13:20Z");
  EXPECT_EQ(Text(said.at("config").at("User")), "65532:65532");
  EXPECT_EQ(Text(said.at("config").at("Entrypoint").at(0)), "/usr/local/bin/gangway");
  EXPECT_EQ(Text(said.at("config").at("Labels").at("org.opencontainers.image.version")), GW_PROJECT_VERSION);
  // The archive holds the same.
  EXPECT_EQ(RunToEnd({"skopeo", "inspect", "--format", "{{.Digest}}",
                      "oci-archive:" + at("image/" + kName + ".oci.tar") + ":" GW_PROJECT_VERSION}),
            RunToEnd({"skopeo", "inspect", "--format", "{{.Digest}}", "oci:" + layout() + ":" GW_PROJECT_VERSION}));
  std::uintmax_t bytes = 0;
  for (const auto& blob : fs::directory_iterator(layout() + "/blobs/sha256")) bytes += blob.file_size();
  EXPECT_LE(bytes, kMaxCompressedBytes);
}

TEST_F(PackagingTest, TheImageHoldsNoProgramsButOursAndNothingWithRightsOfItsOwn) {
  std::set<std::string> programs;
  for (const auto& entry : fs::recursive_directory_iterator(root())) {
    if (entry.is_symlink()) continue;
    struct stat is;
    ASSERT_EQ(lstat(entry.path().c_str(), &is), 0);
    EXPECT_EQ(is.st_mode & (S_ISUID | S_ISGID), 0u) << entry.path();
    EXPECT_TRUE((is.st_mode & S_IWOTH) == 0 || entry.path() == root() + "/tmp") << entry.path();
    if (entry.is_regular_file() && (is.st_mode & S_IXUSR) != 0 &&
        !absl::StrContains(entry.path().string(), "/usr/lib/"))
      programs.insert(entry.path().filename());
  }
  EXPECT_THAT(programs, ::testing::ElementsAre("gangway", "gangway-extender"));
}

TEST_F(PackagingTest, TheImageRuns) {
  EXPECT_THAT(RunInside(root(), {"gangway", "version", "--check"}).out,
              AllOf(HasSubstr("gangway " GW_PROJECT_VERSION), HasSubstr("are as they were packaged"),
                    HasSubstr("cluster: none")));
  EXPECT_THAT(RunInside(root(), {"gangway", "extender", "--help"}).out, HasSubstr("Usage: gangway extender"));
  const Outcome crds = RunInside(root(), {"gangway", "crds", "queues.scheduling.volcano.sh"});
  EXPECT_EQ(crds.out, ReadFile(GW_SOURCE_DIR "/deploy/volcano/crds/queues.scheduling.volcano.sh.yaml")) << crds.err;
  // The job of the README, to its end, in what is in the image.
  const Outcome job =
      RunInside(root(),
                {"gangway", "sandbox", "--nodes", "6", "--apply", "/tmp/examples/ctr-volcano.yaml", "--finish",
                 "trainer=50ms", "--until", "job/ctr-volcano=Completed", "--timeout", "60s"},
                {"--ro-bind", GW_SOURCE_DIR "/examples", "/tmp/examples"});
  EXPECT_EQ(job.exit_code, 0) << job.err;
  EXPECT_THAT(job.out, HasSubstr("job/ctr-volcano=Completed"));
  // CronJobs want time zones.
  EXPECT_TRUE(fs::exists(root() + "/usr/share/zoneinfo/Asia/Shanghai"));
  EXPECT_THAT(ReadFile(root() + "/etc/ssl/certs/ca-certificates.crt"), HasSubstr("BEGIN CERTIFICATE"));
}

TEST_F(PackagingTest, AFileThatIsNotWhatWasPackagedIsNamed) {
  const std::string changed = at("changed");
  fs::copy(root(), changed, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  const std::string library = changed + "/usr/lib/" GW_TRIPLET "/libyaml-0.so.2";
  fs::permissions(library, fs::perms::owner_write, fs::perm_options::add);
  WriteFile(library, ReadFile(library) + "x");
  const Outcome outcome = RunInside(changed, {"gangway", "version", "--check"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out,
              HasSubstr("files: ../lib/" GW_TRIPLET "/libyaml-0.so.2: is another file than the one that was packaged"));
  fs::remove_all(changed);
}

TEST_F(PackagingTest, TheListNamesEveryFileWithItsSum) {
  const value list = Json(ReadFile(beside(".spdx.json")));
  EXPECT_EQ(Text(list.at("spdxVersion")), "SPDX-2.3");
  std::set<std::string> ids{"SPDXRef-DOCUMENT"};
  std::map<std::string, std::string> sums;
  for (const value& package : list.at("packages").get_array())
    EXPECT_TRUE(ids.insert(Text(package.at("SPDXID"))).second) << Text(package.at("SPDXID"));
  for (const value& file : list.at("files").get_array()) {
    EXPECT_TRUE(ids.insert(Text(file.at("SPDXID"))).second);
    sums[Text(file.at("fileName"))] = Text(file.at("checksums").at(1).at("checksumValue"));
  }
  EXPECT_THAT(ids, Contains("SPDXRef-package-libssl3"));
  EXPECT_THAT(ids, Contains("SPDXRef-tool-libabsl-dev"));
  std::set<std::string> contained;
  for (const value& relation : list.at("relationships").get_array()) {
    EXPECT_THAT(ids, Contains(Text(relation.at("spdxElementId"))));
    EXPECT_THAT(ids, Contains(Text(relation.at("relatedSpdxElement"))));
    contained.insert(Text(relation.at("relatedSpdxElement")));
  }
  for (const value& file : list.at("files").get_array()) EXPECT_THAT(contained, Contains(Text(file.at("SPDXID"))));
  std::size_t files = 0;
  const std::string found = RunToEnd({"bash", "-c", "cd '" + root() + "' && find . -type f | xargs sha256sum"});
  for (const absl::string_view line : absl::StrSplit(found, '\n', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(line, "  ");
    EXPECT_EQ(sums[parts.second], parts.first) << parts.second;
    ++files;
  }
  EXPECT_EQ(files, sums.size());
}

TEST_F(PackagingTest, TheProvenanceIsOfThisImage) {
  const value said = Json(ReadFile(beside(".provenance.json")));
  EXPECT_EQ(Text(said.at("predicateType")), "https://slsa.dev/provenance/v1");
  EXPECT_EQ("sha256:" + Text(said.at("subject").at(0).at("digest").at("sha256")) + "\n",
            RunToEnd({"skopeo", "inspect", "--format", "{{.Digest}}", "oci:" + layout() + ":" GW_PROJECT_VERSION}));
  EXPECT_EQ(said.at("predicate").at("buildDefinition").at("externalParameters").at("sourceDateEpoch").as_int64(),
            1700000000);
}

// Packages of this architecture, of lines "architecture name version".
std::set<std::string> LockedNames(const std::string& lock) {
  std::set<std::string> names;
  for (const absl::string_view line : absl::StrSplit(lock, '\n')) {
    const std::vector<std::string> fields = absl::StrSplit(line, ' ');
    if (fields.size() == 3 && fields[0] == GW_ARCH) names.insert(fields[1]);
  }
  return names;
}

// As it stands in the checkout: a release compares with that.
TEST(PackagesLockTest, NamesWhatABuildOfEachArchitectureWants) {
  if (std::string(GW_ARCH) != "amd64") GTEST_SKIP() << "the lock is of builds on amd64";
  for (const std::string arch : {"amd64", "arm64"}) {
    EXPECT_EQ(RunToEnd({"bash", "-ec", ". '" GW_SOURCE_DIR "/scripts/packaging/common'; not_locked " + arch}, kTime),
              "")
        << arch << ": what is named is missing in deploy/image/packages.lock";
  }
}

TEST_F(PackagingTest, TheLockNamesWhatIsInTheImage) {
  const std::set<std::string> locked = LockedNames(ReadFile(GW_SOURCE_DIR "/deploy/image/packages.lock"));
  for (const std::string& name : LockedNames(ReadFile(at("image/" GW_ARCH "/lock"))))
    EXPECT_THAT(locked, Contains(name));
}

TEST_F(PackagingTest, PackagesThatAreNotTheLockedOnesAreRefused) {
  const std::string lock = at("checkout/deploy/image/packages.lock");
  WriteFile(lock, ReadFile(at("image/" GW_ARCH "/lock")));
  const std::vector<std::string> locked{script("image"), "--programs", at("programs"),
                                        "--into",        at("locked"), "--locked"};
  EXPECT_EQ(RunProgram(locked, kTime).exit_code, 0);
  RunToEnd({"sed", "-i", "s/^\\(" GW_ARCH " libssl3\\) .*/\\1 0.0/", lock});
  const Outcome refused = RunProgram(locked, kTime);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("< " GW_ARCH " libssl3 0.0"), HasSubstr("snapshot.debian.org")));
  // What is not named at all is told before anything is built.
  RunToEnd({"sed", "-i", "/^" GW_ARCH " zlib1g-dev /d", lock});
  const Outcome lacking = RunProgram(locked, kTime);
  EXPECT_EQ(lacking.exit_code, 1);
  EXPECT_EQ(lacking.err, "gangway: image: deploy/image/packages.lock has no zlib1g-dev of " GW_ARCH
                         ": scripts/image --arch " GW_ARCH " --lock adds them\n");
}

// A release that tags and pushes nothing, and its bundle where no registry is.
TEST_F(PackagingTest, ADryRunOfAReleaseMakesEverything) {
  if (!HasKubectl()) GTEST_SKIP() << "there is no kubectl on this machine";
  const std::string out = Release();
  // What others see comes in this order: the tag last, so that a release that is broken off is run again.
  EXPECT_THAT(out, ContainsRegex("would run: skopeo copy --all --preserve-digests oci:[^ ]* "
                                 "docker://registry.example/ml/gangway:" GW_PROJECT_VERSION
                                 "\n[^\n]*would run: helm push [^ ]* oci://registry.example/ml/charts"
                                 "\n[^\n]*would run: git [^\n]* tag [^\n]*"
                                 "\n[^\n]*would run: git [^\n]* push origin v" GW_PROJECT_VERSION));
  const std::string images = ReadFile(at("release/images.txt"));
  const std::string digest = images.substr(images.find('@') + 1, 71);
  EXPECT_EQ(images, "registry.example/ml/gangway:" GW_PROJECT_VERSION "@" + digest + "\n");
  EXPECT_THAT(ReadFile(at("release/beside-volcano.yaml")), HasSubstr("image: registry.example/ml/gangway@" + digest));
  EXPECT_THAT(ReadFile(at("release/notes.md")), AllOf(HasSubstr("gangway sandbox"), Not(HasSubstr("\n## "))));
  EXPECT_THAT(ReadFile(at("release/krew-gangway.yaml")),
              AllOf(HasSubstr("version: v" GW_PROJECT_VERSION),
                    HasSubstr("sha256: " +
                              RunToEnd({"sha256sum", at("release/" + kName + "-" GW_ARCH ".tar.gz")}).substr(0, 64)),
                    Not(HasSubstr("@PLATFORMS@"))));
  RunToEnd({"bash", "-ec",
            "cd '" + at("release") +
                "' && sha256sum --check --quiet SHA256SUMS && tar xf gangway-" GW_PROJECT_VERSION "-bundle.tar"});
  const std::string bundle = at("release/gangway-" GW_PROJECT_VERSION "-bundle");
  EXPECT_THAT(RunToEnd({bundle + "/load", "--registry", "oci:" + at("loaded")}), HasSubstr(digest));
  EXPECT_EQ(RunToEnd({"skopeo", "inspect", "--format", "{{.Digest}}", "oci:" + at("loaded") + ":" GW_PROJECT_VERSION}),
            digest + "\n");
  EXPECT_THAT(ReadFile(bundle + "/manifests-here/standalone.yaml"), HasSubstr("/gangway@" + digest));
  // From where one stands, whatever it is called.
  RunToEnd({"bash", "-ec",
            "mkdir '" + at("here") + "' && cd '" + at("here") + "' && '" + bundle + "/load' --registry 'oci:R&D'"});
  EXPECT_TRUE(fs::exists(at("here/R&D/index.json")));
  EXPECT_THAT(ReadFile(bundle + "/manifests-here/standalone.yaml"), HasSubstr("/here/R&D/gangway@" + digest));
  // What was changed on the way is not loaded.
  WriteFile(bundle + "/crds.yaml", "kind: List\n");
  EXPECT_NE(RunProgram({bundle + "/load", "--registry", "oci:" + at("loaded")}).exit_code, 0);
}

// As krew has it: the archive is unpacked into a store, and a link of the plugin's name leads to `bin`.
TEST_F(PackagingTest, KrewsManifestNamesTheProgramInTheArchive) {
  if (!HasKubectl()) GTEST_SKIP() << "there is no kubectl on this machine";
  Release();
  const auto documents = api::ReadDocuments(ReadFile(at("release/krew-gangway.yaml")), "krew-gangway.yaml");
  ASSERT_TRUE(documents.ok()) << documents.status();
  const value manifest = Json(documents->at(0).json);
  EXPECT_EQ(Text(manifest.at("metadata").at("name")), "gangway");
  ASSERT_EQ(manifest.at("spec").at("platforms").as_array().size(), 1u);
  const value platform = manifest.at("spec").at("platforms").at(0);
  EXPECT_EQ(api::ToJson(platform.at("selector")), R"({"matchLabels":{"os":"linux","arch":")" GW_ARCH "\"}}");
  const std::string uri = Text(platform.at("uri")), folder = "https://downloads.example/v1/";
  ASSERT_TRUE(absl::StartsWith(uri, folder)) << uri;

  const std::string store = at("krew/store/gangway/v" GW_PROJECT_VERSION), home = at("krew/home"), bin = home + "/bin";
  fs::create_directories(store);
  fs::create_directories(bin);
  RunToEnd({"tar", "xzf", at("release/") + uri.substr(folder.size()), "-C", store});
  fs::create_symlink(store + "/" + Text(platform.at("bin")), bin + "/kubectl-gangway");
  const std::vector<std::string> environment{"HOME=" + home,
                                             "KUBECONFIG=", absl::StrCat("PATH=", bin, ":", std::getenv("PATH"))};
  const auto shell = [&](const std::string& script) {
    const Outcome outcome = RunProgram({"bash", "-ec", script}, environment);
    EXPECT_EQ(outcome.exit_code, 0) << script << ": " << outcome.err;
    return outcome.out;
  };
  EXPECT_THAT(shell("kubectl gangway version --check"),
              AllOf(HasSubstr("gangway " GW_PROJECT_VERSION), HasSubstr("are as they were packaged")));
  // kubectl asks for words only what is on the PATH; krew links one program, and tells how to have the other.
  std::string command;
  for (const absl::string_view line : absl::StrSplit(Text(manifest.at("spec").at("caveats")), '\n'))
    if (absl::StartsWith(absl::StripAsciiWhitespace(line), "install ")) command = std::string(line);
  ASSERT_NE(command, "");
  shell("mkdir -p ~/.local/bin; " + command);
  EXPECT_THAT(shell("PATH=~/.local/bin:$PATH kubectl __complete gangway val"), HasSubstr("validate"));
}

// Nothing is made, tagged or pushed: by what is told one knows what to do.
TEST_F(PackagingTest, WhatKeepsAReleaseBackIsTold) {
  const std::string copy = at("release-checkout"), git = "git -c user.name=t -c user.email=t@t ";
  RunToEnd({"bash", "-ec",
            "cp -r '" + at("checkout") + "' '" + copy + "' && cd '" + copy + "' && git init -q && git add . && " + git +
                "commit -qm one && " + git + "tag -am v v" GW_PROJECT_VERSION});
  std::vector<std::string> release{copy + "/scripts/release",
                                   "--registry",
                                   "registry.example/ml",
                                   "--programs",
                                   at("programs"),
                                   "--into",
                                   at("kept-back")};
  RunToEnd({"sed", "-i", "s/^\\(## " GW_PROJECT_VERSION "\\) .*/\\1 (soon)/", copy + "/CHANGELOG.md"});
  RunToEnd({"sed", "-i", "/^" GW_ARCH " zlib1g-dev /d", copy + "/deploy/image/packages.lock"});
  Outcome outcome = RunProgram(release, kTime);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("gives " GW_PROJECT_VERSION " no date"), HasSubstr("differs from its commit"),
                    HasSubstr("--downloads does not say"), HasSubstr("packages.lock has no zlib1g-dev of " GW_ARCH),
                    Not(HasSubstr("the tag v"))));
  RunToEnd({"bash", "-ec", "cd '" + copy + "' && " + git + "commit -qam two"});
  outcome = RunProgram(release, kTime);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("the tag v" GW_PROJECT_VERSION " is there already, of another commit: "),
                                 Not(HasSubstr("differs from its commit"))));
  EXPECT_FALSE(fs::exists(at("kept-back")));
  // A folder of somebody else's.
  fs::create_directories(at("kept-back"));
  WriteFile(at("kept-back/thesis"), "mine");
  release.push_back("--dry-run");
  outcome = RunProgram(release, kTime);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("kept-back is not what a release made"));
  EXPECT_EQ(ReadFile(at("kept-back/thesis")), "mine");
}

// Built for another architecture, some packages are there twice: for it, and on this machine.
TEST_F(PackagingTest, APackageIsListedOnce) {
  const std::string sysroot = at("sysroot"), from = at("other");
  fs::create_directories(sysroot);
  fs::copy(at("image/" GW_ARCH), from, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  WriteFile(sysroot + "/packages.tsv",
            "libabsl-dev\t1\tarm64\tabseil\nzlib1g-dev\t1\tarm64\tzlib\ntzdata\t1\tall\ttzdata\n"
            "protobuf-compiler\t1\tarm64\tprotobuf\n");
  RunToEnd({script("packaging/bill"), "--arch", "arm64", "--from", from, "--manifest", "sha256:" + std::string(64, 'a'),
            "--sysroot", sysroot},
           kTime);
  std::map<std::string, std::string> versions;
  const value list = Json(ReadFile(from + "/spdx.json"));
  for (const value& package : list.at("packages").get_array())
    EXPECT_TRUE(versions.emplace(Text(package.at("SPDXID")), Text(package.at("versionInfo"))).second)
        << Text(package.at("SPDXID")) << " is there twice";
  EXPECT_EQ(versions["SPDXRef-tool-zlib1g-dev"], "1");
  EXPECT_NE(versions["SPDXRef-tool-protobuf-compiler"], "1") << "the compiler that ran is this machine's";
  EXPECT_FALSE(versions.contains("SPDXRef-tool-libcli11-dev")) << "this machine's libraries are not what is linked";
}

TEST_F(PackagingTest, TheArchiveWantsNoMoreThanTheCLibrary) {
  RunToEnd({"tar", "xzf", at("dist/" + kName + "-" GW_ARCH ".tar.gz"), "-C", at("dist")});
  // A root filesystem with glibc alone.
  const std::string bare = at("bare");
  const std::string libraries = bare + "/usr/lib/" GW_TRIPLET;
  fs::copy(root(), bare, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  fs::remove_all(bare + "/usr/local");
  for (const auto& library : fs::directory_iterator(libraries)) {
    const std::string name = library.path().filename();
    if (!absl::StartsWith(name, "libc.so") && !absl::StartsWith(name, "libm.so") &&
        !absl::StartsWith(name, "libresolv.so") && !absl::StartsWith(name, "ld-linux"))
      fs::remove(library);
  }
  fs::create_directories(bare + "/opt");
  const std::vector<std::string> there{"--ro-bind", at("dist/" + kName + "-" GW_ARCH), "/opt"};
  const Outcome outcome = RunInside(bare, {"/opt/bin/gangway", "version", "--check"}, there);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("are as they were packaged"));
  EXPECT_THAT(RunInside(bare, {"/opt/bin/gangway", "extender", "--help"}, there).out,
              HasSubstr("Usage: gangway extender"));
  EXPECT_THAT(
      RunInside(bare, {"/opt/bin/kubectl-gangway", "validate", "-f", "/opt/share/gangway/examples/ctr-volcano.yaml"},
                there)
          .err,
      IsEmpty());
  for (const char* const script : {"bundle/load", "volcano/components/volcano-extender/post-renderer"})
    RunToEnd({"test", "-x", at("dist/" + kName + "-" GW_ARCH "/share/gangway/deploy/") + script});
  EXPECT_EQ(RunToEnd({"bash", "-ec", "cd '" + at("dist") + "' && sha256sum --check --quiet SHA256SUMS"}), "");
}

}  // namespace
}  // namespace gangway::testutil
