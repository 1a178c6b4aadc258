// The installing scripts keep packages of the build apart from those of tests. Without a network
// they name what is missing and go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A copy of the scripts on a machine without packages. A fake apt-get records its calls and exits
// with the code given to `apt`; sudo only runs its arguments.
class Scripts : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* made : {"bin", "scripts", "tests", "build"}) {
      std::filesystem::create_directory(made);
    }
    for (const char* copied :
         {"scripts/install.sh", "scripts/test_packages.sh", "tests/requirements.txt"}) {
      std::filesystem::copy_file(std::filesystem::path(root_) / copied, copied);
    }
    program("dpkg-query", "exit 1");
    program("sudo", "exec \"$@\"");
  }

  void program(const std::string& name, const std::string& body) const {
    folder_.write("bin/" + name, "#!/bin/sh\n" + body + "\n");
    std::filesystem::permissions("bin/" + name, std::filesystem::perms::owner_all);
  }
  void apt(int code) const {
    program("apt-get", "echo \"$@\" >>calls\nexit " + std::to_string(code));
  }
  static Result run(const std::string& command) { return shell("PATH=$PWD/bin:$PATH " + command); }

  const std::string root_ = std::filesystem::current_path().string();
  const Folder folder_;
};

TEST_F(Scripts, BuildDoesNotInstallTestPackages) {
  apt(0);
  ASSERT_EQ(run("scripts/install.sh").code, 0);
  const std::string build = read_file("calls");
  EXPECT_THAT(build, HasSubstr("libtorch-dev"));
  EXPECT_THAT(build, Not(HasSubstr("openmpi-bin")));
  EXPECT_THAT(build, Not(HasSubstr("python3-venv")));
  std::filesystem::remove("calls");
  ASSERT_EQ(run("scripts/install.sh test").code, 0);
  const std::string tests = read_file("calls");
  EXPECT_THAT(tests, HasSubstr("openmpi-bin"));
  EXPECT_THAT(tests, Not(HasSubstr("libtorch-dev")));
}

TEST_F(Scripts, WithoutNetworkBuildFailsAndTestsRun) {
  apt(100);
  program("python3", "case \"$*\" in *venv*) exit 1;; esac; echo Python 3.11.2");
  EXPECT_EQ(run("scripts/install.sh").code, 1);
  const Result tests = run("scripts/test_packages.sh");
  EXPECT_EQ(tests.code, 0);
  EXPECT_THAT(tests.err, HasSubstr("apt-get could not install: curl openmpi-bin"));
  EXPECT_THAT(tests.err, HasSubstr("tests that use onnxruntime and tensorboard are skipped"));
  EXPECT_FALSE(folder_.has("build/venv"));
}

TEST_F(Scripts, PythonPackagesAreInstalledOnceForTheSameRequirements) {
  apt(0);
  program("python3", R"(case "$*" in
  *venv*) mkdir -p "$3/bin"; printf '#!/bin/sh\necho "$@" >>pip_calls\n' >"$3/bin/pip"; chmod +x "$3/bin/pip";;
  *) echo Python 3.11.2;;
esac)");
  for (int i = 0; i < 2; ++i) ASSERT_EQ(run("scripts/test_packages.sh").code, 0);
  EXPECT_EQ(std::ranges::count(read_file("pip_calls"), '\n'), 1);
  folder_.write("tests/requirements.txt", "numpy==1.2.3\n");
  ASSERT_EQ(run("scripts/test_packages.sh").code, 0);
  EXPECT_EQ(std::ranges::count(read_file("pip_calls"), '\n'), 2);
}

// No test runs these trainings, which take hours.
TEST_F(Scripts, ResultsAreMadeWithSettingsThatExist) {
  const std::string settings = shell("yardmaster list policies joint").out;
  folder_.write("named.sh",
                R"sh(eval "$(sed -nE '/^(shape|constants)\+?=/p; /^pinned=/,/^done/p' "$1")"
echo "$constants,$shape,$pinned" | tr ', ' '\n\n' | sed 's/=.*//; s/^srsf-move[.]//')sh");
  const Result named = shell("bash named.sh '" + root_ + "/scripts/results.sh'");
  ASSERT_EQ(named.code, 0) << named.err;
  int count = 0;
  for (const std::string_view name : split(named.out, '\n')) {
    if (name.empty()) continue;
    ++count;
    EXPECT_THAT(settings, HasSubstr("\n  " + std::string(name) + " "));
  }
  EXPECT_GT(count, 40);
}

}  // namespace
}  // namespace yard::testing
