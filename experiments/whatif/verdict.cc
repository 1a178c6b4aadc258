#include "experiments/whatif/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/report/html.h"

namespace yard::whatif {
namespace {

// The fewest decimals, up to seven, which keep a ratio on its side of 0, 1 and 1.1.
int decimals_of(double ratio) {
  constexpr int kMaxDecimals = 7;
  if (ratio >= 100) return 0;
  for (int decimals = ratio < 0.1 ? 3 : ratio < 10 ? 2 : 1; decimals < kMaxDecimals; ++decimals) {
    const double shown = std::stod(fmt::format("{:.{}f}", ratio, decimals));
    const bool sides_kept = (shown > 0) == (ratio > 0) && (shown > 1) == (ratio > 1) &&
                            (shown < 1) == (ratio < 1) && (shown > 1.1) == (ratio > 1.1);
    if (sides_kept) return decimals;
  }
  return kMaxDecimals;
}

std::string times_text(double ratio) {
  return std::isfinite(ratio) ? ratio_text(ratio) + " times" : "from 0";
}

std::string range_text(double from_s, double to_s) {
  return seconds_text(from_s) + " to " + seconds_text(to_s);
}

// "(1.23 times, 4,507 s to 5,532 s, 286 jobs)"
std::string by_how_much(const Change& change) {
  return fmt::format("({}, {}, {})", times_text(change.ratio),
                     range_text(change.baseline_mean_s, change.mean_s), jobs_text(change.jobs));
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    out += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  }
  return out;
}

// "0.59 times easy's (3,941 s to 2,342 s; 95 % interval 0.41 to 0.86)"
std::string mean_text(const Change& overall, const std::string& baseline) {
  if (overall.same) return "every job has the same wait as under " + baseline;
  std::string out = "mean wait ";
  if (std::isfinite(overall.ratio)) {
    out += fmt::format("{} times that under {} ({}", ratio_text(overall.ratio), baseline,
                       range_text(overall.baseline_mean_s, overall.mean_s));
  } else {
    out += fmt::format("{}, while no job waits under {} (", seconds_text(overall.mean_s), baseline);
    return out + "no ratio)";
  }
  if (!overall.conclusive && overall.blocks >= kMinBlocks) {
    return out + "; inconclusive: blocks of time differ too much)";
  }
  if (!overall.conclusive) {
    return out + fmt::format("; inconclusive: {} independent block{} of time, {} are needed)",
                             overall.blocks, overall.blocks == 1 ? "" : "s", kMinBlocks);
  }
  out += "; 95 % interval " + interval_text(overall.interval, " to ");
  const bool open = overall.interval.lo <= 1 && overall.interval.hi >= 1;
  return out + (open ? ", so the difference is not significant)" : ")");
}

// The same for a headline: "mean wait 41 % shorter".
std::string short_mean_text(const Change& overall, const std::string& baseline) {
  if (overall.same || !std::isfinite(overall.ratio)) return mean_text(overall, baseline);
  const double percent = 100 * std::abs(overall.ratio - 1);
  std::string out = "mean wait ";
  if (overall.ratio >= 2) {
    out += ratio_text(overall.ratio) + " times as long";
  } else if (percent < 0.5) {
    out += "about the same";
  } else {
    out += fmt::format("{:.0f} % {}", percent, overall.ratio < 1 ? "shorter" : "longer");
  }
  const bool open = overall.interval.lo <= 1 && overall.interval.hi >= 1;
  return out + (overall.conclusive && !open ? "" : " (inconclusive)");
}

// "14 of 157 users", "the only user".
std::string count_of(int64_t count, size_t all, const char* one) {
  if (all == 1) return std::string("the only ") + one;
  return fmt::format("{} of {} {}s", count, all, one);
}

std::string name_of(const Row& row) { return row.name.empty() ? "without a name" : row.name; }

class VerdictWriter {
 public:
  VerdictWriter(const Comparison& comparison, Verdict& verdict)
      : comparison_(comparison), verdict_(verdict) {}

  void write() {
    const Candidate& policy = candidate();
    const Change& overall = comparison_.all.changes[verdict_.candidate];
    const std::string& baseline = comparison_.candidates[0].name;
    const std::string begin = policy.name + " instead of " + baseline + ": ";
    if (verdict_.unfinished > 0) {
      verdict_.headline = begin + "no verdict: " + jobs_text(verdict_.unfinished) + " did not end.";
      verdict_.mean = begin + "no verdict: " + jobs_text(verdict_.unfinished) +
                      " did not end, so the waits are unknown.";
      verdict_.conditions_text = conditions();
      return;
    }
    verdict_.headline = begin + short_mean_text(overall, baseline) + headline_losses();
    verdict_.mean = begin + mean_text(overall, baseline) + ".";
    if (!overall.same) list_longer_groups();
    verdict_.conditions_text = (overall.same ? "" : longest_text()) + conditions();
  }

 private:
  const Candidate& candidate() const { return comparison_.candidates[verdict_.candidate]; }
  const Change& change(const Row& row) const { return row.changes[verdict_.candidate]; }

