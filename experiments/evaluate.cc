#include "experiments/evaluate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "env/base/error.h"
#include "env/base/file.h"
#include "env/base/text.h"
#include "experiments/congestion.h"
#include "experiments/progress.h"
#include "experiments/test_log.h"

namespace yard {
namespace {

// All policies of the comparison, prepared before the first run: rivals, then bounds, candidates by
// seed, and their untrained networks.
struct Field {
  std::vector<Entrant> all;
  size_t rivals = 0, bounds = 0, learners = 0;  // counts
  size_t family = 0;  // number of bounds from oracle_family(), which come first
  std::vector<std::vector<size_t>> candidates;  // indices by seed
  std::vector<std::vector<size_t>> untrained;   // of each candidate, without duplicates

  size_t first_candidate() const { return rivals + bounds; }
  size_t end_candidates() const { return first_candidate() + learners; }
};

// Averages the scores of several untrained networks.
Score mean_of(const std::vector<Score>& scores, const std::string& name) {
  Score out = scores.front();
  out.name = name;
  const auto n = static_cast<double>(scores.size());
  const auto average = [&](const auto& figure) {
    double sum = 0;
    for (const Score& score : scores) sum += figure(score);
    return sum / n;
  };
  for (double Score::*figure : {&Score::mean_jct_s, &Score::p99_jct_s, &Score::max_wait_s,
                                &Score::preemptions, &Score::moves, &Score::soon_again,
                                &Score::ended_early, &Score::decisions, &Score::core_s}) {
    out.*figure = average([&](const Score& score) { return score.*figure; });
  }
  for (size_t b = 0; b < out.block_jct_s.size(); ++b) {
    out.block_jct_s[b] = average([&](const Score& score) { return score.block_jct_s[b]; });
  }
  for (size_t c = 0; c < out.class_jct_s.size(); ++c) {
    out.class_jct_s[c] = average([&](const Score& score) { return score.class_jct_s[c]; });
  }
  out.unfinished = 0;
  for (const Score& score : scores) out.unfinished += score.unfinished;
  return out;
}

class Evaluator {
 public:
  explicit Evaluator(const EvaluateOptions& options)
      : options_(options), results_(options.results) {
    line_up();
    if (!results_.keeps()) return;
    std::set<bool> stops;
    for (const CellSpec& cell : options.cells) stops.insert(cell.stops());
    for (const CellSpec& cell : options.choosing) stops.insert(cell.stops());
    for (Entrant& entrant : field_.all) {
      for (const bool may : stops) entrant.inputs[may] = inputs_of(entrant, may);
    }
  }

  Evaluation run() {
    Evaluation out;
    look_at_cells(out);
    out.limits_notes = notes_on_limits();
    for (const CellSpec& cell : options_.choosing) choosing_.emplace(cell.name, play(cell, true));
    for (const CellSpec& cell : options_.cells) {
      const int64_t openings = open_test(cell);
      const std::vector<Score> scores = play(cell, false);
      for (size_t c = 0; c < options_.candidates.size(); ++c) {
        out.cells.push_back(result_of(cell, scores, c));
        out.cells.back().test_openings = openings;
      }
    }
    return out;
  }

 private:
  // Skips cells whose target congestion cannot be reached, and cells whose baseline was to be
  // chosen only on such cells. Throws InputError if none is left.
  void look_at_cells(Evaluation& out) {
    const auto keep = [&](const CellSpec& cell, bool choosing) {
      try {
        add_arena(cell, choosing);
        return true;
      } catch (const NotSoCrowded& error) {
        if (cell.sha256.empty()) throw;
        out.left_out.emplace_back(cell.name, error.what());
        if (options_.progress) options_.progress(std::string(error.what()) + ": left out");
        return false;
      }
    };
    std::erase_if(options_.choosing, [&](const CellSpec& cell) { return !keep(cell, true); });
    std::erase_if(options_.cells, [&](CellSpec& cell) {
      const bool chooses = !cell.chosen_on.empty();
      std::erase_if(cell.chosen_on,
                    [&](const std::string& name) { return !arenas_.contains(name); });
      if (!chooses || !cell.chosen_on.empty()) return !keep(cell, false);
      out.left_out.emplace_back(cell.name, "nowhere to choose its yardstick");
      return true;
    });
    if (options_.cells.empty()) throw InputError(out.left_out.front().second);
  }

