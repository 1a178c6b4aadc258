// Several models, and versions on trial.
#include "serving/engine/model_catalog.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "env/base/core/error.h"
#include "env/task/agent.h"
#include "serving/snapshot/required_fields.h"
#include "tests/serving/engine_calls.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

pb::SetModeRequest mode(pb::Mode mode, double share = 0, double turn_s = 0) {
  pb::SetModeRequest out;
  out.set_mode(mode);
  out.set_share(share);
  out.set_turn_s(turn_s);
  return out;
}

pb::DecideRequest of_cluster(const std::string& cluster) {
  pb::DecideRequest out = full_cluster();
  out.set_cluster(cluster);
  return out;
}

// A server with two models: las as "main", fifo as "batch".
struct TwoModels {
  ModelCatalog models{{{"las", "main"}, {"fifo", "batch"}}};
  Engine engine{EngineOptions{}, models, [](const ServedDecision&) {}};
};

// The message of the InputError that `call` throws.
template <class Call>
std::string error_of(Call call) {
  try {
    call();
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(ModelCatalog, RequestsChooseAModelByName) {
  TwoModels two;
  pb::DecideRequest request = full_cluster();
  EXPECT_EQ(ask_engine(two.engine, request).model(), "main");
  request.set_model("batch");
  const pb::DecideResponse batch = ask_engine(two.engine, request);
  EXPECT_EQ(batch.model(), "batch");
  EXPECT_EQ(batch.source(), pb::POLICY) << batch.detail();
  EXPECT_EQ(batch.actions_size(), 0);
  request.set_model("other");
  const pb::DecideResponse other = ask_engine(two.engine, request);
  EXPECT_EQ(other.reason(), pb::NO_MODEL);
  EXPECT_EQ(other.detail(), "no model 'other' here, only 'main', 'batch'");
  const std::vector<ModelCatalog::ModelOptions> one_name = {{"las", "a"}, {"fifo", "a"}};
  EXPECT_THROW(ModelCatalog{one_name}, InputError);
}

TEST(ModelCatalog, AnOperatorSwitchesAModelOff) {
  TwoModels two;
  two.models.set_mode(mode(pb::MODE_OFF));
  const pb::DecideResponse off = ask_engine(two.engine, full_cluster());
  EXPECT_EQ(off.source(), pb::HEURISTIC);
  EXPECT_EQ(off.reason(), pb::OPERATOR);
  two.models.set_mode(mode(pb::MODE_ON));
  EXPECT_EQ(ask_engine(two.engine, full_cluster()).source(), pb::POLICY);
}

TEST(ModelCatalog, PromotesAndRollsBack) {
  TwoModels two;
  EXPECT_NE(error_of([&] { two.models.promote(""); }), "");
  EXPECT_NE(error_of([&] { two.models.roll_back("main"); }), "");
  two.models.load_candidate("main", "greedy");
  EXPECT_EQ(ask_engine(two.engine, full_cluster()).actions_size(), 2) << "las still decides";
  EXPECT_NE(error_of([&] { two.models.promote("main", "another"); }), "");
  EXPECT_NE(error_of([&] { two.models.unload_candidate("main", "another"); }), "");
  two.models.promote("main");
  EXPECT_EQ(ask_engine(two.engine, full_cluster()).actions_size(), 0) << "greedy decides";
  EXPECT_EQ(ask_engine(two.engine, full_cluster()).model(), "main");
  two.models.roll_back("main");
  EXPECT_EQ(ask_engine(two.engine, full_cluster()).actions_size(), 2);
  two.models.roll_back("main");
  EXPECT_EQ(ask_engine(two.engine, full_cluster()).actions_size(), 0);
}

TEST(ModelCatalog, ABadCandidateChangesNothing) {
  TwoModels two;
  const TempFolder temp;
  EXPECT_NE(error_of([&] { two.models.load_candidate("", "no-such-policy"); }), "");
  EXPECT_NE(error_of([&] { two.models.load_candidate("", "srtf"); }), "") << "it needs an oracle";
  const auto folder = temp.path() / "new";
  write_checkpoint(folder, 1);
  std::filesystem::resize_file(folder / "model.safetensors", 9);
  const std::string why =
      error_of([&] { two.models.load_candidate("", "checkpoint:" + folder.string()); });
  EXPECT_NE(why.find("MODEL_CORRUPT"), std::string::npos) << why;
  EXPECT_NE(error_of([&] { two.models.load_candidate("third", "las"); }).find("main, batch"),
            std::string::npos);
  EXPECT_FALSE(two.models.list()[0].has_candidate());
  EXPECT_NE(error_of([&] { two.models.set_mode(mode(pb::MODE_SHADOW)); }), "");
  EXPECT_NE(error_of([&] { two.models.set_mode(mode(pb::MODE_CANARY, 0.5)); }), "");
  EXPECT_EQ(ask_engine(two.engine, full_cluster()).source(), pb::POLICY);
}

TEST(ModelCatalog, ACanaryDecidesForWholeClusters) {
  TwoModels two;
  two.models.load_candidate("main", "greedy");
  EXPECT_NE(error_of([&] { two.models.set_mode(mode(pb::MODE_CANARY, 1.5)); }), "");
  two.models.set_mode(mode(pb::MODE_CANARY, 0.5));
  int of_candidate = 0;
  for (int i = 0; i < 40; ++i) {
    const auto request = of_cluster("c" + std::to_string(i));
    const bool first = ask_engine(two.engine, request).actions_size() == 0;
    for (int again = 0; again < 3; ++again) {
      EXPECT_EQ(ask_engine(two.engine, request).actions_size() == 0, first) << "it changed";
    }
    of_candidate += first;
  }
  EXPECT_GT(of_candidate, 10);
  EXPECT_LT(of_candidate, 30);
  two.models.unload_candidate("main");
  EXPECT_EQ(two.models.list()[0].mode(), pb::MODE_ON);
}

TEST(ModelCatalog, ACanaryTakesTurns) {
  TwoModels two;
  two.models.load_candidate("main", "greedy");
  two.models.set_mode(mode(pb::MODE_CANARY, 0.5, 100));
  pb::DecideRequest request = of_cluster("lab");
  std::set<bool> seen;
  for (int turn = 0; turn < 20; ++turn) {
    request.set_time_s(20'000 + 100 * turn);
    const bool first = ask_engine(two.engine, request).actions_size() == 0;
    seen.insert(first);
    request.set_time_s(request.time_s() + 99);
    EXPECT_EQ(ask_engine(two.engine, request).actions_size() == 0, first) << "within one turn";
  }
  EXPECT_EQ(seen.size(), 2u) << "both versions had turns";
}

TEST(ModelCatalog, WithoutACurrentVersionTheRestIsTheControlGroup) {
  ModelCatalog models(std::vector<ModelCatalog::ModelOptions>{{"", ""}});
  Engine engine(EngineOptions{}, models, [](const ServedDecision&) {});
  models.load_candidate("", "greedy");
  models.set_mode(mode(pb::MODE_CANARY, 0.5));
  std::set<pb::Reason> reasons;
  for (int i = 0; i < 30; ++i) {
    reasons.insert(ask_engine(engine, of_cluster("c" + std::to_string(i))).reason());
  }
  EXPECT_EQ(reasons, (std::set<pb::Reason>{pb::NONE, pb::CONTROL}));
}

TEST(ModelCatalog, AShadowIsComparedAndNeverSent) {
  TwoModels two;
  const auto counts = [&] {
    const pb::ModelStatus now = two.models.list()[0];
    return std::vector<uint64_t>{now.shadow_same(), now.shadow_different(), now.shadow_failed()};
  };
  const auto ask = [&](const std::string& candidate) {
    two.models.load_candidate("main", candidate);
    two.models.set_mode(mode(pb::MODE_SHADOW));
    const pb::DecideResponse answer = ask_engine(two.engine, full_cluster());
    EXPECT_EQ(answer.source(), pb::POLICY);
    EXPECT_EQ(answer.actions_size(), 2);
    const auto until = Engine::Clock::now() + std::chrono::seconds(20);
    while (counts() == std::vector<uint64_t>{0, 0, 0} && Engine::Clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return counts();
  };
  EXPECT_EQ(ask("las"), (std::vector<uint64_t>{1, 0, 0}));
  EXPECT_EQ(ask("greedy"), (std::vector<uint64_t>{0, 1, 0}));
  EXPECT_EQ(ask("test-throws"), (std::vector<uint64_t>{0, 0, 1}));
}

class KeptModels : public ::testing::Test {
 protected:
  std::string file() const { return (temp_.path() / "models.json").string(); }
  ModelCatalog open(const std::string& main = "las") const {
    return ModelCatalog({{main, "main"}, {"fifo", "batch"}}, file());
  }
  TempFolder temp_;
};

TEST_F(KeptModels, OutliveARestart) {
  {
    ModelCatalog models = open();
    EXPECT_EQ(models.restore_errors(), std::vector<std::string>());
    models.load_candidate("main", "greedy");
    models.set_mode(mode(pb::MODE_CANARY, 0.25, 100));
    pb::SetModeRequest off = mode(pb::MODE_OFF);
    off.set_model("batch");
    models.set_mode(off);
  }
  {
    ModelCatalog models = open();
    EXPECT_EQ(models.restore_errors(), std::vector<std::string>());
    const pb::ModelStatus main = models.list()[0];
    EXPECT_EQ(main.mode(), pb::MODE_CANARY);
    EXPECT_EQ(main.share(), 0.25);
    EXPECT_EQ(main.turn_s(), 100);
    EXPECT_EQ(main.candidate().policy(), "greedy");
    EXPECT_EQ(models.list()[1].mode(), pb::MODE_OFF);
    models.promote("main");
  }
  ModelCatalog models = open();
  Engine engine(EngineOptions{}, models, [](const ServedDecision&) {});
  EXPECT_EQ(ask_engine(engine, full_cluster()).actions_size(), 0) << "greedy decides";
  EXPECT_EQ(models.list()[0].mode(), pb::MODE_ON);
  models.roll_back("main");
  EXPECT_EQ(ask_engine(engine, full_cluster()).actions_size(), 2) << "las decides again";
  EXPECT_EQ(open().list()[0].current().policy(), "las");
}

TEST_F(KeptModels, SaysWhatItCannotRestore) {
  const auto folder = temp_.path() / "new";
  const std::string candidate = "checkpoint:" + folder.string();
  write_checkpoint(folder, 1);
  {
    ModelCatalog models = open();
    models.load_candidate("main", candidate);
    models.set_mode(mode(pb::MODE_SHADOW));
    models.load_candidate("batch", "greedy");
  }
  std::filesystem::resize_file(folder / "model.safetensors", 9);
  {
    const ModelCatalog models = open();
    ASSERT_EQ(models.restore_errors().size(), 1u);
    const std::string& why = models.restore_errors()[0];
    EXPECT_NE(why.find("model 'main': its candidate '" + candidate + "': MODEL_CORRUPT"),
              std::string::npos)
        << why;
    EXPECT_EQ(models.list()[0].mode(), pb::MODE_ON);
    EXPECT_EQ(models.list()[1].candidate().policy(), "greedy");
  }
  EXPECT_EQ(
      open("srsf-history").restore_errors(),
      std::vector<std::string>{"model 'main': the options now name 'srsf-history', not 'las'"});
  {
    ModelCatalog models = open();
    models.set_mode(mode(pb::MODE_OFF));
  }
  EXPECT_EQ(open("srsf-history").list()[0].mode(), pb::MODE_OFF) << "what is off stays off";
  const ModelCatalog one({{"las", "other"}}, file());
  EXPECT_EQ(one.restore_errors(), (std::vector<std::string>{"model 'main' is no longer served",
                                                            "model 'batch' is no longer served"}));
  std::ofstream(file()) << "{\"models\": [{\"name\": 7}]}";
  ASSERT_EQ(open().restore_errors().size(), 1u);
  EXPECT_NE(open().restore_errors()[0].find(file() + ": expected models as a server has kept them"),
            std::string::npos);
}

TEST_F(KeptModels, AChangeThatCannotBeKeptIsAnError) {
  ModelCatalog models({{"las", "main"}}, (temp_.path() / "no-such-folder" / "m.json").string());
  EXPECT_THROW(models.set_mode(mode(pb::MODE_OFF)), RunError);
  EXPECT_EQ(models.list()[0].mode(), pb::MODE_OFF);
}

TEST(RequiredFields, AModelThatLacksAFieldDoesNotDecide) {
  EngineFixture fixture("sjf-estimate");
  pb::DecideRequest request = full_cluster();
  const pb::DecideResponse without = ask_engine(fixture.engine, request);
  EXPECT_EQ(without.source(), pb::HEURISTIC);
  EXPECT_EQ(without.reason(), pb::FEATURE_MISSING);
  EXPECT_EQ(without.detail(), "the policy needs job.limit_s, which no job has");
  // One job without a limit is odd, but no reason to give up the policy.
  request.mutable_jobs(0)->set_limit_s(9000);
  EXPECT_EQ(ask_engine(fixture.engine, request).reason(), pb::NONE);
  pb::RegisterRequest manager;
  manager.set_cluster("lab");
  const pb::RegisterResponse lacks = fixture.engine.add_registration(manager);
  ASSERT_EQ(lacks.missing_size(), 1);
  EXPECT_EQ(lacks.missing(0), "job.limit_s");
  manager.add_fields("job.limit_s");
  EXPECT_EQ(fixture.engine.add_registration(manager).missing_size(), 0);
}

// The agents that choose sizes and places by the speeds of models.
TEST(RequiredFields, AgentsNameWhatTheyNeed) {
  for (const char* agent : {"dl2", "harmony", "meta"}) {
    EXPECT_EQ(agent_info(agent).snapshot_fields, std::vector<std::string>{"job.model"}) << agent;
  }
  for (const std::string& agent : AgentRegistry::names()) {
    for (const std::string& field : agent_info(agent).snapshot_fields) {
      EXPECT_TRUE(std::ranges::count(requirable_fields(), field)) << agent << ": " << field;
    }
  }
}

}  // namespace
}  // namespace yard::testing
