// evaluate: a trained policy against heuristics, with intervals and with what could be won at all.
#include "experiments/evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "env/base/error.h"
#include "env/base/text.h"
#include "experiments/programs/sim/command.h"
#include "experiments/programs/sim/options.h"
#include "experiments/progress.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostReplicas = 1000;

struct Options : CommonOptions {
  std::string checkpoints, candidate, against, validate_from, validate_to;
  int replicas = 4;
};

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json score_json(const Score& score) {
  return {{"policy", score.name},           {"information", level_name(score.level)},
          {"mean_jct_s", score.mean_jct_s}, {"p99_jct_s", score.p99_jct_s},
          {"max_wait_s", score.max_wait_s}, {"preemptions", score.preemptions},
          {"unfinished", score.unfinished}};
}

Json rivals_json(const CellResult& cell) {
  Json out = Json::array();
  for (const Rival& rival : cell.rivals) {
    Json one = score_json(rival.score);
    one["validation_jct_s"] = cell.validated ? number(rival.validation_jct_s) : Json(nullptr);
    one["candidate_ratio"] = number(rival.candidate_over_it.ratio);
    one["lo"] = number(rival.candidate_over_it.interval.lo);
    one["hi"] = number(rival.candidate_over_it.interval.hi);
    out.push_back(one);
  }
  return out;
}

Json cell_json(const CellResult& cell, int64_t test_openings) {
  const Score& first = cell.candidates.front();
  const bool whole = cell.unfinished() == 0;  // an unfinished job fails the row
  const auto figure = [&](double value) { return whole ? number(value) : Json(nullptr); };
  double p99_s = 0;
  for (const Score& score : cell.candidates) p99_s += score.p99_jct_s / cell.seeds;
  Json bounds = Json::array();
  for (const Score& bound : cell.bounds) bounds.push_back(score_json(bound));
  return {
      {"trace", cell.trace},
      {"sha256", cell.sha256},
      {"from_s", cell.from_s},
      {"to_s", cell.to_s},
      {"cluster", cell.cluster},
      {"congestion", cell.congestion},
      {"arrival_factor", cell.factor},
      {"load", cell.load},
      {"rules", cell.rules},
      {"cost_scale", cell.cost_scale},
      {"policy", cell.candidate_name},
      {"information", level_name(first.level)},
      {"jobs", cell.jobs},
      {"unfinished", cell.unfinished()},
      {"judged", cell.judged},
      {"mean_jct_s", figure(cell.mean_jct_s())},
      {"p99_jct_s", figure(p99_s)},
      {"ratio", figure(cell.versus.ratio)},
      {"lo", figure(cell.versus.interval.lo)},
      {"hi", figure(cell.versus.interval.hi)},
      {"ratio_hindsight", figure(cell.ratio_hindsight())},
      {"captured", figure(cell.captured())},
      {"p99_ratio", figure(cell.over_yardstick(&Score::p99_jct_s))},
      {"largest_class", cell.largest_class},
      {"largest_class_jct_ratio", figure(cell.over_yardstick(&Score::largest_class_jct_s))},
      {"max_wait_ratio", figure(cell.over_yardstick(&Score::max_wait_s))},
      {"preemptions_ratio", figure(cell.over_yardstick(&Score::preemptions))},
      {"seeds", cell.seeds},
      {"blocks", cell.versus.blocks},
      {"replicas", cell.replicas},
      {"yardstick", cell.rivals[cell.yardstick].score.name},
      {"yardstick_chosen", cell.validated ? "validation" : "hindsight"},
      {"yardstick_jct_s", cell.rivals[cell.yardstick].score.mean_jct_s},
      {"best_hindsight", cell.rivals[cell.best_hindsight].score.name},
      {"best_hindsight_jct_s", cell.rivals[cell.best_hindsight].score.mean_jct_s},
      {"hindsight_count", cell.rivals.size()},
      {"oracle", cell.oracle ? Json(cell.bounds[*cell.oracle].name) : Json(nullptr)},
      {"oracle_jct_s", cell.oracle ? Json(cell.bounds[*cell.oracle].mean_jct_s) : Json(nullptr)},
      {"headroom", number(cell.headroom())},
      {"headroom_hindsight", number(cell.headroom_hindsight())},
      {"test_openings", test_openings},
      {"policies", rivals_json(cell)},
      {"bounds", bounds}};
}

