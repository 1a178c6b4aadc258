// Checks what is learned from a decision log: its policy's choices as steps of a task, and a
// simulation fitted to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "env/base/files/file.h"
#include "env/trace/formats/load_trace.h"
#include "env/trace/formats/native.h"
#include "serving/log/log_fit.h"
#include "serving/log/log_training_data.h"
#include "tests/serving/child.h"
#include "tests/serving/log/logs.h"
#include "tests/serving/log/simulated_log.h"
#include "tests/serving/requests.h"
#include "tests/support/dispatcher.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kCluster = "2x8";

// An agent without the limits of the index, so that it allows as many actions as possible.
std::shared_ptr<const Agent> open_agent() {
  return dispatcher::agent({"quantum_s=0", "gpu_exponent=0"});
}

class LogLearn : public ::testing::Test {
 protected:
  std::string folder() const { return temp_.path() / "log"; }
  TempFolder temp_;
};

TEST_F(LogLearn, EveryRecordedActionIsMatchedOrCounted) {
  const int asked =
      log_simulation(folder(), "srtf-history", kCluster, habit_jobs(kCluster, 120, 3));
  LogReader log(folder());
  const LogTrainingData found = training_data_of(log, *open_agent());
  EXPECT_EQ(found.decisions, static_cast<uint64_t>(asked));
  EXPECT_EQ(found.skipped + found.impossible + found.not_shown + found.forced, 0u);
  EXPECT_EQ(found.reproduced + found.not_legal, found.actions);
  EXPECT_GT(static_cast<double>(found.reproduced), 0.9 * static_cast<double>(found.actions));
  EXPECT_EQ(found.other_placement, 0u) << "first-fit, as the task places";
  const RecordedChoices& steps = found.steps;
  EXPECT_EQ(static_cast<uint64_t>(steps.size()), found.reproduced + found.nothing);
  EXPECT_EQ(steps.missed_decision.size(), found.not_legal);
  EXPECT_TRUE(std::ranges::is_sorted(steps.decision));
  EXPECT_TRUE(std::ranges::all_of(steps.probability, [](float p) { return p == 1; }));
  // Each decision has as many starts and stops as were recorded.
  std::map<int32_t, int> done, recorded;
  for (size_t i = 0; i < steps.action.size(); ++i) {
    done[steps.decision[i]] += steps.action[i] < steps.rows[i];
  }
  for (const int32_t number : steps.missed_decision) ++done[number];
  int32_t number = 0;
  for (const pb::LogRecord& record : read_log(folder())) {
    if (!record.has_decision()) continue;
    EXPECT_EQ(done[number], record.decision().response().actions_size()) << number;
    ++number;
  }
}

TEST_F(LogLearn, StepsRoundTripThroughAFile) {
  log_simulation(folder(), "las", kCluster, habit_jobs(kCluster, 40, 4));
  LogReader log(folder());
  const RecordedChoices steps = training_data_of(log, *open_agent()).steps;
  const Tensors tensors = from_safetensors(to_safetensors(pack_choices(steps)), "file");
  const RecordedChoices again = unpack_choices(tensors, dispatcher::kShape, "file");
  EXPECT_EQ(pack_choices(again)["prior"].data, pack_choices(steps)["prior"].data);
  EXPECT_EQ(again.jobs, steps.jobs);
  EXPECT_EQ(again.action, steps.action);
  EXPECT_EQ(again.decision, steps.decision);
  Tensors wrong = tensors;
  wrong["action"].data[0] = 128;
  EXPECT_THROW(unpack_choices(wrong, dispatcher::kShape, "file"), InputError);
  wrong = tensors;
  wrong["jobs"].data.resize(8);
  wrong["jobs"].shape = {1, 8};
  EXPECT_THROW(unpack_choices(wrong, dispatcher::kShape, "file"), InputError);
  wrong.erase("jobs");
  EXPECT_THROW(unpack_choices(wrong, dispatcher::kShape, "file"), InputError);
  // Two parts together hold all steps.
  const RecordedChoices first = steps.step_range(0, 30), rest = steps.step_range(30, steps.size());
  EXPECT_EQ(first.size() + rest.size(), steps.size());
  EXPECT_EQ(first.missed_decision.size() + rest.missed_decision.size(),
            steps.missed_decision.size());
  std::vector<float> jobs = first.jobs;
  jobs.insert(jobs.end(), rest.jobs.begin(), rest.jobs.end());
  EXPECT_EQ(jobs, steps.jobs);
}

