// `models review` ends a canary by the decision log: promotion, roll-back, or more turns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "serving/log/canary_turns.h"
#include "tests/serving/child.h"
#include "tests/serving/log/logs.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr double kTurnS = 100;

// A log of decisions by turns, one each 10 s.
class TurnLog {
 public:
  explicit TurnLog(const std::filesystem::path& folder) : log_(options_of(folder)) {}

  void add_turn(const std::string& digest, int jobs, pb::Source source = pb::POLICY,
                pb::Reason reason = pb::NONE) {
    for (double end_s = time_s_ + kTurnS; time_s_ < end_s; time_s_ += 10) {
      pb::DecideRequest request;
      request.set_time_s(time_s_);
      for (int i = 0; i < jobs; ++i) request.add_jobs()->set_state(pb::WAITING);
      pb::DecideResponse response;
      response.set_model("main");
      response.set_model_digest(digest);
      response.set_source(source);
      response.set_reason(reason);
      log_.add(std::make_shared<const pb::DecideRequest>(std::move(request)), response, {});
      log_.flush(std::chrono::seconds(60));
    }
  }

 private:
  static DecisionLogOptions options_of(const std::filesystem::path& folder) {
    DecisionLogOptions out;
    out.folder = folder;
    return out;
  }

  DecisionLog log_;
  double time_s_ = 1e6;
};

TEST(CanaryTurns, CompareEachTurnWithItsNeighbours) {
  const TempFolder temp;
  {
    TurnLog log(temp.path() / "log");
    log.add_turn("old", 10);
    log.add_turn("new", 6);
    log.add_turn("other", 500);  // a version that is not on trial
    log.add_turn("old", 20, pb::HEURISTIC, pb::DEADLINE);
    log.add_turn("old", 20, pb::HEURISTIC, pb::CONTROL);
    log.add_turn("new", 0);  // an idle cluster compares nothing
    log.add_turn("old", 8);
    log.add_turn("new", 3);  // the last turn has no later neighbour
  }
  LogReader log(temp.path() / "log");
  const CanaryTurns turns = read_canary_turns(log, {.model = "main",
                                                    .candidate_digest = "new",
                                                    .current_digest = "old",
                                                    .from_unix_s = 0,
                                                    .settle_s = 20});
  // 80 s of each turn count.
  EXPECT_THAT(turns.candidate_jobs, ElementsAre(6 * 80));
  EXPECT_THAT(turns.current_jobs, ElementsAre((10 + 20) / 2 * 80));
  EXPECT_EQ(turns.candidate.all, 30u);
  EXPECT_EQ(turns.candidate.fallbacks, 0u);
  EXPECT_EQ(turns.current.all, 40u);
  EXPECT_EQ(turns.current.fallbacks, 10u) << "the other arm is no fallback";
}

class CanaryReview : public ::testing::Test {
 protected:
  void SetUp() override {
    models({"load", "--policy", "checkpoint:checkpoints/pilot-1"});
    digest_ = models({"list"})["servers"][0]["models"][0]["candidate"]["digest"];
    models({"mode", "--mode", "canary", "--share", "0.5", "--turn", "100"});
  }

  Json models(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "models");
    arguments.insert(arguments.end(), {"--server", admin_, "--json"});
    Child child(temp_.path(), arguments);
    EXPECT_EQ(child.wait(), 0) << child.err();
    return Json::parse(child.out());
  }
  std::string log() const { return temp_.path() / "log"; }
  Json review() const { return models({"review", "--log", log(), "--apply"}); }
  Json model() const { return models({"list"})["servers"][0]["models"][0]; }

  // Writes turns of both versions, in which the candidate has `ratio` times as many jobs.
  void write_turns(int turns, double ratio) const {
    TurnLog out(log());
    for (int i = 0; i < turns; ++i) {
      const int jobs = 100 + 7 * (i % 3);
      out.add_turn("", jobs);
      out.add_turn(digest_, static_cast<int>(std::lround(ratio * jobs)) + i % 2);
    }
    out.add_turn("", 100);
  }

  const TempFolder temp_;
  Child server_{temp_.path(),
                {"serve", "--policy", "las", "--name", "main", "--listen", "127.0.0.1:0", "--admin",
                 "127.0.0.1:0", "--json"}};
  const std::string admin_ = server_.addresses().at("admin");
  std::string digest_;
};

TEST_F(CanaryReview, PromotesABetterCandidate) {
  write_turns(12, 0.8);
  const Json found = review();
  EXPECT_EQ(found["verdict"], "promote") << found;
  EXPECT_NEAR(found["ratio"].get<double>(), 0.8, 0.02);
  EXPECT_EQ(found["turns"], 8) << "the first look";
  EXPECT_EQ(model()["current"]["digest"], digest_);
  EXPECT_EQ(model()["mode"], "on");
}

TEST_F(CanaryReview, DropsAWorseCandidate) {
  write_turns(12, 1.3);
  EXPECT_EQ(review()["verdict"], "roll back");
  EXPECT_EQ(model()["current"]["policy"], "las");
  EXPECT_FALSE(model().contains("candidate"));
}

TEST_F(CanaryReview, DropsACandidateWhichFails) {
  {
    TurnLog out(log());
    for (int i = 0; i < 6; ++i) {
      out.add_turn("", 100);
      out.add_turn(digest_, 50, i == 0 ? pb::HEURISTIC : pb::POLICY,
                   i == 0 ? pb::NON_FINITE : pb::NONE);
    }
  }
  const Json found = review();
  EXPECT_EQ(found["verdict"], "roll back");
  EXPECT_THAT(found["reason"], HasSubstr("fallback made 16.7 %"));
}

TEST_F(CanaryReview, ContinuesWhileNothingIsShown) {
  write_turns(5, 0.8);
  EXPECT_EQ(review()["verdict"], "continue") << "of eight turns";
  EXPECT_EQ(model()["mode"], "canary");
  std::filesystem::remove_all(log());
  write_turns(20, 1.0);
  EXPECT_EQ(review()["verdict"], "continue");
  const Json last = models({"review", "--log", log(), "--apply", "--max-turns", "20"});
  EXPECT_EQ(last["verdict"], "roll back");
  EXPECT_THAT(last["reason"], HasSubstr("no gain was shown"));
}

TEST_F(CanaryReview, CountsFromTheBeginningOfTheCanary) {
  write_turns(12, 1.3);
  models({"mode", "--mode", "canary", "--share", "0.5", "--turn", "50"});
  EXPECT_EQ(review()["reason"], "0 turns can be compared, of at least 8");
}

TEST_F(CanaryReview, NeedsACanaryByTurns) {
  write_turns(2, 1);
  models({"mode", "--mode", "canary", "--share", "0.5"});
  Child child(temp_.path(), {"models", "review", "--server", admin_, "--log", log()});
  EXPECT_EQ(child.wait(), 2);
  EXPECT_THAT(child.err(), HasSubstr("a canary with --turn"));
}

}  // namespace
}  // namespace yard::testing
