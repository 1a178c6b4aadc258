#include "env/base/config/settings.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "env/base/core/error.h"
#include "env/base/files/file.h"

namespace yard {
namespace {

struct Config {
  double lr = 1e-3;
  float clip = 0.2f;
  int envs = 8;
  int64_t steps = 1000;
  uint64_t seed = 1;
  bool greedy = false;
  std::string order = "sjf", note;
  std::vector<double> weights = {1, 0.5};
  std::vector<std::string> layers = {"64"};

  void fields(auto& f) {
    f("train.lr", lr, 0, 1, "Adam step size");
    f("clip", clip, 0, 1, "PPO's epsilon");
    f("envs", envs, 1, 64, "worlds");
    f("steps", steps, 0, INT64_MAX, "decisions");
    f("seed", seed, 0, UINT64_MAX, "first stream");
    f("greedy", greedy, "take the best action");
    f("order", order, {"fifo", "sjf"}, "who goes first");
    f("note", note, "free text");
    f("weights", weights, "of the objectives");
    f("layers", layers, "widths");
  }
};

Settings from_text(const std::string& text) {
  AtomicDirectory scratch(::testing::TempDir() + "/settings");  // not committed: deleted afterwards
  const std::string path = scratch.temporary_path() / "settings.yaml";
  write_file_atomic(path, text);
  return Settings::from_yaml(path);
}

Config with(const std::string& assignment) {
  Settings settings;
  settings.overlay(assignment);
  return parse<Config>(settings);
}

template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const InputError& error) {
    std::string text = error.what();
    const size_t name = text.find("settings.yaml");
    return name == text.npos ? text : text.substr(name);
  }
  return "no error";
}

TEST(Settings, EmptySettingsKeepTheDefaults) {
  const Config config = parse<Config>(Settings());
  EXPECT_EQ(keys_and_values(config), keys_and_values(Config()));
  EXPECT_EQ(config.envs, 8);
}

TEST(Settings, ListsMayHaveBrackets) {
  EXPECT_EQ(with("weights=[0.5, 2]").weights, (std::vector<double>{0.5, 2}));
  EXPECT_EQ(with("weights=0.5,2").weights, (std::vector<double>{0.5, 2}));
  EXPECT_EQ(with("layers=[a=1,b]").layers, (std::vector<std::string>{"a=1", "b"}));
  EXPECT_EQ(with("layers=[]").layers, (std::vector<std::string>{}));
  EXPECT_NE(error_of([] { with("weights=[0.5"); }), "no error");
}

TEST(Settings, YamlSetsEveryType) {
  const Config c = parse<Config>(
      from_text("# a comment\n"
                "train:\n  lr: 2.5e-4\n"
                "clip: 0.1\nenvs: 64\nsteps: 9223372036854775807\nseed: 18446744073709551615\n"
                "greedy: true\norder: fifo\nnote: \"a: b, c\"\nweights: [0.1, 2]\nlayers:\n  - "
                "128\n  - 64\n"));
  EXPECT_EQ(c.lr, 2.5e-4);
  EXPECT_EQ(c.clip, 0.1f);
  EXPECT_EQ(c.envs, 64);
  EXPECT_EQ(c.steps, INT64_MAX);
  EXPECT_EQ(c.seed, UINT64_MAX);
  EXPECT_TRUE(c.greedy);
  EXPECT_EQ(c.order, "fifo");
  EXPECT_EQ(c.note, "a: b, c");
  EXPECT_EQ(c.weights, (std::vector<double>{0.1, 2}));
  EXPECT_EQ(c.layers, (std::vector<std::string>{"128", "64"}));
}

TEST(Settings, YamlKeepsOrderAndLines) {
  const Settings settings = from_text("b: 1\n\na:\n  c: [x, y]\n  d:\n");
  ASSERT_EQ(settings.entries().size(), 3u);
  const auto check = [](const GivenSetting& s, const char* key, const char* value,
                        const char* line) {
    EXPECT_EQ(s.key, key);
    EXPECT_EQ(s.value, value);
    EXPECT_TRUE(s.origin.ends_with(std::string("settings.yaml:") + line)) << s.origin;
  };
  check(settings.entries()[0], "b", "1", "1");
  check(settings.entries()[1], "a.c", "x,y", "4");
  check(settings.entries()[2], "a.d", "", "5");
}

TEST(Settings, LastValueWinsWithItsOrigin) {
  Settings settings = from_text("envs: 2\nclip: 0.3\n");
  settings.overlay(" envs = 4 ");
  EXPECT_EQ(settings.entries()[0].value, "4");
  EXPECT_EQ(settings.find("envs")->origin, "command line");
  EXPECT_EQ(settings.find("none"), nullptr);
  EXPECT_EQ(parse<Config>(settings).envs, 4);
}

TEST(Settings, OverlayValueMayContainAnEqualsSign) { EXPECT_EQ(with("note=a=b").note, "a=b"); }

TEST(Settings, UnknownKeyErrorListsKnownKeys) {
  EXPECT_EQ(
      error_of([] { parse<Config>(from_text("envs: 3\nenv: 2\n")); }),
      "settings.yaml:2: unknown key 'env', expected one of: train.lr, clip, envs, steps, seed, "
      "greedy, order, note, weights, layers; did you mean `envs`?");
}