TEST_F(LogLearn, CompleteLogReproducesTheJobs) {
  const std::vector<Job> jobs = habit_jobs(kCluster, 120, 5);
  log_simulation(folder(), "las", kCluster, jobs);
  LogReader log(folder());
  const FittedScenario fit = fit_scenario(log);
  // A job that ends at the last event has no logged outcome.
  EXPECT_GE(fit.finished, jobs.size() - 1);
  EXPECT_EQ(fit.jobs.size(), jobs.size());
  EXPECT_EQ(fit.never_ran, 0u);
  EXPECT_EQ(fit.deciders.size(), 1u);
  EXPECT_TRUE(fit.may_preempt);
  const Trace trace = parse_trace(to_native_csv(fit.trace(1, 0)), "jobs.csv", {});
  std::map<std::string, const Job*> by_id;
  for (const Job& job : trace.jobs) by_id[job.id] = &job;
  int same = 0;
  for (const Job& job : jobs) {
    ASSERT_TRUE(by_id.contains(job.id));
    const Job& fitted = *by_id[job.id];
    EXPECT_EQ(fitted.gpus, job.gpus);
    EXPECT_EQ(fitted.user, job.user);
    EXPECT_EQ(fitted.submit_us, job.submit_us - jobs.front().submit_us);
    same += std::abs(fitted.run_us - job.run_us) <= 1;
  }
  EXPECT_GE(same, static_cast<int>(jobs.size()) - 1);
  write_file_atomic(temp_.path() / "cluster.yaml", fit.cluster_yaml);
  const ClusterSpec cluster = load_cluster(temp_.path() / "cluster.yaml");
  EXPECT_EQ(cluster.nodes.size(), 2u);
  EXPECT_EQ(cluster.total_gpus(), 16);
}

// With GPU types of different speeds, the fit recovers a job's work wherever the job ran.
TEST_F(LogLearn, WorkFollowsFromTimeAndSpeed) {
  const std::string yaml = temp_.path() / "two.yaml";
  write_file_atomic(yaml,
                    "gpu_types: {slow: {speed: 0.5, speed_of_model: {\"a: b\": 0.8}}}\n"
                    "nodes: [{gpus: 4, type: slow}, {gpus: 4, type: fast}]\n");
  std::vector<Job> jobs = habit_jobs("1x8", 80, 6);
  for (size_t j = 0; j < jobs.size(); j += 2) jobs[j].model = "a: b";
  log_simulation(folder(), "las", yaml, jobs);
  LogReader log(folder());
  const FittedScenario fit = fit_scenario(log);
  write_file_atomic(temp_.path() / "cluster.yaml", fit.cluster_yaml);
  EXPECT_EQ(load_cluster(temp_.path() / "cluster.yaml").types[0].speed_on("a: b"), 0.8);
  const Trace trace = fit.trace(1, 0);
  std::map<std::string, int64_t> run_us;
  for (const Job& job : trace.jobs) run_us[job.id] = job.run_us;
  int near = 0;
  for (const Job& job : jobs) {
    const double ratio = static_cast<double>(run_us[job.id]) / static_cast<double>(job.run_us);
    near += std::abs(ratio - 1) < 1e-3;
  }
  EXPECT_GE(near, 76) << "of 80";
}