const char* verdict(const CellResult& cell) {
  if (cell.unfinished() > 0) return "FAILED: jobs did not finish";
  const Interval& interval = cell.versus.interval;
  if (!std::isfinite(interval.lo)) return "no interval: fewer than 2 blocks";
  if (interval.hi < 1) return "better";
  if (interval.lo > 1) return "WORSE";
  return "not told apart";
}

void print_score(const char* mark, const Score& score) {
  std::printf("%s %-28s %-13s %12.1f %12.1f %12.1f %9.1f %10lld", mark, score.name.c_str(),
              level_name(score.level), score.mean_jct_s, score.p99_jct_s, score.max_wait_s,
              score.preemptions, static_cast<long long>(score.unfinished));
}

void print_cell(const CellResult& cell) {
  std::printf("\n%s on %s, rules %s, %lld jobs scored from %.0f to %.0f s\n", cell.trace.c_str(),
              cell.cluster.c_str(), cell.rules.c_str(), static_cast<long long>(cell.jobs),
              cell.from_s, cell.to_s);
  std::printf("congestion %.3f (arrivals x %.4g), load %s, costs x %g, %d replicas, %d seed%s\n\n",
              cell.congestion, cell.factor, load_text(cell.load).c_str(), cell.cost_scale,
              cell.replicas, cell.seeds, cell.seeds == 1 ? "" : "s");
  std::printf("  %-28s %-13s %12s %12s %12s %9s %10s  %s\n", "policy", "information", "mean JCT s",
              "p99 s", "max wait s", "preempt", "unfinished", "candidate / it [95 %]");
  for (const Score& score : cell.candidates) {
    print_score(">", score);
    std::putchar('\n');
  }
  for (size_t i = 0; i < cell.rivals.size(); ++i) {
    const Rival& rival = cell.rivals[i];
    print_score(i == cell.yardstick ? "*" : i == cell.best_hindsight ? "+" : " ", rival.score);
    std::printf("  %.3f [%.3f, %.3f]\n", rival.candidate_over_it.ratio,
                rival.candidate_over_it.interval.lo, rival.candidate_over_it.interval.hi);
  }
  if (cell.oracle) {
    std::printf("bound, best of %zu that know run times:\n", cell.bounds.size());
    print_score(" ", cell.bounds[*cell.oracle]);
    std::putchar('\n');
  }
  std::printf("\n%s / %s (* yardstick, chosen %s): %.3f [%.3f, %.3f], %s; %s (%d blocks)\n",
              cell.candidate_name.c_str(), cell.rivals[cell.yardstick].score.name.c_str(),
              cell.validated ? "on validation" : "in hindsight", cell.versus.ratio,
              cell.versus.interval.lo, cell.versus.interval.hi, verdict(cell),
              cell.judged ? "judged" : "not judged", cell.versus.blocks);
  std::printf(
      "to the best in hindsight of %zu (+): %.3f; headroom %.1f %% (hindsight %.1f %%), "
      "captured %.2f\n",
      cell.rivals.size(), cell.ratio_hindsight(), 100 * cell.headroom(),
      100 * cell.headroom_hindsight(), cell.captured());
  std::printf(
      "p99 x %.3f, JCT of the %d-GPU jobs x %.3f, longest wait x %.3f, preemptions x %.3f\n",
      cell.over_yardstick(&Score::p99_jct_s), cell.largest_class,
      cell.over_yardstick(&Score::largest_class_jct_s), cell.over_yardstick(&Score::max_wait_s),
      cell.over_yardstick(&Score::preemptions));
}