TEST(Settings, ValuesOutOfRangeAreErrors) {
  EXPECT_EQ(error_of([] { parse<Config>(from_text("\nenvs: 65\n")); }),
            "settings.yaml:2: expected envs = integer ([1, 64]), got '65'");
  EXPECT_EQ(error_of([] { with("train.lr=1.5"); }),
            "command line: expected train.lr = number ([0, 1]), got '1.5'");
  for (const char* bad : {"envs=0", "envs=-1", "envs=99999999999", "seed=-1", "train.lr=nan",
                          "train.lr=inf", "steps=9223372036854775808", "clip=-0.1"}) {
    EXPECT_NE(error_of([&] { with(bad); }), "no error") << bad;
  }
  EXPECT_EQ(with("envs=1").envs, 1);
  EXPECT_EQ(with("train.lr=1").lr, 1.0);
}

TEST(Settings, ValuesOfAnotherTypeAreErrors) {
  EXPECT_EQ(error_of([] { with("order=lifo"); }),
            "command line: expected order = choice (fifo | sjf), got 'lifo'; did you mean `fifo`?");
  EXPECT_EQ(error_of([] { with("order=random"); }),
            "command line: expected order = choice (fifo | sjf), got 'random'");
  EXPECT_EQ(error_of([] { with("greedy=yes"); }),
            "command line: expected greedy = bool (true | false), got 'yes'");
  for (const char* bad : {"envs=2.5", "envs=", "envs=two", "clip=0.1x", "weights=1,,2",
                          "weights=1,x", "layers=a,", "seed=1e3"}) {
    EXPECT_NE(error_of([&] { with(bad); }), "no error") << bad;
  }
}

TEST(Settings, AnEmptyListIsEmpty) {
  EXPECT_TRUE(with("weights=").weights.empty());
  EXPECT_TRUE(parse<Config>(from_text("layers: []\n")).layers.empty());
}

TEST(Settings, AnAssignmentWithoutKeyOrEqualsSignIsAnError) {
  EXPECT_EQ(error_of([] { with("envs"); }), "command line: expected key=value, got 'envs'");
  EXPECT_EQ(error_of([] { with("=3"); }), "command line: expected key=value, got '=3'");
}

TEST(Settings, InvalidYamlErrorNamesTheLine) {
  const auto error = [](const std::string& text) { return error_of([&] { from_text(text); }); };
  EXPECT_EQ(error("a: 1\nb: 2\na: 3\n").substr(0, 30), "settings.yaml:3: expected each");
  EXPECT_EQ(error("a: 1\nb: [1\n").substr(0, 14), "settings.yaml:");
  EXPECT_EQ(error("a: [1, [2]]\n").substr(0, 16), "settings.yaml:1:");
  EXPECT_EQ(error("a: [\"1,2\"]\n").substr(0, 16), "settings.yaml:1:");
  EXPECT_EQ(error("[1]: 2\n").substr(0, 16), "settings.yaml:1:");
  EXPECT_EQ(error("a: &x\n  b: *x\n").substr(0, 16), "settings.yaml:2:");
  EXPECT_NE(error("- 1\n"), "no error");
  EXPECT_NE(error("a: 1\n---\na: 2\n"), "no error");
  EXPECT_NE(error("a: 1\n, b: 2\n"), "no error");
  EXPECT_EQ(error("# nothing\n"), "no error");
  EXPECT_EQ(error(""), "no error");
  EXPECT_NE(error_of([] { Settings::from_yaml("no/such.yaml"); }), "no error");
}

TEST(Settings, RecordRoundTrips) {
  Config config;
  config.lr = 1.0 / 3;
  config.clip = 0.7f;
  config.seed = UINT64_MAX;
  config.greedy = true;
  config.note = "a=b, c";
  config.weights = {1.0 / 3, 1e-300};
  config.layers = {};
  Settings settings;
  for (const auto& [key, value] : keys_and_values(config)) settings.set(key, value, "record");
  const Config back = parse<Config>(settings);
  EXPECT_EQ(keys_and_values(back), keys_and_values(config));
  EXPECT_EQ(back.lr, config.lr);
  EXPECT_EQ(back.clip, config.clip);
  EXPECT_EQ(back.weights, config.weights);
  EXPECT_TRUE(back.layers.empty());
}

TEST(Settings, DescriptionListsEveryFieldInOrder) {
  const std::vector<Field> fields = describe<Config>();
  ASSERT_EQ(fields.size(), 10u);
  EXPECT_EQ(fields[0].key, "train.lr");
  EXPECT_EQ(fields[0].type, "number");
  EXPECT_EQ(fields[0].range, "[0, 1]");
  EXPECT_EQ(fields[0].value, "0.001");
  EXPECT_EQ(fields[0].help, "Adam step size");
  EXPECT_EQ(fields[6].range, "fifo | sjf");
  EXPECT_EQ(fields[8].value, "1,0.5");
}

struct OutOfRange {
  int gpus = 0;
  void fields(auto& f) { f("gpus", gpus, 1, 8, "a node"); }
};
struct NoChoice {
  std::string order = "sjf";
  void fields(auto& f) { f("order", order, {"fifo"}, "who goes first"); }
};
struct Twice {
  bool a = false, b = false;
  void fields(auto& f) {
    f("a", a, "");
    f("a", b, "");
  }
};

TEST(SettingsDeathTest, InconsistentConfigAborts) {
  EXPECT_DEATH(describe<OutOfRange>(), "gpus: default out of range");
  EXPECT_DEATH(describe<NoChoice>(), "order: default is not among the choices");
  EXPECT_DEATH(describe<Twice>(), "two fields named a");
}

}  // namespace
}  // namespace yard