TEST_F(LogLearn, UnfinishedJobsAreSampledFromLongerOnes) {
  const std::vector<Job> jobs = habit_jobs(kCluster, 150, 7);
  const double until_s = 1e-6 * static_cast<double>(jobs[110].submit_us);
  log_simulation(folder(), "las", kCluster, jobs, until_s);
  LogReader log(folder());
  const FittedScenario fit = fit_scenario(log);
  EXPECT_GT(fit.censored, 0u);
  EXPECT_EQ(fit.finished + fit.gone + fit.censored, fit.jobs.size());
  const Trace first = fit.trace(1, 0), again = fit.trace(1, 0), other = fit.trace(1, 1);
  std::multiset<int64_t> ended;
  for (size_t j = 0; j < fit.jobs.size(); ++j) {
    if (fit.jobs[j].end == LogEnd::kFinished) ended.insert(first.jobs[j].run_us);
  }
  bool differs = false;
  uint64_t unmatched = 0;
  for (size_t j = 0; j < fit.jobs.size(); ++j) {
    EXPECT_EQ(first.jobs[j].run_us, again.jobs[j].run_us);
    if (fit.jobs[j].end == LogEnd::kFinished) {
      EXPECT_EQ(first.jobs[j].run_us, other.jobs[j].run_us);
      continue;
    }
    EXPECT_GE(first.jobs[j].run_us, std::max<int64_t>(1, fit.jobs[j].work_us));
    differs |= first.jobs[j].run_us != other.jobs[j].run_us;
    unmatched += !ended.contains(first.jobs[j].run_us);
  }
  EXPECT_TRUE(differs);
  EXPECT_EQ(unmatched, fit.jobs_with_doubled_work());
}

TEST_F(LogLearn, ProgramWritesBothFilesAndRejectsOtherInput) {
  log_simulation(folder(), "las", kCluster, habit_jobs(kCluster, 40, 8));
  const auto output = [&](const std::vector<std::string>& arguments) {
    Child child(temp_.path(), arguments);
    EXPECT_EQ(child.wait(), 0) << child.err();
    return child.out();
  };
  const std::string out = temp_.path() / "choices.safetensors", fit = temp_.path() / "fit";
  const auto summary =
      nlohmann::json::parse(output({"log", "choices", folder(), "--out", out, "--json"}));
  EXPECT_GT(summary.at("reproduced"), 0);
  EXPECT_NO_THROW(unpack_choices(from_safetensors(read_file(out), out), dispatcher::kShape, out));
  EXPECT_THAT(output({"log", "choices", folder(), "--out", out}), HasSubstr("steps"));
  EXPECT_THAT(output({"log", "fit", folder(), "--out", fit, "--draws", "2"}),
              HasSubstr("40 jobs: "));
  EXPECT_EQ(load_trace(fit + "/jobs-2.csv", {}).jobs.size(), 40u);
  EXPECT_EQ(nlohmann::json::parse(read_file(fit + "/log.json")).at("decided_by").size(), 1u);

  const auto refused = [&](std::vector<std::string> arguments, const std::string& says) {
    arguments.insert(arguments.end(), {"--out", temp_.path() / "refused"});
    Child child(temp_.path(), arguments);
    EXPECT_EQ(child.wait(), 2);
    const std::string err = child.err();
    EXPECT_THAT(err, HasSubstr(says));
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
  };
  const std::string empty = temp_.path() / "empty", damaged = temp_.path() / "damaged";
  std::filesystem::create_directories(empty);
  std::filesystem::create_directories(damaged);
  std::ofstream(damaged + "/decisions-00000001.tfrecord") << "not a log, despite its name";
  // A start on a full cluster, which would need a preemption first.
  DecisionLogOptions options;
  options.folder = temp_.path() / "unsaid";
  {
    DecisionLog log(options);
    fill(log, 3);
  }
  for (const std::string command : {"choices", "fit"}) {
    refused({"log", command, temp_.path() / "nowhere"}, "nowhere");
    refused({"log", command, empty}, "a decision log");
    refused({"log", command, damaged}, "damaged/decisions-00000001.tfrecord");
  }
  refused({"log", "choices", options.folder}, "can represent, got none of 3");
  refused({"log", "choices", folder(), "--agent", "pilot"}, "expected dispatcher");
  EXPECT_FALSE(std::filesystem::exists(temp_.path() / "refused"));
}

}  // namespace
}  // namespace yard::testing