  bool is_named(const Row* row) const {
    return std::ranges::find(verdict_.sizes, row) != verdict_.sizes.end();
  }

  std::string headline_losses() const {
    if (!verdict_.has_longer_waits()) {
      if (comparison_.all.changes[verdict_.candidate].same) return ".";
      return ", and no " + classes_text() + " waits over 10 % longer" +
             (verdict_.small_classes == 0
                  ? "."
                  : fmt::format(" ({} smaller {} would).", verdict_.small_classes,
                                verdict_.small_classes == 1 ? "class" : "classes"));
    }
    std::vector<std::string> parts;
    if (!verdict_.sizes.empty()) {
      std::vector<std::string> names;
      const Row* range = nullptr;  // the last size range
      for (const Row& row : comparison_.by_size.rows) {
        if (!row.single_size) range = &row;
        if (!is_named(&row)) continue;
        // A single size is not named if its range is.
        if (!row.single_size || !is_named(range)) names.push_back(row.name);
      }
      parts.push_back("jobs of " + joined(names) + (names.back() == "1" ? " GPU" : " GPUs"));
    }
    if (verdict_.users > 0) {
      parts.push_back(count_of(verdict_.users, comparison_.by_user.rows.size(), "user"));
    }
    if (!verdict_.partitions.empty()) {
      parts.push_back(count_of(std::ssize(verdict_.partitions),
                               comparison_.by_partition.rows.size(), "partition"));
    }
    std::string out;
    if (!parts.empty()) out = ", but " + joined(parts) + " would wait over 10 % longer";
    if (verdict_.longest) {
      const Change& overall = comparison_.all.changes[verdict_.candidate];
      out += parts.empty() ? ", but" : ", and";
      out += " the longest wait would grow from " +
             range_text(overall.baseline_longest_s, overall.longest_s);
    }
    return out + ".";
  }

  void list_longer_groups() {
    for (const Row* row : verdict_.sizes) {
      verdict_.longer_groups.push_back(
          fmt::format("jobs of {}{} {} {}", row->single_size ? "exactly " : "", row->name,
                      row->name == "1" ? "GPU" : "GPUs", by_how_much(change(*row))));
    }
    if (verdict_.users > 0) {
      std::string text = count_of(verdict_.users, comparison_.by_user.rows.size(), "user");
      if (verdict_.users == 1) {
        text += ": user ";
      } else {
        text += fmt::format(
            ", {} of them with at least {} jobs, with the largest total increase for user ",
            verdict_.large_users == 0 ? "none" : std::to_string(verdict_.large_users),
            kMinJobsPerGroup);
      }
      verdict_.longer_groups.push_back(text + name_of(*verdict_.user) + " " +
                                       by_how_much(change(*verdict_.user)));
    }
    if (verdict_.partitions.empty()) return;
    std::vector<std::string> names;
    for (const Row* row : verdict_.partitions) {
      names.push_back(name_of(*row) + " " + by_how_much(change(*row)));
    }
    verdict_.longer_groups.push_back(
        count_of(std::ssize(names), comparison_.by_partition.rows.size(), "partition") + ": " +
        joined(names));
  }

  std::string longest_text() const {
    const Change& overall = comparison_.all.changes[verdict_.candidate];
    if (!verdict_.has_longer_waits()) {
      return "No " + classes_text() + (comparison_.by_user.rows.empty() ? "" : " and no user") +
             " waits over 10 % longer. The longest wait grows by at most 10 %." +
             and_small_classes();
    }
    std::string out;
    if (verdict_.longer_groups.empty()) {
      out = "On average no " + classes_text() +
            (comparison_.by_user.rows.empty() ? "" : " and no user") + " waits over 10 % longer. ";
    }
    out += verdict_.longest ? "The longest wait grows from " : "The longest wait changes from ";
    out += range_text(overall.baseline_longest_s, overall.longest_s);
    const double ratio = overall.longest_wait_ratio();
    if (std::isfinite(ratio)) out += " (" + ratio_text(ratio) + " times)";
    return out + "." + and_small_classes();
  }

  // Mentions partitions only if the log names them.
  std::string classes_text() const {
    return fmt::format("size class{} of at least {} jobs",
                       comparison_.by_partition.rows.empty() ? "" : " or partition",
                       kMinJobsPerGroup);
  }

  std::string and_small_classes() const {
    if (verdict_.small_classes == 0) return "";
    return fmt::format(" Of the classes with fewer than {} jobs, {} would wait over 10 % longer.",
                       kMinJobsPerGroup, verdict_.small_classes);
  }

