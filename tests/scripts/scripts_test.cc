// The scripts that decide whether a run of the tests may be called green, each on what it must not let pass.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"
#include "tests/testing/files.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kScripts[] = GW_SOURCE_DIR "/scripts/";

// A folder for what a script looks at, and a PATH of chosen programs.
class ScriptsTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  void Write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    WriteFile(path(name), text);
  }
  // With none of this run's settings.
  Outcome Run(std::vector<std::string> argv, const std::vector<std::string>& environment = {}) {
    std::vector<std::string> all{"env", "-u", "GW_REQUIRE_ALL", "-u", "GW_TESTS_RUN"};
    all.insert(all.end(), environment.begin(), environment.end());
    argv[0] = kScripts + argv[0];
    all.insert(all.end(), argv.begin(), argv.end());
    return RunProgram(all);
  }
  // "PATH=...", where all that the scripts use is found, but for one program.
  std::string PathWithout(const std::string& missing) {
    const std::string bin = path("bin-without-" + missing);
    std::filesystem::create_directories(bin);
    for (const char* used : {"awk", "bash", "cat", "dirname", "env", "realpath"})
      std::filesystem::create_symlink(std::string("/usr/bin/") + used, bin + "/" + used);
    for (const char* tool : {"go", "kubectl", "clang++-19", "clang-format-19", "clang-tidy-19", "ld.gold", "skopeo",
                             "umoci", "bwrap", "chromium", "zsh", "fish", "python3"}) {
      if (tool != missing) std::filesystem::create_symlink("/bin/true", bin + "/" + tool);
    }
    return "PATH=" + bin;
  }

  TemporaryFolder folder_{"gangway-scripts"};
};

class SkipsTest : public ScriptsTest {};

TEST_F(SkipsTest, NothingSkippedIsSaid) {
  Write("run", "ran\ta_test\t10\nran\tb_test\t5\nlong\tb_test\tB.Deep\n");
  for (const std::vector<std::string>& environment : {std::vector<std::string>{}, {"GW_REQUIRE_ALL=1"}}) {
    const Outcome outcome = Run({"skips", path("run")}, environment);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out, "gangway: 15 tests ran, 0 were skipped, 1 are left to make test-long\n");
  }
}

TEST_F(SkipsTest, SkipsAreCountedByReason) {
  Write("run",
        "ran\ta_test\t1\nskipped\ta_test\tA.1\tno kubectl\nskipped\tb_test\tB.1\tno Go\nskipped\ta_test\tA.2\tno "
        "kubectl\n"
        "skipped\tc_test\tC.1\tno kubectl\nskipped\tc_test\tC.2\tno kubectl\n");
  const Outcome outcome = Run({"skips", path("run")});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out,
            "gangway: 1 tests ran, 5 were skipped, 0 are left to make test-long\n"
            "gangway: skipped 4: no kubectl (a_test: A.1, a_test: A.2, c_test: C.1, ...)\n"
            "gangway: skipped 1: no Go (b_test: B.1)\n");
  EXPECT_EQ(Run({"skips", path("run")}, {"GW_REQUIRE_ALL=1"}).exit_code, 1);
}

