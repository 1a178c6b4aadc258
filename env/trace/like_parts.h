// The steps of generate_like(), one a file. Only for these files.
#pragma once

#include <vector>

#include "env/base/rng.h"
#include "env/trace/like.h"

namespace yard {

// So that microseconds stay far from the end of int64.
constexpr double kLongestLikeS = 1e9;

// Streams under the seed.
enum class LikeStream : uint64_t { kWho, kBatch, kOwner, kJobs, kStarts, kGaps, kSwings, kLevels };

// And under an owner's.
enum class OwnerStream : uint64_t { kNumber, kRun, kLimit, kTenant, kActivity };

inline Rng stream_of(const Rng& seed, LikeStream stream) {
  return seed.split(static_cast<uint64_t>(stream));
}

inline Rng stream_of(const Rng& seed, int32_t owner, OwnerStream stream) {
  return stream_of(seed, LikeStream::kOwner)
      .split(static_cast<uint64_t>(owner))
      .split(static_cast<uint64_t>(stream));
}

struct LikeBatch {
  int32_t owner = 0;
  int32_t gpus = 0;
  int32_t before = -1;         // the batch of this owner and size before it
  int32_t kind = -1;           // of model.kinds
  int64_t first = 0, end = 0;  // jobs
};

struct LikePlan {
  int32_t owners = 0;
  std::vector<LikeBatch> batches;  // by start
};

// Draws an index in proportion to weights.
class Pick {
 public:
  Pick() = default;
  explicit Pick(const std::vector<double>& weights) {
    for (const double weight : weights) add(weight);
  }
  void add(double weight) { sums_.push_back(weight + (sums_.empty() ? 0 : sums_.back())); }
  bool any() const { return !sums_.empty() && sums_.back() > 0; }
  size_t operator()(Rng& rng) const;  // Requires: any()

 private:
  std::vector<double> sums_;
};

// The owners of batches, one after the other, from 0.
class LikeOwners {
 public:
  LikeOwners(const LikeModel& model, const Rng& seed);
  int32_t next();
  int32_t number() const { return number_; }

 private:
  const LikeModel& model_;
  Rng seed_, rng_;
  Pick memory_, active_;
  std::vector<int32_t> of_;  // by batch
  int32_t number_ = 0;
};

// A span with its swings, in a time of its own in which batches come evenly: fast hours last longer
// there. It goes from 0 to 1.
class LikeTimes {
 public:
  LikeTimes(const LikeModel& model, double span_s, const Rng& seed);
  double span_s() const { return span_s_; }
  double time_s(double even) const;  // 0 to the span
  double level(double even) const;   // of the numbers of jobs of batches that begin then

 private:
  size_t hour(double even) const;
  double span_s_;
  std::vector<double> sums_ = {0};  // arrivals expected by the end of each hour
  std::vector<double> levels_;      // by hour
};

// Who submits how many jobs of which size, batch after batch, until there are `jobs`.
LikePlan plan_batches(const LikeModel& model, int64_t jobs, int32_t most_gpus,
                      const LikeTimes& times, const Rng& seed);

// How long the jobs of a plan run, batch by batch; some repeat an earlier one nearly to the second.
class LikeRuns {
 public:
  LikeRuns(const LikeModel& model, const LikePlan& plan, const Rng& seed);

  // Requires: the batches before were drawn. Returns what the batch's jobs have in common: a normal
  // score, times the root of the share of variance that this is.
  double draw(size_t batch, Rng& rng);

  double seconds(int64_t job) const;  // in whole steps of the model
  double score(int64_t job) const { return scores_[static_cast<size_t>(job)]; }

 private:
  const LikeModel& model_;
  const LikePlan& plan_;
  std::vector<double> owner_part_, batch_part_;
  std::vector<double> log_s_, scores_;  // by job
};

// Which tenth of the jobs, by run time, a score belongs to.
size_t length_of(double score);

// Fills everything of the jobs but when they come.
void fill_jobs(const LikeModel& model, const LikePlan& plan, const Rng& seed,
               std::vector<Job>& jobs);

// Fills submit_us: batches begin within the span, a few jobs may come after it.
void place_jobs(const LikeModel& model, const LikePlan& plan, const LikeTimes& times,
                const Rng& seed, std::vector<Job>& jobs);

}  // namespace yard
