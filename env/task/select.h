// The task `select`: choose which of the first 128 waiting jobs, in order of submission, starts
// next, or that no further job starts. RLScheduler makes this decision (Zhang et al.,
// "RLScheduler", SC 2020); the features are Yardmaster's own. The reward is minus the number of
// jobs in the system, integrated over time. The expert starts the first job that fits, as `greedy`
// does. The task adds no prior to the scores of a network.
// Observation: J = 128 rows x F = 8 features, C = 4 cluster features, and a mask of J + 1 actions
// (action J starts no further job). A row is the sum of features fixed for its job
// and features common to all rows at the decision.
#pragma once

#include <cstdint>
#include <cstring>

#include "env/base/core/log2.h"
#include "env/sim/placement/placement_rules.h"
#include "env/sim/view/view.h"
#include "env/task/observation.h"
#include "env/task/rows.h"

namespace yard {

struct JobSelectionConfig {
  PlacementRule placement = PlacementRule::kFirstFit;
  int64_t tick_us = 300'000'000;  // time to the next decision if jobs wait and none runs
};

struct JobSelectionTask {
  using Config = JobSelectionConfig;
  static constexpr InformationLevel kLevel = InformationLevel::kEstimate;
  static constexpr int kJobs = 128;
  static constexpr int kActions = kJobs + 1;
  static constexpr int kNothing = kJobs;
  static constexpr int kJobFeatures = kRowFeatures;
  static constexpr int kClusterFeatures = 4;

  // select_info.cc describes the features.
  enum JobFeature { kExists, kGpus, kLimit, kHasLimit, kWaited, kLeft, kPressure, kNarrow };
  enum ClusterFeature { kFree, kWaiting, kHeld, kDemand };

  // The window of waiting jobs, kept between decisions.
  struct Window {
    struct Row {
      float features[kJobFeatures];  // part of the features that does not change
    };
    Row jobs[kJobs];
    int32_t slots[kJobs];
    int32_t gpus[kJobs];
    int64_t begin_us;  // begin of the episode, from which time features count
    int32_t rows;
    int32_t begun;
  };

  static ObservationShape shape(const Config&) { return {kJobs, kJobFeatures, kClusterFeatures}; }
  static InformationLevel level(const Config&) { return kLevel; }
  YARD_HD static size_t memory_bytes(const View&, const Config& = {}) { return sizeof(Window); }

  YARD_HD static bool on_events(const View& view, const Config& config, std::byte* memory) {
    Window& w = *reinterpret_cast<Window*>(memory);
    if (w.begun == 0) {
      w.begun = 1;
      w.begin_us = view.now_us();
    }
    int32_t next = w.rows == 0 ? view.queue_head() : view.queue_next(w.slots[w.rows - 1]);
    for (; next != kNone && w.rows < kJobs; next = view.queue_next(next)) append(view, next, w);
    return !idle(view, config);
  }

  // Requires: on_events() was called at this decision.
  YARD_HD static void observe(const View& view, const Config& config, std::byte* memory,
                              Observation& out) {
    const Window& w = *reinterpret_cast<const Window*>(memory);
    const float per_gpu = 1.0F / static_cast<float>(view.total_gpus());
    const float pressure = static_cast<float>(view.gpus_requested_by_waiting()) * per_gpu;
    const float free = static_cast<float>(view.free_gpus()) * per_gpu;
    float moment[kJobFeatures] = {};  // part of the features that is common to all rows
    moment[kWaited] = half_days_from_us(view.now_us() - w.begin_us);
    moment[kLeft] = free;
    moment[kPressure] = pressure;
    const int32_t rows = w.rows;
    add_to_each_row(w.jobs[0].features, moment, rows, out.jobs);
    memset(out.jobs + rows * kJobFeatures, 0,
           sizeof(float) * static_cast<size_t>(kJobs - rows) * kJobFeatures);
    memcpy(out.slots, w.slots, sizeof(int32_t) * static_cast<size_t>(rows));
    out.rows = rows;
    out.choices = mark_placeable(view, config, w, out.mask);
    memset(out.mask + rows, 0, static_cast<size_t>(kJobs - rows));
    // If no job runs and a waiting job fits, a job must start, since only the agent keeps jobs
    // waiting.
    out.mask[kNothing] = !(view.num_live() == view.num_waiting() && out.choices > 0);
    out.expert_action = first_legal_action(out.mask);
    out.cluster[kFree] = free;
    out.cluster[kWaiting] = log2_coarse(1.0 + view.num_waiting()) * 0.125F;
    out.cluster[kHeld] = log2_coarse(1.0 + view.num_holders()) * 0.125F;
    out.cluster[kDemand] = pressure;
  }