TEST_F(SkipsTest, WhatFailedBesideOthersIsNamed) {
  Write("run", "ran\ta_test\t10\nran\tb_test\t1\nflaky\ta_test\nflaky\tb_test\n");
  const Outcome outcome = Run({"skips", path("run")}, {"GW_REQUIRE_ALL=1"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("\ngangway: flaky, failed beside others and passed alone: a_test b_test\n"));
}

TEST_F(SkipsTest, NoTestAtAllIsAFailure) {
  Write("run", "");
  EXPECT_EQ(Run({"skips", path("run")}).exit_code, 1);
}

TEST_F(SkipsTest, WhatWasNotRunAgainIsSaidAndIsNotAllThatIsRequired) {
  Write("run", "ran\ta_test\t10\nunchanged\tb_test\t5\nunchanged\tc_test\t2\n");
  const Outcome outcome = Run({"skips", path("run")});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(
      outcome.out,
      "gangway: 10 tests ran, 7 passed before and nothing that they read has changed (FRESH=1 runs them again), 0 "
      "were skipped, 0 are left to make test-long\n");
  EXPECT_EQ(Run({"skips", path("run")}, {"GW_REQUIRE_ALL=1"}).exit_code, 1);
  Write("run", "unchanged\tb_test\t5\n");
  EXPECT_EQ(Run({"skips", path("run")}).exit_code, 0);
}

class TestToolsTest : public ScriptsTest {};

TEST_F(TestToolsTest, WhereAllIsThereNothingIsSaid) {
  const Outcome outcome = Run({"test-tools"}, {PathWithout("nothing"), "GW_REQUIRE_ALL=1"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST_F(TestToolsTest, EachThatIsMissingIsSaidAndFailsWhereAllIsRequired) {
  for (const auto& [tool, help] :
       {std::pair{"go", "https://go.dev/dl"}, std::pair{"kubectl", "https://kubernetes.io"},
        std::pair{"clang++-19", "apt-get install clang-19"},
        std::pair{"clang-format-19", "apt-get install clang-format-19"},
        std::pair{"clang-tidy-19", "apt-get install clang-tidy-19"}, std::pair{"ld.gold", "binutils"},
        std::pair{"zsh", "apt-get install zsh"}, std::pair{"fish", "apt-get install fish"},
        std::pair{"python3", "apt-get install python3 python3-venv"}}) {
    SCOPED_TRACE(tool);
    const std::string path = PathWithout(tool);
    const Outcome told = Run({"test-tools"}, {path});
    EXPECT_EQ(told.exit_code, 0);
    EXPECT_THAT(told.err, AllOf(HasSubstr(absl::StrCat("there is no ", tool, " on this machine")), HasSubstr(help),
                                Not(HasSubstr("GW_REQUIRE_ALL"))));
    const Outcome required = Run({"test-tools"}, {path, "GW_REQUIRE_ALL=1"});
    EXPECT_EQ(required.exit_code, 1);
    EXPECT_THAT(required.err, HasSubstr("nothing may be skipped"));
  }
}

TEST_F(TestToolsTest, WithoutGoThereIsNoControlPlane) {
  const std::string path = PathWithout("go");
  EXPECT_EQ(Run({"e2e-tools"}, {path}).exit_code, 0);
  EXPECT_EQ(Run({"e2e-tools"}, {path, "GW_REQUIRE_ALL=1"}).exit_code, 1);
}

TEST_F(TestToolsTest, APythonWithoutVirtualEnvironmentsIsSaid) {
  const std::string bin = PathWithout("python3").substr(5);
  std::filesystem::create_symlink("/bin/false", bin + "/python3");
  const Outcome outcome = Run({"test-tools"}, {"PATH=" + bin, "GW_REQUIRE_ALL=1"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("apt-get install python3-venv"));
}

class InstallTest : public ScriptsTest {
 protected:
  // With programs of a machine on which no package is; apt-get tells what it is asked for.
  Outcome Install(const std::vector<std::string>& modes) {
    const std::string bin = PathWithout("nothing").substr(5);
    std::filesystem::create_symlink("/bin/false", bin + "/dpkg-query");
    Write("bin-without-nothing/id", "#!/bin/sh\necho 0\n");
    Write("bin-without-nothing/apt-get", "#!/bin/sh\necho apt-get \"$@\" >&2\n");
    for (const char* const program : {"/id", "/apt-get"})
      std::filesystem::permissions(bin + program, std::filesystem::perms::owner_all);
    std::vector<std::string> argv{"install-packages"};
    argv.insert(argv.end(), modes.begin(), modes.end());
    Outcome outcome = Run(argv, {"PATH=" + bin});
    std::filesystem::remove_all(bin);
    return outcome;
  }
};

TEST_F(InstallTest, EachModeAsksForWhatItNeeds) {
  const Outcome plain = Install({});
  EXPECT_THAT(plain.out, AllOf(HasSubstr(" g++ "), Not(HasSubstr("python3"))));
  for (const char* const mode : {"--paddle", "--tests", "--nightly", "--benches"}) {
    const Outcome outcome = Install({mode});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, AllOf(HasSubstr(" g++ "), HasSubstr(" python3 python3-venv libgomp1"))) << mode;
  }
  EXPECT_THAT(Install({"--paddle"}).out, AllOf(Not(HasSubstr("clang-19")), Not(HasSubstr("coinor-cbc"))));
  EXPECT_THAT(Install({"--benches"}).out, HasSubstr(" coinor-cbc"));
  EXPECT_THAT(Install({"--tests"}).out, AllOf(HasSubstr(" clang-19 "), Not(HasSubstr("qemu"))));
  EXPECT_THAT(Install({"--nightly"}).out,
              AllOf(HasSubstr(" clang-19 "), HasSubstr(" g++-12-aarch64-linux-gnu "), HasSubstr(" qemu-user")));
  EXPECT_EQ(Install({"--padle"}).exit_code, 2);
}

TEST_F(InstallTest, MakePaddleInstallsThem) {
  const Outcome outcome = RunProgram({"make", "-n", "-C", GW_SOURCE_DIR, "paddle"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("scripts/install-packages --paddle"));
}

// In a copy of the scripts, whose build folder is its own.
TEST_F(InstallTest, TheTestsOfPaddleFailWhereItCannotBeHad) {
  for (const char* const script : {"test", "install-paddle"}) {
    Write(absl::StrCat("scripts/", script), ReadFile(absl::StrCat(kScripts, script)));
    std::filesystem::permissions(path(absl::StrCat("scripts/", script)), std::filesystem::perms::owner_all);
  }
  const std::string bin = PathWithout("python3").substr(5);
  for (const char* const used : {"flock", "mkdir", "nproc"})
    std::filesystem::create_symlink(absl::StrCat("/usr/bin/", used), absl::StrCat(bin, "/", used));
  const Outcome outcome =
      RunProgram({"env", "PATH=" + bin, "HOME=" + folder_.path(), "XDG_CACHE_HOME=", path("scripts/test"), "--paddle"});
  EXPECT_EQ(outcome.exit_code, 77);
  EXPECT_THAT(outcome.err, HasSubstr("install-paddle: there is no Python"));
}

TEST_F(ScriptsTest, WhatIsRunNightlyIsRunThoughSomeOfItFails) {
  Write("scripts/nightly", ReadFile(absl::StrCat(kScripts, "nightly")));
  for (const char* const script : {"test", "test-mutants", "fuzz", "packaging/reproduced", "packaging/emulated"})
    Write(absl::StrCat("scripts/", script),
          absl::StrCat("#!/bin/sh\necho \"", script, " $*\"\n[ ", script, " != test-mutants ]\n"));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path("scripts")))
    std::filesystem::permissions(entry.path(), std::filesystem::perms::owner_all);
  const std::string bin = PathWithout("nothing");
  Write("bin-without-nothing/cmake", "#!/bin/sh\necho \"cmake $*\"\n");
  std::filesystem::permissions(path("bin-without-nothing/cmake"), std::filesystem::perms::owner_all);
  Write("bin-without-nothing/uname", "#!/bin/sh\necho x86_64\n");
  std::filesystem::permissions(path("bin-without-nothing/uname"), std::filesystem::perms::owner_all);
  for (const char* const used : {"date", "nproc"})
    std::filesystem::create_symlink(absl::StrCat("/usr/bin/", used), path(absl::StrCat("bin-without-nothing/", used)));
  const Outcome outcome = RunProgram({"env", bin, "FUZZ_SECONDS=7", path("scripts/nightly")});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\ncmake --build --preset bench --target gw_benches -j "),
                                 HasSubstr("\npackaging/reproduced \n"), HasSubstr("\npackaging/emulated arm64\n"),
                                 HasSubstr("\ntest --long\n"), HasSubstr("\ntest-mutants --sample 200 --seed 2"),
                                 HasSubstr("\nfuzz 7\n"), HasSubstr("failed: scripts/test-mutants")));
  EXPECT_THAT(outcome.out, AllOf(Not(HasSubstr("failed: scripts/test ")), Not(HasSubstr("failed: scripts/fuzz"))));
}

TEST_F(ScriptsTest, ReleasesOfTheControlPlaneAreNamedInFull) {
  const Outcome outcome = Run({"e2e-tools", "--kubernetes", "1.26"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--kubernetes wants a release such as v1.26.13, and not \"1.26\""));
}

// With a compiler that writes, of each program, what the test says.
TEST_F(ScriptsTest, ProgramsThatDifferInAnotherFolderAreNamed) {
  for (const char* const script : {"reproduced", "common"}) {
    Write(absl::StrCat("of/scripts/packaging/", script), ReadFile(absl::StrCat(kScripts, "packaging/", script)));
    std::filesystem::permissions(path(absl::StrCat("of/scripts/packaging/", script)),
                                 std::filesystem::perms::owner_all);
  }
  Write("of/CMakeLists.txt", "project(gangway VERSION 0.1.0 LANGUAGES CXX)\n");
  ASSERT_EQ(RunProgram({"git", "-C", path("of"), "init", "--quiet"}).exit_code, 0);
  const auto reproduced = [&](const std::string& extender) {
    Write("bin/cmake",
          absl::StrCat("#!/bin/sh\nmkdir -p build/dist/cmd/gangway\necho the same >build/dist/cmd/gangway/",
                       "gangway\necho \"", extender, "\" >build/dist/cmd/gangway/gangway-extender\n"));
    std::filesystem::permissions(path("bin/cmake"), std::filesystem::perms::owner_all);
    return RunProgram({"env", absl::StrCat("PATH=", path("bin"), ":/usr/bin:/bin"), "SOURCE_DATE_EPOCH=1700000000",
                       path("of/scripts/packaging/reproduced")});
  };
  const Outcome same = reproduced("the same");
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.out, HasSubstr("gangway gangway-extender are the same bytes in another folder"));
  const Outcome other = reproduced("$PWD");
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, AllOf(HasSubstr("gangway: gangway-extender is not the same bytes"),
                               HasSubstr("gangway-extender names the folder that it was built in"),
                               Not(HasSubstr("gangway: gangway is not"))));
}

