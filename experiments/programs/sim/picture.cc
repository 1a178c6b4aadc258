// picture: draws a recorded decision of a checkpoint: the features of each action and the
// probability which the network gives it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "env/base/text/print.h"
#include "experiments/cli/command.h"
#include "experiments/programs/sim/option_checks.h"
#include "experiments/report/decision.h"
#include "policies/learned/golden.h"
#include "policies/learned/learned_policy.h"

namespace yard::sim {
namespace {

std::vector<GoldenState> read_golden_states(const Checkpoint& checkpoint,
                                            const std::string& folder) {
  require_input(checkpoint.network != "none", folder, "a checkpoint with a network",
                "a rule without one (see yardmaster explain)");
  const ObservationShape shape = make_agent(checkpoint.agent, {})->shape();
  std::vector<GoldenState> out = unpack_golden(checkpoint.golden, shape, "golden.safetensors");
  require_input(!out.empty(), folder, "at least one recorded state", "none");
  return out;
}

// Index of the state with the most legal actions, the first of equals.
size_t most_actions(std::vector<GoldenState>& states) {
  const auto legal = [](const GoldenState& g) { return std::ranges::count(g.mask, uint8_t{1}); };
  return static_cast<size_t>(std::ranges::max_element(states, {}, legal) - states.begin());
}

report::Decision decision_of(const Checkpoint& checkpoint, GoldenState& g) {
  const auto agent = make_agent(checkpoint.agent, {});
  const ObservationShape shape = agent->shape();
  std::vector<float> logits(static_cast<size_t>(shape.actions()));
  network_of(checkpoint, "model.safetensors")->forward(g.observation(), logits);
  float most = kMaskedLogit;
  for (size_t a = 0; a < logits.size(); ++a) {
    if (g.mask[a] != 0) most = std::max(most, logits[a]);
  }
  report::Decision out;
  for (const Feature& f : agent->action_features()) out.row_features.push_back(f.name);
  for (const Feature& f : agent->state_features()) out.cluster_features.push_back(f.name);
  out.cluster = g.cluster;
  const auto width = static_cast<size_t>(shape.row_features);
  // Without a unique maximum the prior suggests no action.
  const float highest = *std::ranges::max_element(g.prior);
  const bool has_suggestion = std::ranges::count(g.prior, highest) == 1;
  double sum = 0;
  for (size_t a = 0; a < logits.size(); ++a) {
    if (g.mask[a] == 0) continue;
    report::Decision::ActionRow c;
    c.name = a + 1 == logits.size() ? "nothing" : "row " + std::to_string(a + 1);
    c.is_expert_action = has_suggestion && g.prior[a] == highest;
    c.probability = std::exp(static_cast<double>(logits[a] - most));
    sum += c.probability;
    if (a + 1 < logits.size()) {
      const auto from = g.jobs.begin() + static_cast<std::ptrdiff_t>(a * width);
      c.features.assign(from, from + static_cast<std::ptrdiff_t>(width));
    }
    out.legal_actions.push_back(std::move(c));
  }
  for (report::Decision::ActionRow& c : out.legal_actions) c.probability /= sum;
  return out;
}

nlohmann::ordered_json json_of(const report::Decision& d) {
  nlohmann::ordered_json legal_actions = nlohmann::ordered_json::array();
  for (const report::Decision::ActionRow& c : d.legal_actions) {
    nlohmann::ordered_json one = {
        {"action", c.name}, {"probability", c.probability}, {"expert_action", c.is_expert_action}};
    for (size_t f = 0; f < c.features.size(); ++f)
      one["features"][d.row_features[f]] = c.features[f];
    legal_actions.push_back(one);
  }
  nlohmann::ordered_json cluster;
  for (size_t f = 0; f < d.cluster.size(); ++f) cluster[d.cluster_features[f]] = d.cluster[f];
  return {{"decision", d.title}, {"actions", legal_actions}, {"state", cluster}};
}

void print_actions(const report::Decision& d, size_t most) {
  auto legal_actions = d.legal_actions;
  std::ranges::stable_sort(legal_actions, std::greater(),
                           &report::Decision::ActionRow::probability);
  legal_actions.resize(std::min(legal_actions.size(), most));
  for (const report::Decision::ActionRow& c : legal_actions) {
    const auto bar = static_cast<size_t>(std::lround(40 * c.probability));
    print_to(stdout, "{:<10}{:>6.1f} % {} {}\n", c.name, 100 * c.probability, std::string(bar, '#'),
             c.is_expert_action ? "(expert action)" : "");
    std::string features;
    for (size_t f = 0; f < c.features.size(); ++f) {
      if (c.features[f] != 0)
        features += fmt::format(" {}={:.3g}", d.row_features[f], c.features[f]);
    }
    if (!features.empty()) std::puts(("         " + features).c_str());
  }
}

int run_picture(CLI::App& app, int argc, char** argv) {
  std::string folder, out;
  size_t state = 0;
  int most = 24;
  bool json = false;
  app.option_defaults()->group("Decision");
  app.add_option("--checkpoint", folder, "checkpoint folder")->required();
  app.add_option(
         "--state", state,
         "number of the recorded decision, from 1 (default: the decision with most actions)")
      ->check(whole_number<size_t>(1));
  app.option_defaults()->group("Output");
  app.add_option("--max-actions", most, "maximum number of actions shown, the most probable first")
      ->check(whole_number(1));
  app.add_option("--out", out, "write the picture as an SVG file");
  app.add_flag("--json", json, "print one JSON document");
  set_examples(app, {"yardmaster picture --checkpoint checkpoints/meta-1 --out decision.svg"});
  if (!parse_arguments(app, argc, argv)) return 0;
  const Checkpoint checkpoint = load_checkpoint(folder);
  std::vector<GoldenState> states = read_golden_states(checkpoint, folder);
  if (app.count("--state") > 0) check_range("--state", state, 1, states.size());
  const size_t index = state > 0 ? state - 1 : most_actions(states);
  report::Decision decision = decision_of(checkpoint, states[index]);
  decision.title = fmt::format("{}, recorded decision {}: {} actions", checkpoint.agent, index + 1,
                               decision.legal_actions.size());
  if (json) {
    std::puts(json_of(decision).dump(2).c_str());
  } else {
    std::puts(decision.title.c_str());
    print_actions(decision, static_cast<size_t>(most));
  }
  if (!out.empty()) {
    decision.title += "; bold: expert action";
    write_file_atomic(out, report::decision_svg(decision, static_cast<size_t>(most)));
  }
  return 0;
}

const Command kPicture{"picture", "Draw a recorded decision of a trained policy.", run_picture};

}  // namespace
}  // namespace yard::sim
