#include "experiments/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "env/base/error.h"
#include "env/base/text.h"
#include "experiments/congestion.h"
#include "experiments/contest.h"
#include "experiments/test_log.h"

namespace yard {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kJobsPerBlock = 40;
constexpr int64_t kMostBlocks = 24;
constexpr int64_t kJudgedJobs = 500;
constexpr int kJudgedBlocks = 6;
constexpr uint64_t kIntervalStream = 0x696E74657276616C;

// Everybody who plays, ready before the first run.
struct LineUp {
  std::vector<Entrant> candidates, rivals, bounds;
};

Level highest(const std::vector<Entrant>& entrants) {
  Level level = Level::kBlind;
  for (const Entrant& entrant : entrants) level = std::max(level, entrant.contestant.level);
  return level;
}

LineUp line_up(const EvaluateOptions& options) {
  LineUp field;
  for (const std::string& name : options.candidates) {
    field.candidates.push_back(enter(name, options.run_of(name)));
  }
  const RunOptions any = options.run_of("");
  field.bounds = oracle_family(any);
  for (const std::string& name : options.against) {
    Entrant entrant = enter(name, options.run_of(name));
    (is_bound(entrant.contestant.level) ? field.bounds : field.rivals)
        .push_back(std::move(entrant));
  }
  if (options.against.empty()) {
    field.rivals = servable_heuristics(highest(field.candidates), any);
    std::erase_if(field.rivals, [&](const Entrant& rival) {
      return std::count(options.candidates.begin(), options.candidates.end(), rival.name) > 0;
    });
  }
  if (field.rivals.empty()) {
    throw InputError("--against", "a policy that is no oracle", join(options.against));
  }
  return field;
}

// Sums a score's JCTs over blocks of equally many jobs, which follow each other in time.
std::vector<double> block_sums(const Score& score) {
  const auto jobs = static_cast<int64_t>(score.jct_s.size());
  const int64_t blocks = std::clamp<int64_t>(jobs / kJobsPerBlock, 1, kMostBlocks);
  std::vector<double> sums(static_cast<size_t>(blocks), 0);
  for (int64_t j = 0; j < jobs; ++j) {
    sums[static_cast<size_t>(j * blocks / jobs)] += score.jct_s[static_cast<size_t>(j)];
  }
  return sums;
}

BlockSums paired(const std::vector<Score>& ours, const Score& theirs) {
  BlockSums sums;
  for (const Score& score : ours) sums.ours.push_back(block_sums(score));
  sums.theirs = block_sums(theirs);
  return sums;
}

Versus compare(const std::vector<Score>& ours, const Score& theirs) {
  const BlockSums sums = merged(paired(ours, theirs));
  return {sums.ratio(), ratio_interval(sums), sums.blocks()};
}

size_t best_rival(const std::vector<Rival>& rivals, bool in_validation) {
  size_t best = 0;
  const auto jct_s = [&](size_t i) {
    return in_validation ? rivals[i].validation_jct_s : rivals[i].score.mean_jct_s;
  };
  for (size_t i = 1; i < rivals.size(); ++i) {
    if (jct_s(i) < jct_s(best)) best = i;
  }
  return best;
}

// Plays the rivals in the validation window, at its own calibration to the same congestion.
void validate(const EvaluateOptions& options, const Source& source,
              std::optional<double> congestion, const std::vector<Entrant>& rivals,
              CellResult& cell) {
  WindowOptions window = options.scenario.window;
  window.jobs_from.reset();
  window.jobs_count.reset();
  window.from = options.validate_from;
  window.to = options.validate_to;
  const Scenario scenario = make_scenario(source, window, congestion, options.scenario.cost_scale);
  const auto replicas = replicas_of(scenario, options.replicas, options.seed);
  const std::vector<Score> scores = play(scenario, replicas, rivals, options.progress);
  for (size_t i = 0; i < scores.size(); ++i) {
    cell.rivals[i].validation_jct_s = scores[i].mean_jct_s;
  }
  cell.validated = true;
}

void describe(const Scenario& scenario, const EvaluateOptions& options, CellResult& cell) {
  cell.trace = scenario.trace.source;
  cell.sha256 = scenario.trace.sha256;
  cell.cluster = scenario.cluster.text;
  cell.rules = options.run_of("").rules;
  cell.congestion = scenario.congestion > 0 ? scenario.congestion : congestion_of(scenario);
  cell.load = scenario.load;
  cell.factor = scenario.factor;
  cell.cost_scale = scenario.cost_scale;
  cell.from_s = static_cast<double>(scenario.window.from_us) / 1e6;
  cell.to_s = static_cast<double>(scenario.window.to_us) / 1e6;
  cell.jobs = scenario.window.scored;
  cell.largest_class = largest_class(scenario);
  cell.candidate_name = options.candidate_name;
  cell.replicas = options.replicas;
  cell.seeds = static_cast<int>(options.candidates.size());
}

CellResult play_cell(const EvaluateOptions& options, const Source& source,
                     std::optional<double> congestion, const LineUp& field) {
  const Scenario scenario =
      make_scenario(source, options.scenario.window, congestion, options.scenario.cost_scale);
  CellResult cell;
  describe(scenario, options, cell);
  const auto replicas = replicas_of(scenario, options.replicas, options.seed);
  const auto run = [&](const std::vector<Entrant>& entrants) {
    return play(scenario, replicas, entrants, options.progress);
  };
  cell.candidates = run(field.candidates);
  for (Score& score : run(field.rivals)) cell.rivals.push_back({std::move(score), 0, {}});
  cell.bounds = run(field.bounds);
  if (!cell.bounds.empty()) cell.oracle = best_of(cell.bounds);
  if (!options.validate_to.empty()) validate(options, source, congestion, field.rivals, cell);
  cell.best_hindsight = best_rival(cell.rivals, false);
  cell.yardstick = cell.validated ? best_rival(cell.rivals, true) : cell.best_hindsight;

  for (Rival& rival : cell.rivals) {
    rival.candidate_over_it = compare(cell.candidates, rival.score);
  }
  const Score& yardstick = cell.rivals[cell.yardstick].score;
  cell.versus = cell.rivals[cell.yardstick].candidate_over_it;
  cell.judged =
      cell.jobs >= kJudgedJobs && cell.versus.blocks >= kJudgedBlocks && cell.unfinished() == 0;
  cell.unmerged.sums = paired(cell.candidates, yardstick);
  if (cell.oracle) cell.unmerged.bound = block_sums(cell.bounds[*cell.oracle]);
  return cell;
}

// Brings all cells to the coarsest blocks that any of them needs, so that they can share draws.
std::vector<Cell> aligned(const std::vector<const CellResult*>& results) {
  int blocks = std::numeric_limits<int>::max();
  for (const CellResult* result : results) blocks = std::min(blocks, result->versus.blocks);
  std::vector<Cell> cells;
  for (const CellResult* result : results) {
    Cell cell = result->unmerged;
    while (cell.sums.blocks() > blocks) {
      cell.bound = halved(BlockSums{{}, cell.bound}).theirs;
      cell.sums = halved(cell.sums);
    }
    cells.push_back(std::move(cell));
  }
  return cells;
}

void summarise_cells(const EvaluateOptions& options, Evaluation& out) {
  std::vector<const CellResult*> chosen;
  for (const CellResult& cell : out.cells) {
    if (cell.judged) chosen.push_back(&cell);
  }
  out.over_judged = !chosen.empty();
  if (chosen.empty()) {
    for (const CellResult& cell : out.cells) chosen.push_back(&cell);
  }
  double sum = 0;
  bool bounded = true;
  for (const CellResult* cell : chosen) {
    sum += std::log(cell->versus.ratio);
    bounded = bounded && cell->oracle.has_value();
  }
  out.ratio = std::exp(sum / static_cast<double>(chosen.size()));
  out.captured = kNan;
  out.captured_interval = {kNan, kNan};
  if (!bounded) return;
  const std::vector<Cell> cells = aligned(chosen);
  out.captured = captured_of(cells);
  out.captured_interval = captured_interval(cells, Rng(options.seed).split(kIntervalStream));
}

double share(double part, double whole) { return whole > 0 ? part / whole : kNan; }

}  // namespace

