// `yardmaster drift` finds that another policy would have served the log's jobs better, and lets it
// serve if told to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <signal.h>

#include <fstream>

#include "serving/log/drift_reports.h"
#include "tests/serving/child.h"
#include "tests/serving/log/simulated_log.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class Drift : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    logged_ = new TempFolder;
    log_simulation(logged_->path() / "log", "fifo", "2x8", habit_jobs("2x8", 1200, 5));
  }
  static void TearDownTestSuite() { delete logged_; }

  void SetUp() override {
    std::filesystem::copy(logged_->path() / "log", temp_.path() / "log");
    server_ = std::make_unique<Child>(
        temp_.path(),
        std::vector<std::string>{"serve", "--policy", "fifo", "--listen", "127.0.0.1:0", "--admin",
                                 "127.0.0.1:0", "--http", "127.0.0.1:0", "--json", "--grace", "0",
                                 "--decision-log", log()});
    addresses_ = server_->addresses();
  }

  std::string log() const { return temp_.path() / "log"; }
  std::string admin() const { return addresses_.at("admin"); }

  std::string output(std::vector<std::string> arguments) const {
    for (const char* more : {"--server", admin().c_str()}) arguments.emplace_back(more);
    Child child(temp_.path(), arguments);
    EXPECT_EQ(child.wait(), 0) << child.err();
    return child.out();
  }
  Json drift(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"drift",  "--log", log(),     "--json",
                                          "--days", "3650",  "--draws", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Json::parse(output(arguments));
  }
  // The versions of the server's model.
  Json model() const {
    return Json::parse(output({"models", "--json"})).at("servers").at(0).at("models").at(0);
  }

  static TempFolder* logged_;
  TempFolder temp_;
  std::unique_ptr<Child> server_;
  Json addresses_;
};

TempFolder* Drift::logged_ = nullptr;

TEST_F(Drift, IsReportedAndChangesNothingUnlessTold) {
  EXPECT_FALSE(latest_drift_report(log()).has_value());
  const Json report = drift();
  EXPECT_EQ(report.at("served"), "fifo");
  EXPECT_EQ(report.at("action"), "REPORTED") << report;
  EXPECT_GT(report.at("jobs"), 240);
  const std::string winner = report.at("winner");
  EXPECT_NE(winner, "fifo");
  for (const Json& rival : report.at("rivals")) {
    if (rival.at("policy") != winner) continue;
    EXPECT_TRUE(rival.value("judged", false)) << rival;
    EXPECT_LT(rival.at("hi"), 1);
    EXPECT_LT(rival.at("lo"), rival.at("ratio"));
  }
  EXPECT_EQ(model().at("current").at("policy"), "fifo");
  const auto kept = latest_drift_report(log());
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(kept->winner(), winner);
  EXPECT_EQ(kept->model(), "fifo");
  EXPECT_THAT(output({"status"}), HasSubstr(winner + " has 0."));
  httplib::Client http("http://" + addresses_.at("http").get<std::string>());
  EXPECT_THAT(http.Get("/metrics")->body, HasSubstr("\nyardmaster_drift_ratio 0."));
}

TEST_F(Drift, TheWinnerServesAndTheVersionBeforeReturns) {
  const Json first = drift({"--switch"});
  ASSERT_EQ(first.at("action"), "PROMOTED") << first;
  EXPECT_EQ(model().at("current").at("policy"), first.at("winner"));
  EXPECT_EQ(model().at("previous").at("policy"), "fifo");
  const Json second = drift({"--switch", "--against", "fifo"});
  EXPECT_EQ(second.at("served"), first.at("winner"));
  EXPECT_NE(second.at("winner"), "fifo");
  // An operator brings fifo back, by mistake.
  output({"models", "roll-back"});
  ASSERT_EQ(model().at("current").at("policy"), "fifo");
  const Json third = drift({"--switch"});
  EXPECT_EQ(third.at("action"), "ROLLED_BACK");
  EXPECT_EQ(model().at("current").at("policy"), third.at("winner"));
  // What an operator switched off stays off.
  output({"models", "roll-back"});
  output({"models", "mode", "--mode", "off"});
  EXPECT_EQ(drift({"--switch"}).at("action"), "REPORTED");
  EXPECT_EQ(model().at("mode"), "off");
  std::ifstream kept(drift_reports_path(log()));
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(kept), {}, '\n'), 4);
}

TEST_F(Drift, RefusesBadInputInOneLine) {
  const auto refused = [&](const std::vector<std::string>& more, const std::string& says) {
    std::vector<std::string> arguments = {"drift", "--server", admin()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Child child(temp_.path(), arguments);
    EXPECT_EQ(child.wait(), 2) << child.err();
    const std::string err = child.err();
    EXPECT_THAT(err, HasSubstr(says));
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
  };
  refused({"--log", temp_.path() / "nowhere"}, "nowhere");
  refused({"--log", log(), "--days", "3650", "--draws", "1", "--against", "srtf"},
          "policies for live clusters, got 'srtf'");
  refused({"--log", log(), "--days", "0.01"}, "in the last 0.01 days and have ended, got none");
  refused({"--log", log(), "--model", "nobody"}, "a model of " + admin() + ", got 'nobody'");
}

}  // namespace
}  // namespace yard::testing