  YARD_HD static bool legal(const View& view, const Config& config, int32_t slot) {
    return view.phase(slot) == Phase::kWaiting && can_place(view, config.placement, slot);
  }

  // Returns whether there is nothing to choose. May return false if only kNothing is legal.
  YARD_HD static bool idle(const View& view, const Config&) {
    if (view.num_waiting() == 0) return true;
    return view.min_gpus_to_start() > view.free_gpus();
  }

  YARD_HD static int64_t wake_us(const View& view, const Config& config) {
    const bool none_runs =
        view.num_waiting() + view.num_blocked_by_dependencies() == view.num_live();
    return view.num_waiting() > 0 && none_runs ? view.now_us() + config.tick_us : kNever;
  }

  template <class Editor>
  YARD_HD static void apply(const View& view, const Config& config, std::byte* memory, int32_t slot,
                            Piece* scratch, Editor&& editor) {
    const int32_t n = place(view, config.placement, slot, scratch);
    Window& w = *reinterpret_cast<Window*>(memory);
    int32_t r = 0;
    while (w.slots[r] != slot) ++r;
    --w.rows;
    for (int32_t i = r; i < w.rows; ++i) {
      w.jobs[i] = w.jobs[i + 1];
      w.slots[i] = w.slots[i + 1];
      w.gpus[i] = w.gpus[i + 1];
    }
    // The next job of the queue moves up; find it before the queue forgets this job's position.
    const int32_t last = r == w.rows ? slot : w.slots[w.rows - 1];
    const int32_t next = w.rows < kJobs - 1 ? kNone : view.queue_next(last);
    editor.start(slot, scratch, n);
    if (next != kNone) append(view, next, w);
  }

 private:
  // Writes which rows of the window have a placement at present, and returns their number.
  YARD_HD static int32_t mark_placeable(const View& view, const Config& config, const Window& w,
                                        uint8_t* mask) {
    const int32_t rows = w.rows;
    if (config.placement == PlacementRule::kConsolidate || view.has_shapes()) {
      int32_t places = 0;
      for (int32_t r = 0; r < rows; ++r) {
        mask[r] = can_place(view, config.placement, w.slots[r]);
        places += mask[r];
      }
      return places;
    }
    return flag_values_at_most(w.gpus, rows, view.free_gpus(), mask);
  }

  // Returns the first legal action of the J rows, or kNothing. Tests eight bytes at a time.
  YARD_HD static int32_t first_legal_action(const uint8_t* mask) {
    for (int32_t r = 0; r < kJobs; r += 8) {
      uint64_t eight;
      memcpy(&eight, mask + r, sizeof eight);
      if (eight != 0) return r + lowest_set_bit_index(eight) / 8;
    }
    return kNothing;
  }

  YARD_HD static float half_days_from_us(int64_t us) {
    constexpr float kHalfDay = 43'200e6F;
    return static_cast<float>(us) * (1 / kHalfDay);
  }

  YARD_HD static void append(const View& view, int32_t slot, Window& w) {
    const int32_t r = w.rows++;
    const int64_t limit_us = view.limit_us(slot);
    const float gpus = static_cast<float>(view.gpus(slot)) / static_cast<float>(view.total_gpus());
    const bool limited = limit_us != kNone;
    w.slots[r] = slot;
    w.gpus[r] = view.gpus(slot);
    float* features = w.jobs[r].features;
    features[kExists] = 1;
    features[kGpus] = gpus;
    features[kLimit] =
        limited ? log2_coarse(1 + 1e-6 * static_cast<double>(limit_us)) * 0.0625F : 0;
    features[kHasLimit] = limited ? 1 : 0;
    features[kWaited] = -half_days_from_us(view.submit_us(slot) - w.begin_us);
    features[kLeft] = -gpus;
    features[kPressure] = 0;
    features[kNarrow] = (1 - gpus) * (1 - gpus);
  }
};

}  // namespace yard