int64_t CellResult::unfinished() const {
  int64_t sum = 0;
  for (const Score& score : candidates) sum += score.unfinished;
  return sum;
}

double CellResult::mean_jct_s() const {
  double sum = 0;
  for (const Score& score : candidates) sum += score.mean_jct_s;
  return sum / static_cast<double>(candidates.size());
}

double CellResult::ratio_hindsight() const {
  return rivals[best_hindsight].candidate_over_it.ratio;
}

double CellResult::headroom() const {
  if (!oracle) return kNan;
  return 1 - bounds[*oracle].mean_jct_s / rivals[yardstick].score.mean_jct_s;
}

double CellResult::headroom_hindsight() const {
  if (!oracle) return kNan;
  return 1 - bounds[*oracle].mean_jct_s / rivals[best_hindsight].score.mean_jct_s;
}

double CellResult::captured() const {
  const double to_win = std::log(1 - headroom());
  return to_win != 0 ? std::log(versus.ratio) / to_win : kNan;
}

double CellResult::over_yardstick(double Score::*figure) const {
  double sum = 0;
  for (const Score& score : candidates) sum += score.*figure;
  return share(sum / static_cast<double>(candidates.size()), rivals[yardstick].score.*figure);
}

Evaluation evaluate(const EvaluateOptions& options) {
  if (options.validate_from.empty() != options.validate_to.empty()) {
    throw InputError("--validate-from, --validate-to", "both or none", "one of them");
  }
  const LineUp field = line_up(options);
  const Source source = load_source(options.scenario);
  Evaluation out;
  for (const auto* entrants : {&field.candidates, &field.rivals}) {
    for (const Entrant& entrant : *entrants) {
      if (lacks_limits(entrant.contestant, source.trace)) out.lack_limits.push_back(entrant.name);
    }
  }
  const Scenario looked_at =
      make_scenario(source, options.scenario.window, std::nullopt, options.scenario.cost_scale);
  if (looked_at.opens_test) {
    Opening opening{source.trace.source,
                    source.trace.sha256,
                    source.cluster.text,
                    format_seconds(looked_at.window.from_us),
                    format_seconds(looked_at.window.to_us),
                    options.candidates,
                    {}};
    for (const Entrant& candidate : field.candidates) {
      if (!candidate.contestant.digest.empty()) {
        opening.digests.push_back(candidate.contestant.digest);
      }
    }
    out.test_openings = log_opening(options.test_log, opening);
  }
  for (const std::optional<double>& congestion : options.congestions) {
    out.cells.push_back(play_cell(options, source, congestion, field));
  }
  summarise_cells(options, out);
  return out;
}

}  // namespace yard