// With an image and a container that give what the test says.
class EmulatedTest : public ScriptsTest {
 protected:
  void SetUp() override {
    for (const char* const script : {"emulated", "common"})
      Program(absl::StrCat("of/scripts/packaging/", script), ReadFile(absl::StrCat(kScripts, "packaging/", script)));
    Write("of/CMakeLists.txt", "project(gangway VERSION 0.1.0 LANGUAGES CXX)\n");
    Write("of/deploy/volcano/crds/queues.scheduling.volcano.sh.yaml", "types\n");
    Write("of/tests/golden/translate/example-ctr-ps.volcano.yaml", "job\n");
    std::filesystem::create_directories(path("of/examples"));
    std::filesystem::create_directories(path("programs"));
    for (const char* const tool : {"qemu-aarch64", "umoci"}) Program(absl::StrCat("bin/", tool), "#!/bin/sh\n");
  }
  void Program(const std::string& name, const std::string& text) {
    Write(name, text);
    std::filesystem::permissions(path(name), std::filesystem::perms::owner_all);
  }
  // `bytes`: what is in the image, in the shell of what makes it; `check`: what `version --check` says.
  Outcome Emulate(const std::string& bytes, const std::string& check) {
    Program("of/scripts/image",
            absl::StrCat("#!/bin/sh\nmkdir -p $6\nfor file in .oci.tar -arm64.spdx.json -arm64.provenance.json; do\n",
                         "  echo \"", bytes, "\" >$6/gangway-0.1.0-linux$file\ndone\necho of >$6/digests\n"));
    Program("bin/bwrap", absl::StrCat("#!/bin/sh\ncase \"$*\" in\n  *'gangway version --check') echo '", check,
                                      "' ;;\n  *'gangway-extender --help') echo Usage: gangway extender ;;\n",
                                      "  *'gangway crds '*) echo types ;;\n  *'gangway translate '*) echo job ;;\n",
                                      "  *'gangway sandbox '*) echo job/ctr-volcano=Completed ;;\nesac\n"));
    return RunProgram({"env", absl::StrCat("PATH=", path("bin"), ":/usr/bin:/bin"), "SOURCE_DATE_EPOCH=1700000000",
                       path("of/scripts/packaging/emulated"), "arm64", "--programs", path("programs")});
  }
};

TEST_F(EmulatedTest, AnImageThatIsTheSameEachTimeAndRunsIsSaidToBe) {
  const Outcome outcome = Emulate("the same", "12 files are as they were packaged");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("gangway: the image of arm64 is the same bytes each time, and runs\n"));
}

