// Fits batches: their sizes, their numbers of jobs, and the gaps between these.
#include <algorithm>
#include <cmath>
#include <map>

#include "env/base/core/normal.h"
#include "env/trace/fitted/fit_steps.h"

namespace yard {
namespace {

constexpr int64_t kMinJobs = 60;     // of a class, if there are that many
constexpr int64_t kMinBatches = 20;  // likewise

// Forms classes of sizes from the smallest on. What is left over joins the last class.
void make_classes(const FitData& data, WorkloadModel& model) {
  struct Count {
    int64_t jobs = 0, batches = 0;
  };
  std::map<int32_t, Count> by_size;
  for (const SubmissionBatches::Batch& batch : data.batches.all) {
    by_size[batch.gpus].jobs += static_cast<int64_t>(batch.jobs.size());
    ++by_size[batch.gpus].batches;
  }
  Count open;
  for (const auto& [gpus, count] : by_size) {
    const double share =
        static_cast<double>(count.batches) / static_cast<double>(data.batches.all.size());
    model.sizes.push_back({gpus, share});
    open.jobs += count.jobs;
    open.batches += count.batches;
    if (open.jobs < kMinJobs || open.batches < kMinBatches) continue;
    model.classes.emplace_back().most_gpus = gpus;
    open = {};
  }
  if (model.classes.empty()) model.classes.emplace_back();
  model.classes.back().most_gpus = by_size.rbegin()->first;
}

void fit_run_quantiles(FitData& data, WorkloadModel& model) {
  std::vector<SizeClassValues> run(model.classes.size());
  for (size_t j = 0; j < data.jobs.size(); ++j) {
    run[size_class_index(model, data.jobs[j].gpus)].add(j, seconds(data.jobs[j].run_us));
  }
  data.run_scores.resize(data.jobs.size());
  for (size_t c = 0; c < run.size(); ++c) {
    model.classes[c].jobs = static_cast<int64_t>(run[c].values.size());
    model.classes[c].run_s = quantiles_of(run[c].values);
    run[c].score(data.run_scores);
  }
}

void fit_numbers(FitData& data, WorkloadModel& model) {
  const std::vector<SubmissionBatches::Batch>& batches = data.batches.all;
  std::vector<SizeClassValues> numbers(model.classes.size());
  for (size_t b = 0; b < batches.size(); ++b) {
    numbers[size_class_index(model, batches[b].gpus)].add(
        b, static_cast<double>(batches[b].jobs.size() - 1));
  }
  data.number_scores.resize(batches.size());
  for (size_t c = 0; c < numbers.size(); ++c) {
    model.classes[c].batch_jobs = quantiles_of(numbers[c].values);
    numbers[c].score(data.number_scores);
  }
  if (data.batches.kind == Owner::kNone) return;
  model.batch_jobs_owner = owner_variance_share(data.batches, data.number_scores);
}

void fit_gaps(const FitData& data, WorkloadModel& model) {
  std::vector<double> gaps, numbers;  // for each gap, the number of jobs in its batch
  for (const SubmissionBatches::Batch& batch : data.batches.all) {
    for (size_t i = 1; i < batch.jobs.size(); ++i) {
      gaps.push_back(
          seconds(data.job(batch.jobs[i]).submit_us - data.job(batch.jobs[i - 1]).submit_us));
      numbers.push_back(static_cast<double>(batch.jobs.size()));
    }
  }
  if (gaps.empty()) {
    model.gap_s = quantiles_of({0});
    return;
  }
  model.gap_s = quantiles_of(gaps);
  const std::vector<double> scores = normal_scores(gaps), number_scores = normal_scores(numbers);
  GroupVarianceSplit shared;
  for (size_t i = 0; i < gaps.size();) {
    const auto size = static_cast<size_t>(numbers[i]) - 1;
    shared.add(std::span(scores).subspan(i, size));
    i += size;
  }
  model.gap_batch = shared.share();
  double products = 0, squares = 0;
  for (size_t i = 0; i < gaps.size(); ++i) {
    products += scores[i] * number_scores[i];
    squares += number_scores[i] * number_scores[i];
  }
  if (model.gap_batch <= 0 || squares <= 0) return;
  model.gap_with_jobs = std::clamp(products / squares / std::sqrt(model.gap_batch), -0.95, 0.95);
}

}  // namespace

const SizeClass& class_of(const WorkloadModel& model, int32_t gpus) {
  const auto it = std::ranges::lower_bound(model.classes, gpus, {}, &SizeClass::most_gpus);
  return it == model.classes.end() ? model.classes.back() : *it;
}

void SizeClassValues::score(std::vector<double>& scores) const {
  const std::vector<double> own = normal_scores(values);
  for (size_t i = 0; i < own.size(); ++i) scores[indices[i]] = own[i];
}

double owner_variance_share(const SubmissionBatches& batches, std::span<const double> scores) {
  std::vector<std::vector<double>> by_owner(static_cast<size_t>(batches.owners));
  for (size_t b = 0; b < scores.size(); ++b) {
    if (std::isnan(scores[b])) continue;
    by_owner[static_cast<size_t>(batches.all[b].owner)].push_back(scores[b]);
  }
  GroupVarianceSplit shared;
  for (const auto& group : by_owner) shared.add(group);
  return shared.share();
}

OwnerHabit fit_owner_habit(std::span<const ChoiceByOwner> choices) {
  constexpr int kRounds = 100;
  struct Likely {
    double last, own, any;
  };
  struct Record {
    int32_t last = -1;
    double count = 0;
    std::map<int32_t, double> of;
  };
  std::map<int32_t, Record> records;
  std::vector<Likely> likely;
  for (const ChoiceByOwner& choice : choices) {
    Record& record = records[choice.owner];
    double& before = record.of[choice.what];
    if (record.count > 0) {
      likely.push_back(
          {record.last == choice.what ? 1.0 : 0.0, before / record.count, choice.share});
    }
    before += 1;
    record.count += 1;
    record.last = choice.what;
  }
  if (likely.empty()) return {};
  OwnerHabit habit{1.0 / 3, 1.0 / 3};
  for (int round = 0; round < kRounds; ++round) {
    double of_last = 0, of_own = 0;
    for (const Likely& l : likely) {
      const double parts[] = {habit.last * l.last, habit.own * l.own,
                              (1 - habit.last - habit.own) * l.any};
      const double all = std::max(1e-300, parts[0] + parts[1] + parts[2]);
      of_last += parts[0] / all;
      of_own += parts[1] / all;
    }
    habit = {of_last / static_cast<double>(likely.size()),
             of_own / static_cast<double>(likely.size())};
  }
  return habit;
}

void fit_sizes_gaps_batch_jobs(FitData& data, WorkloadModel& model) {
  make_classes(data, model);
  fit_run_quantiles(data, model);
  fit_numbers(data, model);
  fit_gaps(data, model);
  std::vector<ChoiceByOwner> choices;
  for (const SubmissionBatches::Batch& batch : data.batches.all) {
    const auto size = std::ranges::find(model.sizes, batch.gpus, &SizeShare::gpus);
    choices.push_back({batch.owner, batch.gpus, size->share});
  }
  model.size_habit = fit_owner_habit(choices);
}

}  // namespace yard