Json summary_json(const Evaluation& result) {
  int64_t judged = 0, better = 0, worse = 0;
  for (const CellResult& cell : result.cells) {
    judged += cell.judged;
    better += cell.versus.interval.hi < 1;
    worse += cell.versus.interval.lo > 1;
  }
  return {{"policy", result.cells.front().candidate_name},
          {"cells", result.cells.size()},
          {"judged", judged},
          {"over", result.over_judged ? "judged cells" : "all cells"},
          {"better", better},
          {"worse", worse},
          {"ratio", number(result.ratio)},
          {"captured", number(result.captured)},
          {"captured_lo", number(result.captured_interval.lo)},
          {"captured_hi", number(result.captured_interval.hi)}};
}

void print_evaluation(const Evaluation& result) {
  for (const CellResult& cell : result.cells) print_cell(cell);
  if (result.cells.size() > 1) {
    std::printf("\nover %s: ratio %.3f, captured %.2f [%.2f, %.2f]\n",
                result.over_judged ? "judged cells" : "all cells", result.ratio, result.captured,
                result.captured_interval.lo, result.captured_interval.hi);
  }
  if (result.test_openings > 0) {
    std::printf("the test split of this trace was opened %lld time%s, this one included\n",
                static_cast<long long>(result.test_openings), result.test_openings == 1 ? "" : "s");
  }
}

EvaluateOptions prepare_options(const Options& options) {
  EvaluateOptions how;
  how.scenario = options.scenario;
  for (const double congestion : options.congestions) how.congestions.emplace_back(congestion);
  if (how.congestions.empty()) how.congestions.emplace_back(std::nullopt);
  if (options.checkpoints.empty() == options.candidate.empty()) {
    throw InputError("evaluate", "one of --checkpoint and --candidate",
                     options.candidate.empty() ? "neither" : "both");
  }
  if (options.checkpoints.empty()) {
    how.candidates = {options.candidate};
  } else {
    for (const std::string& folder : list_of(options.checkpoints, "--checkpoint")) {
      how.candidates.push_back("checkpoint:" + folder);
    }
  }
  how.candidate_name = how.candidates.front();
  if (!options.against.empty()) how.against = list_of(options.against, "--against");
  how.validate_from = options.validate_from;
  how.validate_to = options.validate_to;
  if (options.replicas < 1 || options.replicas > kMostReplicas) {
    throw InputError("--replicas", "1 to " + std::to_string(kMostReplicas),
                     std::to_string(options.replicas));
  }
  how.replicas = options.replicas;
  how.seed = options.scenario.seed;
  return how;
}

int run_evaluate(CLI::App& app, int argc, char** argv) {
  Options options;
  options.add_to(app, true);
  app.add_option("--checkpoint", options.checkpoints,
                 "folder of a trained policy; several, separated by commas, are training seeds");
  app.add_option("--candidate", options.candidate, "in its place: any policy that --policy takes");
  app.add_option("--against", options.against,
                 "heuristics, separated by commas (default: all servable ones that know no more)");
  app.add_option("--validate-from", options.validate_from,
                 "start of the window in which the yardstick is chosen");
  app.add_option("--validate-to", options.validate_to, "its end");
  app.add_option("--replicas", options.replicas, "shaken copies of the arrivals to average over");
  if (!parse_arguments(app, argc, argv)) return 0;
  EvaluateOptions how = prepare_options(options);
  std::vector<std::string> named = how.candidates;
  for (const std::string& policy : how.against) {
    if (std::find(named.begin(), named.end(), policy) == named.end()) named.push_back(policy);
  }
  options.finish(named);
  how.scenario = options.scenario;
  how.run_of = [&](const std::string& policy) { return options.run_of(policy); };
  how.progress = progress_log();
  const Evaluation result = evaluate(how);
  for (const std::string& policy : result.lack_limits) note_limits(policy);
  Json out;
  out["cells"] = Json::array();
  for (const CellResult& cell : result.cells) {
    out["cells"].push_back(cell_json(cell, result.test_openings));
  }
  out["summary"] = Json::array({summary_json(result)});
  AtomicFiles files;
  if (!options.hand_out(out, files)) print_evaluation(result);
  return 0;
}

const Command kEvaluate{"evaluate", "Compares a policy with heuristics, with intervals.",
                        run_evaluate};

}  // namespace
}  // namespace yard::sim