TEST_F(EmulatedTest, OneThatDiffersOrIsNotWholeIsNot) {
  const Outcome differs = Emulate("$6", "12 files are as they were packaged");
  EXPECT_EQ(differs.exit_code, 1);
  EXPECT_THAT(differs.err, HasSubstr("gangway-0.1.0-linux.oci.tar is not the same bytes when it is made again"));
  const Outcome broken = Emulate("the same", "is another file");
  EXPECT_EQ(broken.exit_code, 1);
  EXPECT_THAT(broken.err, HasSubstr("gangway version --check, in the image of arm64, does not say \"are as they were "
                                    "packaged\", but: is another file"));
}

TEST_F(EmulatedTest, WhatItWantsIsSaid) {
  const std::string bin = PathWithout("nothing").substr(5);
  for (const char* const used : {"date", "sed", "uname"})
    std::filesystem::create_symlink(absl::StrCat("/usr/bin/", used), absl::StrCat(bin, "/", used));
  const Outcome outcome =
      RunProgram({"env", "PATH=" + bin, "SOURCE_DATE_EPOCH=1", path("of/scripts/packaging/emulated"), "arm64"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("there is no qemu-aarch64 on this machine: scripts/install-packages --nightly"));
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--program", path("programs")},
                                                  {"--programs"},
                                                  {"--programs", path("programs"), "x"}}) {
    std::vector<std::string> argv{"env", "SOURCE_DATE_EPOCH=1", path("of/scripts/packaging/emulated"), "arm64"};
    argv.insert(argv.end(), options.begin(), options.end());
    const Outcome other = RunProgram(argv);
    EXPECT_EQ(other.exit_code, 1);
    EXPECT_THAT(other.err,
                HasSubstr("emulated takes an architecture, and perhaps --programs FOLDER; not: arm64 --program"));
  }
}

class OneDefinitionTest : public ScriptsTest {
 protected:
  Outcome Judge() { return Run({"one-definition", folder_.path()}); }
};

TEST_F(OneDefinitionTest, TwoTypesOfOneNameAreFound) {
  Write("plugin/a.cc", "namespace gangway::gang {\nstruct Row {\n  int a;\n};\n}  // namespace gangway::gang\n");
  Write("plugin/b.cc",
        "namespace gangway {\nnamespace gang {\nclass Row final : public Base {\n};\n}  // namespace gang\n}  // "
        "namespace gangway\n");
  const Outcome outcome = Judge();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "gangway::gang::Row: plugin/b.cc:3 and plugin/a.cc:2\n");
}

TEST_F(OneDefinitionTest, NamesThatAreNotOneAreLeftAlone) {
  Write("plugin/a.h", "namespace gangway {\nstruct Row {};\nstruct Other;  // b.h\n}  // namespace gangway\n");
  Write("plugin/b.h",
        "namespace gangway {\nstruct Other {};\ntemplate <class T>\nclass Row {};\n}  // namespace gangway\n");
  Write("plugin/c.cc", "namespace gangway {\nnamespace {\nstruct Row {};\n}  // namespace\n}  // namespace gangway\n");
  Write("plugin/d.cc", "namespace gangway::gang {\nstruct Row {};\n}  // namespace gangway::gang\n");
  Write("tests/a.cc", "namespace gangway {\nstruct Row {};\n}  // namespace gangway\n");
  const Outcome outcome = Judge();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, IsEmpty());
}

TEST_F(OneDefinitionTest, OfWhatTestsShareTooButNotOfTests) {
  const std::string kept =
      "namespace gangway {\nnamespace {\nconstexpr int kMost = 3;\n}  // namespace\n}  // namespace gangway\n";
  for (const char* const path : {"tests/a/one.cc", "tests/a/other_test.cc", "tests/b/one.cc"}) Write(path, kept);
  Write("plugin/a.h", "namespace gangway {\nstruct Row {};\n}  // namespace gangway\n");
  EXPECT_EQ(Judge().out, "");
  Write("tests/a/two.cc", kept);
  EXPECT_EQ(Judge().out, "kMost, which a source keeps to itself: tests/a/two.cc:3 and tests/a/one.cc:3\n");
}

// Two sources of a folder, each with that in a namespace without a name.
TEST_F(OneDefinitionTest, WhatTwoSourcesKeepUnderOneNameIsFound) {
  const auto said = [&](const std::string& one, const std::string& other) {
    const std::string head = "namespace gangway {\nnamespace {\n", tail = "\n}  // namespace\nstruct ";
    Write("plugin/a.cc", head + one + tail + "Alone {};\n}  // namespace gangway\n");
    Write("plugin/b.cc", head + other + tail + "Beside {};\n}  // namespace gangway\n");
    const Outcome outcome = Judge();
    EXPECT_EQ(outcome.exit_code, outcome.out.empty() ? 0 : 1) << one << " " << other;
    return outcome.out;
  };
  EXPECT_EQ(said("struct Row {};", "class Row {"),
            "Row, which a source keeps to itself: plugin/b.cc:3 and plugin/a.cc:3\n");
  EXPECT_THAT(said("std::string Of(const Row& row, int i = 0) {}", "bool Of(const Row& r, int count) {"),
              HasSubstr("Of(const Row&, int), which"));
  EXPECT_THAT(said("constexpr int kMost = 3;", "constexpr char kMost[] = \"a\";"), HasSubstr("kMost, which"));
  EXPECT_THAT(said("void Of(const Row& row) {}", "void Of(const Gang& gang) {}"), IsEmpty());
  EXPECT_THAT(said("constexpr auto kMost = Seconds(1);", "constexpr auto kLeast = Seconds(1);"), IsEmpty());
  EXPECT_THAT(said("}  // namespace\nstruct Row;\nnamespace {", "struct Row {};"), IsEmpty());
}

TEST_F(OneDefinitionTest, NoTypesAtAllIsAFailure) { EXPECT_EQ(Judge().exit_code, 1); }