  std::string conditions() const {
    const Candidate& policy = candidate();
    std::string out;
    if (const int64_t open = comparison_.all.by[0].unfinished; open > 0) {
      out += fmt::format(" {} did not end under {} and {} excluded from all ratios.",
                         jobs_text(open), comparison_.candidates[0].name, open == 1 ? "is" : "are");
    }
    if (policy.knows_run_times) {
      out += " It sees true run times, which no real scheduler does: for comparison only.";
      if (!comparison_.no_bound.empty())
        out += " It gives no bound here because of " + comparison_.no_bound + ".";
    }
    if (policy.needs_checkpointing) {
      out += " It needs checkpointing: ";
      out +=
          policy.preemptions == 0
              ? "it may preempt jobs, although it preempted none here."
              : fmt::format("it preempted {}, {} time{} in all.", jobs_text(policy.preempted_jobs),
                            report::number_text(static_cast<double>(policy.preemptions), 0),
                            policy.preemptions == 1 ? "" : "s");
    }
    return out;
  }

  const Comparison& comparison_;
  Verdict& verdict_;
};

}  // namespace

std::string Verdict::text() const {
  std::string out = mean;
  for (size_t i = 0; i < longer_groups.size(); ++i) {
    out += (i == 0 ? " Mean wait over 10 % longer: " : "; ") + longer_groups[i];
  }
  if (!longer_groups.empty()) out += ".";
  return out + (conditions_text.empty() || conditions_text.starts_with(' ') ? "" : " ") +
         conditions_text;
}

std::vector<Verdict> verdicts_of(const Comparison& comparison) {
  std::vector<Verdict> out;
  for (size_t c = 1; c < comparison.candidates.size(); ++c) {
    Verdict verdict;
    verdict.candidate = c;
    const auto add_losses = [&](const Table& table, std::vector<const Row*>& large) {
      for (const Row& row : table.rows) {
        if (!row.changes[c].mean_grows) continue;
        if (row.has_enough_jobs_for_verdict(c)) {
          large.push_back(&row);
        } else if (!row.single_size) {
          ++verdict.small_classes;
        }
      }
    };
    add_losses(comparison.by_size, verdict.sizes);
    add_losses(comparison.by_partition, verdict.partitions);
    double most = 0;
    for (const Row& row : comparison.by_user.rows) {
      const Change& change = row.changes[c];
      if (!change.mean_grows) continue;
      ++verdict.users;
      if (row.has_enough_jobs_for_verdict(c)) ++verdict.large_users;
      const double more =
          (change.mean_s - change.baseline_mean_s) * static_cast<double>(change.jobs);
      if (verdict.user == nullptr || more > most) {
        verdict.user = &row;
        most = more;
      }
    }
    verdict.unfinished = comparison.all.changes[c].unfinished;
    verdict.longest = comparison.all.changes[c].longest_wait_grows;
    VerdictWriter(comparison, verdict).write();
    out.push_back(std::move(verdict));
  }
  return out;
}

std::string baseline_fit_text(const Comparison& comparison) {
  const double ratio = comparison.logged_ratio;  // NaN if nothing waited
  std::string out = comparison.candidates[0].name + " in place of the site's own scheduler: ";
  if (!std::isfinite(ratio)) {
    if (comparison.all.logged.mean_wait_s > 0) {
      return out + "no job that waited in the log ended, so there is no ratio to the log.";
    }
    const double mean_s = comparison.all.by[0].mean_wait_s;
    return out +
           "no job waited in the log, so there is no ratio to it; the simulated mean wait is " +
           seconds_text(mean_s) + ".";
  }
  out += "simulated mean wait " + ratio_text(ratio) + " times the logged one.";
  if (ratio < 0.5 || ratio > 2) {
    out += ratio < 1
               ? " Logged jobs also waited for reasons that the log lacks (user limits, holds, "
                 "nodes out of service)"
               : " The site had more capacity than is simulated (a larger cluster, shared GPUs, "
                 "jobs missing from the log), or it preempted jobs";
    out += ": compare policies with " + comparison.candidates[0].name + ", not with the log.";
  }
  return out;
}

const Verdict* headline_verdict(const Comparison& comparison,
                                const std::vector<Verdict>& verdicts) {
  const Verdict* out = nullptr;
  for (const Verdict& verdict : verdicts) {
    const Candidate& policy = comparison.candidates[verdict.candidate];
    if (policy.knows_run_times || policy.needs_checkpointing || verdict.unfinished > 0) continue;
    const auto mean = [&](const Verdict& v) { return comparison.all.by[v.candidate].mean_wait_s; };
    if (out == nullptr || mean(verdict) < mean(*out)) out = &verdict;
  }
  return out;
}

std::string jobs_text(int64_t jobs) {
  return report::number_text(static_cast<double>(jobs), 0) + (jobs == 1 ? " job" : " jobs");
}

std::string ratio_text(double ratio) {
  return std::isfinite(ratio) ? report::number_text(ratio, decimals_of(ratio)) : "n/a";
}

std::string interval_text(const Interval& of, const char* between) {
  if (!std::isfinite(of.lo) || !std::isfinite(of.hi)) return "n/a";
  const int decimals = std::max(decimals_of(of.lo), decimals_of(of.hi));
  return report::number_text(of.lo, decimals) + between + report::number_text(of.hi, decimals);
}

std::string seconds_text(double seconds) {
  const bool small = seconds < 10 && seconds != std::round(seconds);
  return report::number_text(seconds, small ? 1 : 0) + " s";
}

}  // namespace yard::whatif
