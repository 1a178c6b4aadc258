// Pictures of decisions.
#include "experiments/report/decision.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace yard::report::testing {
namespace {

TEST(DecisionSvg, ShowsTheMostProbableFirstAndEscapes) {
  Decision d;
  d.title = "a < b";
  d.row_features = {"size"};
  d.cluster_features = {"free"};
  d.legal_actions = {
      {"row 1", {0.5F}, 0.2, true}, {"row 2", {-2}, 0.7, false}, {"nothing", {}, 0.1, false}};
  d.cluster = {1};
  const std::string svg = decision_svg(d, 2);
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
  EXPECT_LT(svg.find("row 2"), svg.find("row 1"));
  EXPECT_EQ(svg.find("nothing"), std::string::npos);
  EXPECT_NE(svg.find("70.0 %"), std::string::npos);
  EXPECT_NE(svg.find("#1f77b4"), std::string::npos);  // the lowest value
  EXPECT_NE(svg.find("#ff7f0e"), std::string::npos);  // the highest value
  EXPECT_NE(svg.find("font-weight=\"bold\">row 1"), std::string::npos);
}

}  // namespace
}  // namespace yard::report::testing