class CitationsTest : public ScriptsTest {
 protected:
  Outcome Judge(const std::string& comment) {
    Write("docs/life.md", "# Life\n");
    Write("plugin/a.h", comment + "\nint a;\n");
    return Run({"citations", folder_.path()});
  }
};

TEST_F(CitationsTest, WhatIsThereOrPublicIsCited) {
  const Outcome outcome = Judge(
      "// A Job (docs/life.md; Volcano: pkg/controllers/job/state). Cases are in tests/golden/FILE.json; "
      "spec.tasks[0].");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

TEST_F(CitationsTest, WhatReadersDoNotHaveIsFound) {
  for (const std::string cited : {"(spec: volcano-job 7.4)", "(docs/death.md)", "fixtures/volcano/seed", "design.md",
                                  "tests/golden/volcano/none.json", "see spec 6.15", "row S-7 of the contract",
                                  "Rows T1 to T4 of the specification", "(the contract, 4.6)"}) {
    const Outcome outcome = Judge("// A Job " + cited + ".");
    EXPECT_EQ(outcome.exit_code, 1) << cited;
    EXPECT_THAT(outcome.out, HasSubstr("plugin/a.h:1: cites ")) << cited;
  }
}

TEST_F(CitationsTest, NothingToReadIsAFailure) { EXPECT_EQ(Run({"citations", folder_.path()}).exit_code, 1); }

// kHash is that of an English page of the one line "# Queues".
class TranslationsTest : public ScriptsTest {
 protected:
  static constexpr char kHash[] = "855a9dd65ad9";
  Outcome Judge(const std::string& first_line, const std::string& index = "[q](queues.md)") {
    Write("docs/queues.md", "# Queues\n");
    Write("docs/zh/queues.md", first_line + "\n# 队列\n");
    Write("docs/zh/README.md", index + "\n");
    return Run({"translations", folder_.path()});
  }
};

TEST_F(TranslationsTest, APageThatReadsAsItDidIsRight) {
  const Outcome outcome = Judge(std::string("<!-- docs/queues.md ") + kHash + " -->");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

TEST_F(TranslationsTest, APageWhoseEnglishOneHasChangedIsNamed) {
  const Outcome outcome = Judge("<!-- docs/queues.md 0123456789ab -->");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("docs/zh/queues.md: docs/queues.md has changed since"));
  EXPECT_THAT(Judge("<!-- docs/none.md 0123456789ab -->").out, HasSubstr("docs/zh/queues.md: its first line does not"));
  EXPECT_THAT(Judge("# 队列").out, HasSubstr("docs/zh/queues.md: its first line does not name an English page"));
}

TEST_F(TranslationsTest, TheIndexTellsOfEveryPage) {
  const std::string line = std::string("<!-- docs/queues.md ") + kHash + " -->";
  EXPECT_THAT(Judge(line, "nothing").out, HasSubstr("docs/zh/README.md: does not tell of docs/zh/queues.md"));
  Write("docs/new.md", "# New\n");
  EXPECT_THAT(Judge(line).out, HasSubstr("does not tell of docs/new.md, which is there in English only"));
  EXPECT_EQ(Judge(line, "[q](queues.md) [n](../new.md)").exit_code, 0);
}

TEST_F(TranslationsTest, TheGalleryIsAPageToo) {
  const std::string line = std::string("<!-- docs/queues.md ") + kHash + " -->";
  Write("examples/README.md", "# Queues\n");
  EXPECT_THAT(Judge(line).out, HasSubstr("does not tell of examples/README.md, which is there in English only"));
  EXPECT_EQ(Judge(line, "[q](queues.md) [e](../../examples/README.md)").exit_code, 0);
  Write("docs/zh/examples.md", std::string("<!-- examples/README.md ") + kHash + " -->\n# 示例\n");
  EXPECT_THAT(Judge(line).out, HasSubstr("docs/zh/README.md: does not tell of docs/zh/examples.md"));
  EXPECT_EQ(Judge(line, "[q](queues.md) [e](examples.md)").exit_code, 0);
  Write("examples/README.md", "# Others\n");
  EXPECT_THAT(Judge(line, "[q](queues.md) [e](examples.md)").out, HasSubstr("examples/README.md has changed since"));
}

TEST_F(TranslationsTest, NoPagesAreAFailure) { EXPECT_EQ(Run({"translations", folder_.path()}).exit_code, 1); }

class ArrowsTest : public ScriptsTest {
 protected:
  Outcome Judge(const std::string& arrows) {
    for (const char* room : {"base", "api", "cmd"}) Write(std::string(room) + "/CMakeLists.txt", "");
    Write("base/a.h", "int a;\n");
    Write("api/b.h", "#include \"base/a.h\"\n#include \"absl/status/status.h\"\n" + also_);
    Write("cmd/c.cc", "#include \"api/b.h\"\n");
    Write("docs/architecture.md", "# Rooms\n" + table_ + "\n```arrows\n" + arrows + "```\n");
    return Run({"arrows", folder_.path()});
  }
  std::string also_,
      table_ = "| room | knows |\n|---|---|\n| `base`, `api` | words |\n| `cmd` | commands, by `base` |\n";
};

TEST_F(ArrowsTest, WhatIsDrawnIsRight) {
  const Outcome outcome = Judge("api <- base\ncmd <- api\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

TEST_F(ArrowsTest, AnArrowThatIsNotDrawnIsFound) {
  const Outcome outcome = Judge("api <- base\n");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("cmd includes api, which docs/architecture.md does not draw"));
}

TEST_F(ArrowsTest, AnArrowThatNothingUsesIsFound) {
  const Outcome outcome = Judge("api <- base\ncmd <- api base\n");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("draws cmd <- base, and nothing uses it"));
}

TEST_F(ArrowsTest, ACircleIsFoundThoughItIsDrawn) {
  also_ = "#include \"cmd/d.h\"\n";
  const Outcome outcome = Judge("api <- base cmd\ncmd <- api\n");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("a circle: "), HasSubstr("cmd"), HasSubstr("api")));
}

