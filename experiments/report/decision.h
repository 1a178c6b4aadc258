// A recorded decision of a trained network as a picture: what it was shown, choice by choice, and
// how likely each is. Static SVG that follows nobody's style sheet, so that a document may hold it.
#pragma once

#include <string>
#include <vector>

namespace yard::report {

struct Decision {
  std::string title;
  std::vector<std::string> row_features, cluster_features;  // names
  struct Choice {
    std::string name;             // "row 3", "nothing"
    std::vector<float> features;  // of a row; empty: of doing nothing
    double probability = 0;
    bool suggested = false;  // by what the task does without a network
  };
  std::vector<Choice> choices;  // that are legal
  std::vector<float> cluster;
};

// The names that a feature schema ("agent 2, 4 jobs: a b(2) c; cluster: d e") gives rows and the
// whole: a, b1, b2, c and d, e. What it does not name is called by its number.
struct FeatureNames {
  std::vector<std::string> rows, cluster;
};
FeatureNames feature_names(const std::string& schema, int row_features, int cluster_features);

// The `most` likeliest choices, one a line: features from blue (-1) over white to orange (1), and a
// bar for the probability.
std::string decision_svg(const Decision& decision, size_t most);

}  // namespace yard::report