  void line_up() {
    const RunOptions any = options_.run_of("");
    std::vector<Entrant> candidates, bounds = oracle_family(any), rivals;
    field_.family = bounds.size();
    Level most = Level::kBlind;
    // A policy given alone and as a training seed is replayed once.
    std::map<std::string, size_t> entered;
    for (const Challenger& candidate : options_.candidates) {
      std::vector<size_t>& who = field_.candidates.emplace_back();
      for (const std::string& name : candidate.policies) {
        const auto [known, fresh] = entered.emplace(name, candidates.size());
        who.push_back(known->second);
        if (!fresh) continue;
        candidates.push_back(enter(name, options_.run_of(name)));
        most = std::max(most, candidates.back().contestant.level);
      }
    }
    for (const std::string& name : options_.against) {
      Entrant entrant = enter(name, options_.run_of(name));
      (is_bound(entrant.contestant.level) ? bounds : rivals).push_back(std::move(entrant));
    }
    if (options_.against.empty()) rivals = servable_heuristics(most, any);
    field_.rivals = rivals.size();
    field_.bounds = bounds.size();
    field_.learners = candidates.size();
    std::vector<Entrant> untrained = untrained_of(candidates);
    for (auto* group : {&rivals, &bounds, &candidates, &untrained}) {
      std::move(group->begin(), group->end(), std::back_inserter(field_.all));
    }
    for (std::vector<size_t>& who : field_.candidates) {
      for (size_t& i : who) i += field_.first_candidate();
    }
    for (std::vector<size_t>& who : field_.untrained) {
      for (size_t& i : who) i += field_.end_candidates();
    }
    for (size_t c = 0; c < options_.candidates.size(); ++c) {
      if (!rivals_of(c).empty()) continue;
      throw InputError("--against", "a policy that is no oracle", join(options_.against));
    }
  }

  // Returns the candidates' untrained networks; seeds with equal ones share an entry.
  std::vector<Entrant> untrained_of(const std::vector<Entrant>& candidates) {
    std::vector<Entrant> out;
    std::map<std::string, size_t> entered;  // by digest and settings
    for (const std::vector<size_t>& seeds : field_.candidates) {
      std::vector<size_t>& selves = field_.untrained.emplace_back();
      for (const size_t i : seeds) {
        const Entrant& trained = candidates[i];
        if (trained.contestant.untrained.empty()) continue;
        Entrant self = enter(trained.contestant.untrained, trained.options);
        std::string key = self.contestant.digest;
        for (const Setting& s : self.options.policy.entries()) key += ' ' + s.key + '=' + s.value;
        const auto [known, fresh] = entered.emplace(key, out.size());
        if (fresh) out.push_back(std::move(self));
        if (std::ranges::find(selves, known->second) == selves.end()) {
          selves.push_back(known->second);
        }
      }
    }
    return out;
  }

  // Without --against, rivals have no more information than the candidate and are not part of it.
  std::vector<size_t> rivals_of(size_t candidate) const {
    Level most = Level::kBlind;
    std::set<std::string> own;
    for (const size_t i : field_.candidates[candidate]) {
      most = std::max(most, field_.all[i].contestant.level);
      own.insert(field_.all[i].name);
    }
    std::vector<size_t> out;
    for (size_t i = 0; i < field_.rivals; ++i) {
      const Entrant& rival = field_.all[i];
      const bool fair = rival.contestant.level <= most && !own.contains(rival.name);
      if (fair || !options_.against.empty()) out.push_back(i);
    }
    return out;
  }

  // Returns the policies to run in a cell: only rivals where the baseline is chosen; no oracle
  // family where an oracle is no bound.
  std::vector<size_t> players(const CellFacts& facts, bool choosing) const {
    std::vector<size_t> out;
    for (size_t i = 0; i < (choosing ? field_.rivals : field_.all.size()); ++i) {
      if (!in_family(i) || facts.no_bound.empty()) out.push_back(i);
    }
    return out;
  }
  bool in_family(size_t i) const { return i >= field_.rivals && i < field_.rivals + field_.family; }

  void add_arena(const CellSpec& cell, bool choosing) {
    if (options_.progress) options_.progress("looking at " + cell.name);
    const auto [it, fresh] =
        arenas_.emplace(cell.name, Arena(cell, options_.run_of(""), results_, sources_));
    const Arena& arena = it->second;
    for (const size_t i : players(arena.facts(), choosing)) {
      const Entrant& entrant = field_.all[i];
      if (!arena.knows(entrant)) eta_.expect(entrant.name, work(arena), cell.replicas);
    }
  }

  // A replay takes longer with more jobs and longer queues.
  static double work(const Arena& arena) {
    return static_cast<double>(arena.facts().jobs) * (1 + arena.facts().congestion);
  }

  // Returns scores by index into field_.all; those of policies that do not run are empty.
  std::vector<Score> play(const CellSpec& cell, bool choosing) {
    Arena& arena = arenas_.at(cell.name);
    const std::vector<size_t> who = players(arena.facts(), choosing);
    std::vector<const Entrant*> playing;
    for (const size_t i : who) playing.push_back(&field_.all[i]);
    const std::vector<Score> scores =
        arena.scores(playing, [&](const Entrant& entrant, double wall_s) {
          eta_.done(entrant.name, work(arena), wall_s);
          if (options_.progress) {
            options_.progress(cell.name + ", " + entrant.name + ": " + eta_.text());
          }
        });
    std::vector<Score> out(field_.all.size());
    for (size_t k = 0; k < who.size(); ++k) out[who[k]] = scores[k];
    return out;
  }