TEST_F(ArrowsTest, TheTableSaysWhatEachRoomIsFor) {
  const std::string drawn = "api <- base\ncmd <- api\n";
  table_ = "| room | knows |\n|---|---|\n| `base` | words |\n| `cmd` | commands, by `api` |\n";
  const Outcome missing = Judge(drawn);
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_EQ(missing.out, "docs/architecture.md does not say what api is for\n");
  table_ += "| `api`, `gone` | objects |\n";
  const Outcome gone = Judge(drawn);
  EXPECT_EQ(gone.exit_code, 1);
  EXPECT_EQ(gone.out, "docs/architecture.md says what gone is for once more, or there is no such room\n");
}

TEST_F(ArrowsTest, WhatStandsBehindASeamIsSeenByNobody) {
  const std::string drawn = "api <- base\ncmd <- api\n```\n```seams\napi <- base ";
  EXPECT_EQ(Judge(drawn + "a.h\n").exit_code, 0);
  also_ = "#include \"base/hidden.h\"\n";
  const Outcome hidden = Judge(drawn + "a.h\n");
  EXPECT_EQ(hidden.exit_code, 1);
  EXPECT_EQ(hidden.out, "api includes base/hidden.h, and docs/architecture.md says that it sees of it only a.h\n");
  also_.clear();
  EXPECT_EQ(Judge(drawn + "a.h hidden.h\n").out,
            "docs/architecture.md says that api sees base/hidden.h, and nothing includes it\n");
}

TEST_F(ArrowsTest, NothingToCompareIsAFailure) { EXPECT_EQ(Judge("").exit_code, 1); }

class PublicIncludesTest : public ScriptsTest {
 protected:
  // base, and cmd, whose c.h includes d.h, which includes base's a.h.
  Outcome Judge(const std::string& links, const std::string& own = "") {
    Write("base/a.h", "int a;\n");
    Write("cmd/c.h", "#include \"cmd/d.h\"\n#include \"absl/status/status.h\"\n");
    Write("cmd/d.h", "#include \"base/a.h\"\n");
    Write("gw_libraries.table",
          "gangway_base\tbase\ta.cc\t\ngangway_other\tother\t\tgangway::base\ngangway_cmd\tcmd\tc.cc\t" + links + "\t" +
              own + "\ngangway_cmd_more\tcmd\tmore.cc\tgangway::base\n");
    return Run({"public-includes", folder_.path(), folder_.path()});
  }
};

TEST_F(PublicIncludesTest, WhatIsLinkedPubliclyIsRight) {
  for (const char* links : {"absl::status gangway::base", "absl::status gangway::other"}) {
    const Outcome outcome = Judge(links);
    EXPECT_EQ(outcome.exit_code, 0) << links << ": " << outcome.out << outcome.err;
  }
}

TEST_F(PublicIncludesTest, WhatIsNotIsFoundThroughHeadersOfTheFolder) {
  const Outcome outcome = Judge("absl::status");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "cmd/d.h includes base/a.h, which gangway_cmd does not link publicly\n");
}

// What a header of Abseil belongs to, publicly where a header includes it.
TEST_F(PublicIncludesTest, PartsOfAbseilThatAreNotLinkedAreFound) {
  EXPECT_EQ(Judge("gangway::base", "absl::status").out,
            "cmd/c.h includes absl/status/status.h, and gangway_cmd does not link absl::status publicly\n");
  Write("cmd/c.cc", "#include \"absl/strings/str_cat.h\"\n#include \"absl/strings/str_format.h\"\n");
  EXPECT_EQ(Judge("absl::status gangway::base", "absl::strings").out,
            "cmd/c.cc includes absl/strings/str_format.h, and gangway_cmd does not link absl::str_format\n");
  EXPECT_EQ(Judge("absl::status gangway::base absl::strings", "absl::str_format").exit_code, 0);
}

TEST_F(PublicIncludesTest, NoLibraryIsAFailure) {
  Write("gw_libraries.table", "\n");
  EXPECT_EQ(Run({"public-includes", folder_.path(), folder_.path()}).exit_code, 1);
}

class FormatTest : public ScriptsTest {
 protected:
  void SetUp() override {
    if (RunProgram({"clang-format-19", "--version"}).exit_code != 0)
      GTEST_SKIP() << "there is no clang-format-19 on this machine";
    Write("formatted.cc", "int a = 1;\n");
    Write("crooked.cc", "int  a=1;\n");
  }
};

TEST_F(FormatTest, WhatIsNotFormattedIsNamedAndLeft) {
  EXPECT_EQ(Run({"format", "--check", path("formatted.cc")}).exit_code, 0);
  const Outcome outcome = Run({"format", "--check", path("formatted.cc"), path("crooked.cc")});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("crooked.cc:1"), Not(HasSubstr("formatted.cc"))));
  EXPECT_EQ(ReadFile(path("crooked.cc")), "int  a=1;\n");
}

TEST_F(FormatTest, FormatsAsTheProjectDoesWhereverAFileIs) {
  const std::string line =
      "int a = Something(" + std::string(90, 'x') + ");\n";  // longer than LLVM's 80, not than ours
  Write("long.cc", line);
  EXPECT_EQ(Run({"format", path("crooked.cc"), path("long.cc")}).exit_code, 0);
  EXPECT_EQ(ReadFile(path("crooked.cc")), "int a = 1;\n");
  EXPECT_EQ(ReadFile(path("long.cc")), line);
}

