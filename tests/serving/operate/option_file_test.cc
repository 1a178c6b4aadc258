// Checks `serve --config`: the file, the command line before it, errors, and the example.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "env/base/files/file.h"
#include "tests/serving/child.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kExample = "docs/examples/serve.yaml";

class OptionFile : public ::testing::Test {
 protected:
  std::string write(const std::string& text) const {
    std::ofstream(file()) << text;
    return file();
  }
  std::string file() const { return (temp_.path() / "serve.yaml").string(); }

  // Expects exit code 2 and one line of error.
  std::string refusal(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"serve", "--config", file()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Child child(temp_.path(), arguments);
    EXPECT_EQ(child.wait(), 2);
    const std::string err = child.err();
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
    return err;
  }
  std::string refused_file(const std::string& text) const {
    write(text);
    return refusal({});
  }

  // Value and default of each option of `serve`, by name without --.
  std::map<std::string, std::string> options_and_defaults() const {
    Child child(temp_.path(), {"serve", "--describe"});
    EXPECT_EQ(child.wait(), 0);
    std::map<std::string, std::string> out;
    const auto described = nlohmann::json::parse(child.out());
    for (const auto& option : described.at("options")) {
      for (const std::string name : option.at("names")) {
        if (!name.starts_with("--")) continue;
        out[name.substr(2)] = option.at("value") == "" ? "false" : option.at("default");
      }
    }
    return out;
  }

  TempFolder temp_;
};

TEST_F(OptionFile, ServesWithTheOptionsOfTheFileAndTheCommandLineBeforeThem) {
  write(
      "policy: greedy\nlisten: 127.0.0.1:0\nprobes: 127.0.0.1:0\njson: true\ngrace: 0\nname: mine\n"
      "http:\n");
  {
    Child server(temp_.path(), {"serve", "--config", file()});
    const nlohmann::json at = server.addresses();
    EXPECT_EQ(at.at("model"), "mine");
    EXPECT_NE(at.at("probes"), "");
    EXPECT_EQ(at.at("http"), "") << "an empty value leaves the default";
  }
  const auto folder = temp_.path() / "pilot";
  write_checkpoint(folder, 1);
  // --checkpoint excludes --policy: on the command line it replaces the file's policy.
  Child server(temp_.path(),
               {"serve", "--config=" + file(), "--name=other", "--checkpoint", folder.string(),
                "--probes", "unix:" + (temp_.path() / "p").string()});
  const nlohmann::json at = server.addresses();
  EXPECT_EQ(at.at("model"), "other");
  EXPECT_NE(at.at("digest"), "");
  EXPECT_THAT(at.at("probes"), HasSubstr("unix:"));
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0) << server.err();
}

TEST_F(OptionFile, NamesTheFileAndLineOfAMistake) {
  EXPECT_THAT(refused_file("policy: las\nbudget_ms: 3\n"),
              HasSubstr("serve.yaml:2: expected an option of `yardmaster serve` without --, got "
                        "'budget_ms'; did you mean `budget-ms`?"));
  EXPECT_THAT(refused_file("config: other.yaml\n"), HasSubstr("got 'config'"));
  EXPECT_THAT(refused_file("grace: -1\n"), HasSubstr("serve.yaml: serve: --grace"));
  EXPECT_THAT(refused_file("grace: soon\n"),
              HasSubstr("serve.yaml: serve: --grace: Value soon not in range"));
  EXPECT_THAT(refused_file("json: maybe\n"), HasSubstr("true or false for 'json', got 'maybe'"));
  EXPECT_THAT(refused_file("policy: las\ncheckpoint: pilot\n"), HasSubstr("serve.yaml: serve: "));
  EXPECT_THAT(refused_file("policy: [las\n"), HasSubstr("serve.yaml:"));
  EXPECT_THAT(refused_file("grace: 1\ngrace: 2\n"), HasSubstr("each key once"));
  write("grace: 0\n");
  const std::string on_the_line = refusal({"--grace", "-1"});
  EXPECT_EQ(on_the_line.find("serve.yaml"), std::string::npos) << on_the_line;
  std::filesystem::remove(file());
  EXPECT_THAT(refusal({}), HasSubstr("serve.yaml"));
}

TEST_F(OptionFile, SighupChecksAChangedFile) {
  write("policy: las\nlisten: 127.0.0.1:0\ngrace: 0\njson: true\n");
  Child server(temp_.path(), {"serve", "--config", file()});
  server.addresses();
  const auto says_after = [&](const std::string& text, const std::string& says) {
    write(text);
    server.signal(SIGHUP);
    while (server.err().find(says) == std::string::npos) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  };
  says_after("polcy: las\n", "the next start would fail: " + file() + ":1: expected an option");
  says_after("policy: greedy\n", file() + " has changed: its options count from the next start");
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0) << server.err();
}

TEST_F(OptionFile, TheExampleHasEveryOptionWithItsDefault) {
  const std::map<std::string, std::string> known = options_and_defaults();
  std::istringstream lines(read_file(kExample));
  const std::regex pattern("(# )?([a-z-]+):( +[^#]*)?(#.*)?");
  std::set<std::string> named;
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (!std::regex_match(line, parts, pattern)) {
      EXPECT_TRUE(line.empty() || line.starts_with("#")) << line;
      continue;
    }
    const std::string key = parts[2];
    std::string value = parts[3];
    value.erase(0, value.find_first_not_of(' '));
    value.erase(value.find_last_not_of(' ') + 1);
    if (value == "\"\"") value.clear();
    if (!known.contains(key)) {
      ADD_FAILURE() << "no option: " << line;
      continue;
    }
    EXPECT_TRUE(named.insert(key).second) << key << " twice";
    const bool is_default = parts[1].matched;
    if (is_default) {
      EXPECT_EQ(value, known.at(key)) << key;
    }
  }
  for (const auto& [name, value] : known) {
    EXPECT_TRUE(name == "config" || name == "help" || named.contains(name)) << name;
  }
}

TEST_F(OptionFile, TheExampleServes) {
  Child server(temp_.path(), {"serve", "--config", kExample, "--listen", "127.0.0.1:0", "--probes",
                              "127.0.0.1:0", "--json"});
  EXPECT_EQ(server.addresses().at("serving"), true);
}

}  // namespace
}  // namespace yard::testing
