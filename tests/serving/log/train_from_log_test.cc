// Checks `train --from-log` on the log of a server: the clone recovers the log's policy, and its
// JCT is estimated from the log alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "env/base/files/file.h"
#include "policies/learned/open_policy.h"
#include "tests/serving/child.h"
#include "tests/serving/log/logs.h"
#include "tests/serving/log/simulated_log.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* kLogCluster = "2x8";

class TrainFromLog : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(fs::path(program()).parent_path() / "yardmaster-train")) {
      GTEST_SKIP() << "built without LibTorch";
    }
  }

  // Returns the exit code. Standard error is in `error_output()`.
  int train(const std::string& arguments) const {
    const std::string program_path = fs::path(program()).parent_path() / "yardmaster";
    const std::string command = program_path + " train " + arguments + " > " +
                                (temp_.path() / "out").string() + " 2> " +
                                (temp_.path() / "err").string();
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string error_output() const { return read_file(temp_.path() / "err"); }
  std::string log() const { return temp_.path() / "log"; }
  std::string run() const { return temp_.path() / "run"; }

  TempFolder temp_;
};

TEST_F(TrainFromLog, RecoversAnOrderAndPredictsTheClonesScore) {
  const std::vector<Job> jobs = habit_jobs(kLogCluster, 400, 5);
  const double until_s = 1e-6 * static_cast<double>(jobs[320].submit_us);
  log_simulation(log(), "srtf-history", kLogCluster, jobs, until_s);
  ASSERT_EQ(train("--from-log " + log() + " --out " + run() +
                  " --set updates=6 --set validate_every=2 --set threads=1"),
            0)
      << error_output();
  const Json found = Json::parse(read_file(run() + "/evaluations/off_policy.json"));
  EXPECT_GE(found.at("agreement").at("recovered"), 0.95);
  EXPECT_GT(found.at("agreement").at("steps"), 50);
  EXPECT_GT(found.at("jobs").at("censored"), 0);
  EXPECT_THAT(error_output(), HasSubstr("this policy, all jobs, simulated"));
  EXPECT_THAT(read_file(run() + "/metrics.csv"), HasSubstr("validation/agreement"));
  // Like every training it ends with a comparison with the untrained network.
  EXPECT_THAT(error_output(), HasSubstr("held-out decisions, the untrained network"));
  EXPECT_THAT(error_output(),
              HasSubstr("on the decisions that selected the checkpoint: training "));

  // The truth: the logged jobs, simulated with their true run times.
  std::vector<Job> known;
  for (const Job& job : jobs) {
    if (1e-6 * static_cast<double>(job.submit_us) <= until_s) known.push_back(job);
  }
  const Scene scene(kLogCluster, known);
  const OpenedPolicy clone = open_policy("checkpoint:" + run() + "/checkpoints/best", {});
  SceneRunner runner(scene, *clone.policy);
  runner.play();
  const double truth = 1e-6 * static_cast<double>(total_jct_us(scene, runner.jobs())) /
                       static_cast<double>(known.size());
  const Json& interval = found.at("value").at("interval");
  EXPECT_LE(interval.at(0).get<double>(), truth);
  EXPECT_GE(interval.at(1).get<double>(), truth);
  EXPECT_LT(std::abs(found.at("fit_error").get<double>()), 0.2);

  // Training can continue in the simulation fitted to the log.
  EXPECT_EQ(train("--from-log " + log() + " --out " + run() + "2 --set start=" + run() +
                  "/checkpoints/best --set learner=group --set updates=1 --set num_envs=4 --set "
                  "group=2 --set episode_jobs=40 --set validate_jobs=40 --set threads=1"),
            0)
      << error_output();
  EXPECT_TRUE(fs::exists(run() + "2/evaluations/off_policy.json"));
}

TEST_F(TrainFromLog, ResumesIdentically) {
  log_simulation(log(), "las", kLogCluster, habit_jobs(kLogCluster, 120, 6));
  const std::string settings =
      " --set updates=4 --set validate_every=1 --set threads=1 --set hidden=8";
  ASSERT_EQ(train("--from-log " + log() + " --out " + run() + settings), 0) << error_output();
  ASSERT_EQ(train("--from-log " + log() + " --out " + run() + "2 --until 2" + settings), 0);
  fs::remove_all(log());  // the run's folder has all that is needed of it
  ASSERT_EQ(train("--resume " + run() + "2"), 0) << error_output();
  EXPECT_EQ(read_file(run() + "/checkpoints/last/model.safetensors"),
            read_file(run() + "2/checkpoints/last/model.safetensors"));
  EXPECT_TRUE(fs::exists(run() + "2/evaluations/off_policy.json"));
}

TEST_F(TrainFromLog, RejectsOtherInputInOneLine) {
  const auto refused = [&](const std::string& arguments, const std::string& says) {
    EXPECT_EQ(train(arguments + " --out " + run()), 2) << arguments;
    const std::string err = error_output();
    EXPECT_THAT(err, HasSubstr(says)) << arguments;
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
    EXPECT_FALSE(fs::exists(run()));
  };
  const std::string empty = temp_.path() / "empty", damaged = temp_.path() / "damaged";
  fs::create_directories(empty);
  fs::create_directories(damaged);
  write_file_atomic(damaged + "/decisions-00000001.tfrecord",
                    "this is no log, whatever its name is");
  DecisionLogOptions illegal;
  illegal.folder = temp_.path() / "unsaid";
  {
    DecisionLog log(illegal);
    fill(log, 3);
  }
  refused("--from-log " + (temp_.path() / "nowhere").string(), "nowhere");
  refused("--from-log " + empty, "a decision log");
  refused("--from-log " + damaged, "damaged/decisions-00000001.tfrecord");
  refused("--from-log " + illegal.folder, "can represent, got none of 3");
  refused("--from-log " + log() + " --set agent=pilot", "dispatcher");
}

}  // namespace
}  // namespace yard::testing
