// A recorded decision of a trained network as a picture: the features and the probability of each
// action. The SVG is static and needs no style sheet, so that documents can embed it.
#pragma once

#include <string>
#include <vector>

namespace yard::report {

struct Decision {
  std::string title;
  std::vector<std::string> row_features, cluster_features;  // names
  struct ActionRow {
    std::string name;             // "row 3", "nothing"
    std::vector<float> features;  // features of the action's row; empty: the action is the no-op
    double probability = 0;
    bool is_expert_action = false;
  };
  std::vector<ActionRow> legal_actions;
  std::vector<float> cluster;
};

// Draws the `most` most probable actions, one per line: features from blue (-1) over white to
// orange (1), and a bar for the probability.
std::string decision_svg(const Decision& decision, size_t most);

}  // namespace yard::report