  std::vector<std::string> notes_on_limits() const {
    const auto limited = [&](const CellSpec& cell) { return arenas_.at(cell.name).facts().limits; };
    if (std::any_of(options_.cells.begin(), options_.cells.end(), limited)) return {};
    std::vector<const Contestant*> players;
    for (size_t i = 0; i < field_.end_candidates(); ++i) {
      const bool bound = i >= field_.rivals && i < field_.rivals + field_.bounds;
      if (!bound) players.push_back(&field_.all[i].contestant);
    }
    return limits_notes(players);
  }

  // Logs that the candidates open a trace's last fifth: one opening for all congestions, cluster
  // sizes and loads.
  int64_t open_test(const CellSpec& cell) {
    const CellFacts& facts = arenas_.at(cell.name).facts();
    if (!facts.opens_test || options_.test_log.empty()) return 0;
    const double length_s = (facts.to_s - facts.from_s) / facts.factor;  // in trace time
    Opening opening{facts.trace,
                    facts.sha256,
                    cell.scenario.cluster,
                    shortest(std::round(facts.from_s)),
                    shortest(std::round(facts.from_s + length_s)),
                    {},
                    {},
                    ""};
    std::string inputs;
    for (size_t i = field_.first_candidate(); i < field_.end_candidates(); ++i) {
      const Entrant& entrant = field_.all[i];
      opening.candidates.push_back(entrant.name);
      if (!entrant.contestant.digest.empty()) {
        opening.digests.push_back(entrant.contestant.digest);
      }
      if (results_.keeps()) inputs += entrant.inputs.at(cell.stops());
    }
    if (results_.keeps()) opening.inputs = sha256_hex(inputs);
    const std::array<std::string, 5> key = {opening.sha256, opening.cluster, opening.from,
                                            opening.to, opening.inputs};
    const auto [it, fresh] = openings_.emplace(key, 0);
    if (fresh) it->second = log_opening(options_.test_log, opening);
    return it->second;
  }

  CellResult result_of(const CellSpec& spec, const std::vector<Score>& scores, size_t candidate) {
    CellResult cell;
    cell.cell = spec.name;
    cell.cell_hash = results_.keeps() || !spec.sha256.empty() ? hash_of(spec) : "";
    cell.facts = arenas_.at(spec.name).facts();
    cell.rules = options_.run_of("").rules;
    cell.cost_scale = spec.scenario.cost_scale;
    cell.variation = spec.scenario.variation;
    cell.replicas = spec.replicas;
    cell.candidate_name = options_.candidates[candidate].name;
    cell.validated = !spec.chosen_on.empty();
    const std::vector<size_t>& seeds = field_.candidates[candidate];
    for (const size_t i : seeds) cell.candidates.push_back(scores[i]);
    cell.training_core_s = training_core_s(seeds);
    for (size_t i = field_.rivals; i < field_.rivals + field_.bounds; ++i) {
      if (!in_family(i) || cell.facts.no_bound.empty()) cell.bounds.push_back(scores[i]);
    }
    for (const size_t i : rivals_of(candidate)) {
      cell.rivals.push_back({scores[i], cell.validated ? chosen_by_s(spec, i) : 0, {}});
    }
    for (const std::vector<size_t>& other : field_.candidates) {
      if (other.size() > 1 || other == seeds) continue;
      cell.others.push_back({scores[other.front()], 0, {}});
    }
    std::vector<Score> selves;
    for (const size_t i : field_.untrained[candidate]) selves.push_back(scores[i]);
    if (!selves.empty()) {
      cell.untrained = cell.others.size();
      cell.others.push_back({mean_of(selves, "untrained"), 0, {}});
    }
    settle(cell);
    return cell;
  }

  // Mean over seeds; 0 if one is unknown.
  double training_core_s(const std::vector<size_t>& seeds) const {
    double sum = 0;
    for (const size_t i : seeds) {
      const double core_s = field_.all[i].contestant.core_s;
      if (core_s <= 0) return 0;
      sum += core_s;
    }
    return sum / static_cast<double>(seeds.size());
  }

  // Rival `i`'s geometric mean JCT, by which the baseline is chosen; infinite if unfinished.
  double chosen_by_s(const CellSpec& spec, size_t i) const {
    double sum = 0;
    for (const std::string& name : spec.chosen_on) {
      const Score& score = choosing_.at(name)[i];
      if (score.unfinished > 0) return std::numeric_limits<double>::infinity();
      sum += std::log(score.mean_jct_s);
    }
    return std::exp(sum / static_cast<double>(spec.chosen_on.size()));
  }

  EvaluateOptions options_;
  ResultFolder results_;
  Sources sources_;
  Field field_;
  std::map<std::string, Arena> arenas_;
  std::map<std::string, std::vector<Score>> choosing_;      // of rivals, by cell
  std::map<std::array<std::string, 5>, int64_t> openings_;  // of this call
  Eta eta_;
};

}  // namespace

Evaluation evaluate(const EvaluateOptions& options) { return Evaluator(options).run(); }

}  // namespace yard