TEST_F(FormatTest, WithoutTheFormatterItIsSkippedUnlessAllIsRequired) {
  const std::string path_variable = PathWithout("clang-format-19"), told = path("run");
  EXPECT_EQ(Run({"format", "--check"}, {path_variable, "GW_TESTS_RUN=" + told}).exit_code, GW_ALL_SKIPPED);
  EXPECT_THAT(ReadFile(told), HasSubstr("skipped\tformat\tall sources\tthere is no clang-format-19"));
  EXPECT_EQ(Run({"format", "--check"}, {path_variable, "GW_REQUIRE_ALL=1"}).exit_code, 1);
}

class ThreadSafetyTest : public ScriptsTest {
 protected:
  void SetUp() override {
    if (RunProgram({"clang++-19", "--version"}).exit_code != 0)
      GTEST_SKIP() << "there is no clang++-19 on this machine";
  }
  // Of plugin/counter.cc with this class in it, built as ours are; `joined`: as part of that file.
  Outcome Judge(const std::string& members, const std::vector<std::string>& environment = {},
                const std::string& joined = {}) {
    const std::string compiled = joined.empty() ? path("plugin/counter.cc") : path("build/" + joined);
    Write("plugin/counter.cc",
          absl::StrCat("#include \"base/mutex.h\"\n#include <condition_variable>\nclass Counter {\n public:\n", members,
                       "};\n"));
    Write("build/compile_commands.json",
          absl::StrCat("[\n{\n  \"directory\": \"/\",\n  \"command\": \"/usr/bin/c++ -I", GW_SOURCE_DIR,
                       " -DTEXT=\\\\\\\"a\\\\\\\" -O1 -isystem /generated -std=c++20 -fpch-preprocess -o counter.o -c ",
                       compiled, "\",\n  \"file\": \"counter.cc\"\n}\n]\n"));
    std::vector<std::string> all{"GW_SOURCE=" + folder_.path()};
    all.insert(all.end(), environment.begin(), environment.end());
    return Run({"thread-safety", path("build")}, all);
  }
  static constexpr char kGood[] =
      "  void Add() {\n    gangway::MutexLock lock(mu_);\n    ++count_;\n    while (count_ == 7) less_.wait(mu_);\n  "
      "}\n"
      " private:\n  gangway::Mutex mu_;\n  std::condition_variable_any less_;\n  int count_ ABSL_GUARDED_BY(mu_) = "
      "0;\n";
};

TEST_F(ThreadSafetyTest, WhatIsLockedIsRight) {
  const Outcome outcome = Judge(kGood);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

TEST_F(ThreadSafetyTest, AMissingLockIsFound) {
  const Outcome outcome =
      Judge("  void Add() { ++count_; }\n private:\n  gangway::Mutex mu_;\n  int count_ ABSL_GUARDED_BY(mu_) = 0;\n");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("writing variable 'count_' requires holding mutex 'mu_' exclusively"));
}

