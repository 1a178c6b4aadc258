// The rules of the simulator that came with Tiresias (Gu et al., NSDI 2019), job for job: pure
// events in whole seconds, no costs, progress survives preemption. An end and an arrival at one
// time are one event: ends, then arrivals, then placement.
//
//   fifo          strict head of line         sjf           fewest GPUs first, preemptive
//   fjf           skips what does not fit     shortest      shortest remaining time, preemptive
//   dlas, ...     see tiresias_dlas.cc        shortest-gpu  shortest remaining time x GPUs
//
//   count  GPUs are counted, not placed: ours come from wherever they are free, in node order
//   yarn   see YarnPlacement; the dlas policies count whatever the placement
//
// Where this differs from the original, and why: under yarn with sjf and shortest* the original
// forgets to give back a node's memory when it places everybody anew, and stops with an error after
// some 51 placements a node; here it goes on. CPU and host memory are not counted (with 64 CPUs and
// 256 GB a node of up to 8 GPUs neither binds, up to 210 GPUs a job). A job of less than a second
// ends in an event of its own right after its start, where the original's fifo and fjf never end
// it.

#include <algorithm>
#include <cctype>
#include <optional>

#include "env/base/error.h"
#include "env/base/text.h"
#include "env/sim/tiresias_stage.h"

namespace yard {
namespace {

constexpr std::string_view kStarvation = "dlas-gpu-";

// --- fifo, fjf ----------------------------------------------------------------------------------

class Lines {
 public:
  Lines(const Replay& replay, TiresiasStage& stage, const YarnPlacement* yarn, bool skips)
      : stage_(stage),
        s_(stage.state()),
        jobs_(replay.fixed.jobs),
        yarn_(yarn),
        skips_(skips),
        pieces_(static_cast<size_t>(replay.fixed.spec.num_nodes)),
        agenda_block_(Agenda::bytes(replay.end_job - replay.first_job)),
        ends_(Agenda::at(agenda_block_.data(), replay.end_job - replay.first_job)) {
    ends_.clear(replay.end_job - replay.first_job);
  }

  void run() {
    while (!stage_.done()) {
      const int64_t now_s = std::min(ends_.next_us(), stage_.arrival_s());
      if (now_s == kNever) stage_.stuck();
      stage_.begin_event(now_s);
      while (ends_.next_us() == now_s) {
        const int32_t slot = ends_.top();
        ends_.remove(slot);
        stage_.finish(slot);
      }
      while (stage_.arrival_s() == now_s) stage_.arrive();
      skips_ ? place_what_fits() : place_head();
      stage_.end_event();
    }
  }

 private:
  bool start(int32_t slot) {
    if (s_.gpus[slot] > s_.head->free_gpus) return false;
    if (yarn_ == nullptr) {
      stage_.start_anywhere(slot);
    } else {
      const int32_t n = yarn_->place(s_.free_count, s_.gpus[slot], pieces_.data());
      if (n == 0) return false;
      stage_.start(slot, pieces_.data(), n);
    }
    ends_.put(slot, s_.job[slot], stage_.now_s() + stage_.run_s(slot));
    return true;
  }

  void place_head() {
    while (s_.head->queue_head != kNone && start(s_.head->queue_head)) {
    }
  }

  // In order of arrival. While GPUs only get fewer, a size that found no place finds none.
  void place_what_fits() {
    blocked_.assign(static_cast<size_t>(jobs_.num_classes), 0);
    while (s_.head->free_gpus > 0) {
      int32_t next = kNone;
      for (int32_t k = 0; k < jobs_.num_classes; ++k) {
        if (jobs_.class_gpus[k] > s_.head->free_gpus) break;
        const int32_t head = s_.class_head[k];
        if (head == kNone || blocked_[static_cast<size_t>(k)]) continue;
        if (next == kNone || s_.queue_rank[head] < s_.queue_rank[next]) next = head;
      }
      if (next == kNone) return;
      if (!start(next)) blocked_[static_cast<size_t>(s_.size_class[next])] = 1;
    }
  }

  TiresiasStage& stage_;
  const ClusterState& s_;
  const JobColumns& jobs_;
  const YarnPlacement* yarn_;
  bool skips_;
  std::vector<Piece> pieces_;
  std::vector<char> blocked_;  // (K)
  std::vector<std::byte> agenda_block_;
  Agenda ends_;  // in seconds
};

// --- which rules --------------------------------------------------------------------------------

// Reads the N of dlas-gpu-N; the original writes 0.5 as "05".
std::optional<double> parse_starvation(std::string_view text) {
  const bool fraction = text.size() > 1 && text[0] == '0' && std::isdigit(text[1]) != 0;
  const auto value =
      fraction ? parse_double("0." + std::string(text.substr(1))) : parse_double(text);
  return value && *value > 0 && *value <= 1e9 ? value : std::nullopt;
}

class Tiresias final : public Pacing {
 public:
  explicit Tiresias(const Settings& settings) { parse<NoConfig>(settings); }

  Outcome replay(const Replay& replay) const override {
    parse<NoConfig>(replay.settings);
    const std::string& policy = replay.policy;
    const bool is_yarn = replay.placement == "yarn" || replay.placement.empty();
    if (!is_yarn && replay.placement != "count") {
      throw InputError("placement of the tiresias rules", "count or yarn",
                       "'" + replay.placement + "'");
    }
    TiresiasStage stage(replay);
    if (policy.starts_with("dlas")) {
      return replay_dlas(stage, dlas_mode(policy), replay.fixed);
    }
    std::optional<YarnPlacement> yarn;
    if (is_yarn) yarn.emplace(replay.fixed.spec);
    const YarnPlacement* placement = yarn ? &*yarn : nullptr;
    if (policy == "fifo" || policy == "fjf") {
      Lines(replay, stage, placement, policy == "fjf").run();
      return stage.take_outcome();
    }
    if (policy == "sjf") return replay_sorted(stage, SortedBy::kGpus, replay.fixed.spec, placement);
    if (policy == "shortest") {
      return replay_sorted(stage, SortedBy::kLeft, replay.fixed.spec, placement);
    }
    if (policy == "shortest-gpu") {
      return replay_sorted(stage, SortedBy::kLeftGpus, replay.fixed.spec, placement);
    }
    throw unknown(policy);
  }

 private:
  static InputError unknown(const std::string& policy) {
    return {"policy of the tiresias rules",
            "one of: fifo, fjf, sjf, shortest, shortest-gpu, dlas, dlas-gpu, dlas-gpu-N",
            "'" + policy + "'"};
  }

  static DlasMode dlas_mode(const std::string& policy) {
    if (policy == "dlas") return {};
    if (policy == "dlas-gpu") return {.gpu_time = true};
    if (policy.starts_with(kStarvation)) {
      const auto n = parse_starvation(std::string_view(policy).substr(kStarvation.size()));
      if (n) return {.gpu_time = true, .starvation = *n};
    }
    throw unknown(policy);
  }
};

const PacingRegistry::Add<Tiresias> kTiresias{
    "tiresias",
    {.about = "events in whole seconds, no costs, no slowdown",
     .source = "Tiresias, NSDI 2019",
     .fidelity =
         "job for job, its bugs in dlas included; yarn with sjf and shortest* goes on where "
         "the original runs out of the memory that it forgot to give back",
     .policies = {"fifo", "fjf", "sjf", "shortest", "shortest-gpu", "dlas", "dlas-gpu",
                  "dlas-gpu-N"},
     .placements = {"yarn", "count"},
     .oracles = {"shortest", "shortest-gpu"}}};

}  // namespace
}  // namespace yard