TEST_F(ThreadSafetyTest, ASourceThatIsCompiledWithOthersIsRead) {
  EXPECT_EQ(Judge(kGood, {}, "plugin/x.dir/Unity/unity_0_cxx.cxx").exit_code, 1) << "nothing says what that is made of";
  Write("build/plugin/x.dir/Unity/unity_0_cxx.cxx", absl::StrCat("#include \"", path("plugin/counter.cc"), "\"\n"));
  const Outcome outcome = Judge(kGood, {}, "plugin/x.dir/Unity/unity_0_cxx.cxx");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

TEST_F(ThreadSafetyTest, WhatAnotherBuildAnalysedAsItCompiledIsNotReadAgain) {
  const std::string wrong =
      "  void Add() { ++count_; }\n private:\n  gangway::Mutex mu_;\n  int count_ ABSL_GUARDED_BY(mu_) = 0;\n";
  EXPECT_EQ(Judge(wrong).exit_code, 1);
  const auto compiled_with = [&](const std::string& flags) {
    Write("sanitized/compile_commands.json",
          absl::StrCat("[\n{\n  \"command\": \"clang++-19 ", flags, " -std=c++20 -o x.dir/counter.o -c ",
                       path("plugin/counter.cc"), "\",\n}\n]\n"));
    return Run({"thread-safety", path("build"), path("sanitized")}, {"GW_SOURCE=" + folder_.path()}).exit_code;
  };
  EXPECT_EQ(compiled_with("-Wthread-safety -Werror=thread-safety"), 1) << "nothing was compiled";
  Write("sanitized/x.dir/counter.o", "");
  EXPECT_EQ(compiled_with("-Wthread-safety"), 1) << "what it found was a warning";
  EXPECT_EQ(compiled_with("-Wthread-safety -Werror=thread-safety"), 0);
}

TEST_F(ThreadSafetyTest, WhatTheAnalysisCannotSeeIsFound) {
  const auto said = [&](const std::string& members) {
    const Outcome outcome = Judge(members);
    EXPECT_EQ(outcome.exit_code, 1) << members;
    return outcome.out;
  };
  const std::string field = "  gangway::Mutex mu_;\n  int count_ ABSL_GUARDED_BY(mu_) = 0;\n";
  EXPECT_THAT(said("  void Add() ABSL_NO_THREAD_SAFETY_ANALYSIS { ++count_; }\n" + field),
              HasSubstr("goes around the annotations"));
  EXPECT_THAT(said("  std::mutex raw_;\n" + field), HasSubstr("goes around the annotations"));
  EXPECT_THAT(said("  gangway::Mutex mu_;\n  int count_ = 0;\n"), HasSubstr("nothing is guarded by mu_"));
}

TEST_F(ThreadSafetyTest, WhatNoSourceReadsIsFound) {
  Write(
      "plugin/alone.h",
      "#include \"base/mutex.h\"\nclass Alone {\n  gangway::Mutex mu_;\n  int count_ ABSL_GUARDED_BY(mu_) = 0;\n};\n");
  EXPECT_THAT(Judge(kGood).out, HasSubstr("plugin/alone.h: holds a Mutex and has no source of its name"));
}

TEST_F(ThreadSafetyTest, WhatIsNotBuiltIsFound) {
  Write(
      "plugin/other.cc",
      "#include \"base/mutex.h\"\nclass Other {\n  gangway::Mutex mu_;\n  int count_ ABSL_GUARDED_BY(mu_) = 0;\n};\n");
  EXPECT_THAT(Judge(kGood).out, AllOf(HasSubstr("plugin/other.cc:"), HasSubstr("does not build it")));
}

TEST_F(ThreadSafetyTest, WithoutClangItIsSkippedUnlessAllIsRequired) {
  const std::string path_variable = PathWithout("clang++-19"), told = path("run");
  EXPECT_EQ(Judge(kGood, {path_variable, "GW_TESTS_RUN=" + told}).exit_code, GW_ALL_SKIPPED);
  EXPECT_THAT(ReadFile(told), HasSubstr("skipped\tthread_safety\tall sources\tthere is no clang++-19"));
  EXPECT_EQ(Judge(kGood, {path_variable, "GW_REQUIRE_ALL=1"}).exit_code, 1);
}

class TidyTest : public ScriptsTest {
 protected:
  void SetUp() override {
    if (RunProgram({"clang-tidy-19", "--version"}).exit_code != 0)
      GTEST_SKIP() << "there is no clang-tidy-19 on this machine";
    Write("plugin/counter.h", kGood);
    Write("plugin/counter.cc", "#include \"plugin/counter.h\"\n");
    Write("plugin/other.cc", "int other;\n");
    Write("tests/plugin/counter_test.cc", "struct Test { Test(int); };\n");
    Write("build/plugin/x.dir/Unity/unity_0_cxx.cxx", absl::StrCat("#include \"", path("plugin/counter.cc"), "\"\n"));
    std::string entries;
    for (const char* file :
         {"build/plugin/x.dir/Unity/unity_0_cxx.cxx", "plugin/other.cc", "tests/plugin/counter_test.cc"})
      absl::StrAppend(&entries, entries.empty() ? "[\n" : ",\n", "{\n  \"command\": \"/usr/bin/c++ -I", folder_.path(),
                      " -fpch-preprocess -o x.o -c ", path(file), "\",\n  \"file\": \"", path(file), "\"\n}");
    Write("build/compile_commands.json", entries + "\n]\n");
  }
  Outcome Judge(const std::vector<std::string>& options = {}, const std::vector<std::string>& environment = {}) {
    std::vector<std::string> all{"GW_SOURCE=" + folder_.path(), "JOBS=2"};
    all.insert(all.end(), environment.begin(), environment.end());
    std::vector<std::string> argv{"tidy"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.push_back(path("build"));
    return Run(argv, all);
  }
  static constexpr char kGood[] = "struct Counter {\n  explicit Counter(int);\n};\n";
  static constexpr char kWrong[] = "struct Counter {\n  Counter(int);\n};\n";
};

TEST_F(TidyTest, WhatIsWrongIsNamedUntilItIsMended) {
  Write("plugin/counter.h", kWrong);
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome = Judge();
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("plugin/counter.h:2:3: error:"), HasSubstr("google-explicit-constructor"),
                                   Not(HasSubstr("counter_test.cc")), Not(HasSubstr("other.cc"))));
  }
  Write("plugin/counter.h", kGood);
  EXPECT_EQ(Judge().exit_code, 0);
}

TEST_F(TidyTest, WhatPassedIsNotLookedAtAgainBeforeItChanges) {
  EXPECT_THAT(Judge().out, HasSubstr("looked at 2 of 2 sources, 0 passed before"));
  EXPECT_THAT(Judge().out, HasSubstr("looked at 0 of 2 sources, 2 passed before"));
  Write("plugin/counter.h", kWrong);
  const Outcome outcome = Judge();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("looked at 1 of 2 sources, 1 passed before"));
}

TEST_F(TidyTest, SinceARevisionOnlyWhatDiffers) {
  const std::vector<std::string> git{"git", "-C", folder_.path(), "-c", "user.name=a", "-c", "user.email=a@b"};
  for (std::vector<std::string> rest :
       {std::vector<std::string>{"init", "-q"}, {"add", "plugin"}, {"commit", "-qm", "a"}}) {
    rest.insert(rest.begin(), git.begin(), git.end());
    ASSERT_EQ(RunProgram(rest).exit_code, 0);
  }
  EXPECT_THAT(Judge({"--since", "HEAD"}).out, HasSubstr("looked at 0 of 2 sources, 0 passed before"));
  Write("plugin/counter.h", kWrong);
  const Outcome outcome = Judge({"--since", "HEAD"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("plugin/counter.h:2:3"), HasSubstr("looked at 1 of 2 sources")));
  EXPECT_EQ(Judge({"--since", "nonesuch"}).exit_code, 1);
}

TEST_F(TidyTest, NothingToLookAtIsAFailure) {
  Write("build/compile_commands.json", "[]\n");
  EXPECT_EQ(Judge().exit_code, 1);
}

TEST_F(TidyTest, WithoutClangTidyNothingIsCalledTidy) {
  const std::string path_variable = PathWithout("clang-tidy-19");
  EXPECT_EQ(Judge({}, {path_variable}).exit_code, GW_ALL_SKIPPED);
  EXPECT_EQ(Judge({}, {path_variable, "GW_REQUIRE_ALL=1"}).exit_code, 1);
}

}  // namespace
}  // namespace gangway::testutil
