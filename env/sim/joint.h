// One decision about order, type, place, preemption and moves together. Jobs that wait are asked in
// the order of an index, each of them what is best of its options (env/sim/options.h) or whether it
// waits on for something better; then those that run and would run better elsewhere.
//
//   worth of an option = log2(rate / best rate)                    how fast it is there
//                      - price log2(what the type is to jobs)      who needs a fast type gets it
//                      - harm, fragments, stops, moves, each times its weight
//   it waits on while the best worth < that of its ideal place + log2(rate_floor) - waited/patience
//   and there is a better place for it, or the best would stop or move others
//
// Whoever decides, a rule or a network, picks from the same options:
//
//   Joint::follow(view, memory);
//   Joint joint(config, view, memory, &draft);
//   joint.open(seconds_left);
//   while (joint.next() != kNone) joint.take(joint.suggested());
//   joint.close();
//
// What is in the making lies in the memory, so that it can be taken up again from there.
#pragma once

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "env/base/carver.h"
#include "env/sim/foretell.h"
#include "env/sim/joint_config.h"
#include "env/sim/options.h"
#include "env/sim/plan.h"

namespace yard {

class Joint {
 public:
  static constexpr int32_t kStay = -1;  // a pick: it waits on, or stays where it is

  static size_t bytes(const View& view);

  // Takes in what has happened since the last decision, whether or not there is one to make now.
  static void follow(const View& view, std::byte* memory);

  // Requires: all outlive this; `draft` may be null where nothing is taken.
  Joint(const JointConfig& config, const View& view, std::byte* memory, Draft* draft);
  Joint(const Joint&) = delete;
  Joint& operator=(const Joint&) = delete;

  // Who is asked in the decision that lies in the memory, as asked() says.
  static int32_t asked(const View& view, const std::byte* memory);

  // Begins a decision. `seconds`: how long a job, by its slot, would still run on its reference
  // type. Requires: follow() at this moment. What comes below requires open() at this moment, with
  // this memory.
  void open(const std::function<double(int32_t)>& seconds);

  // Goes on to the next job that has options, and returns it; kNone: that were all.
  int32_t next();
  // The job that is asked: next()'s, or the one that was asked when the memory was left; kNone
  // before the first and after the last.
  int32_t asked() const { return now_.asked; }
  // Lists the options of the job that was asked when the memory was left.
  void look();
  const std::vector<Option>& options() const { return choices_; }
  double worth(size_t option) const { return worths_[option]; }
  // What an option has to be worth to be better than to stay.
  double worth_of_staying() const { return staying_; }
  int32_t suggested() const { return suggested_; }
  // Whether it may wait on, or stay. Not where nobody runs: nothing would ever happen; nor where
  // there are no places to compare.
  bool may_stay() const;

  // Carries the pick out. One that cannot be carried out is taken out of the options, and the next
  // best is; there may be none.
  void take(int32_t pick);

  // Ends the decision: jobs that stop do so before others start; says when to look again.
  void close();
  int64_t look_again_us() const;

  // What a job that waits or holds GPUs is beside the others.
  struct Standing {
    double best;      // rate, of the best type
    double left_s;    // at that
    double length;    // log8 of that over the mean
    double gain;      // log2 of the best rate over that of a mean type, beside the others'
    double held_key;  // of those who held GPUs when the decision began
    bool held;        // whether it did
  };
  const Standing& standing(int32_t slot) const { return at_.standing[slot]; }
  double type_log2(int32_t type) const { return at_.type_log2[type]; }  // mean rate over the best
  double queue() const { return now_.queue; }  // GPUs waited for over all that there are, at most 1
  double size(int32_t slot) const;             // log8 of its GPUs
  bool moves_asked() const { return now_.running; }
  int32_t number_asked() const {
    return now_.line;
  }  // of the question, among those to whom it is put

 private:
  using Rank = std::pair<double, int32_t>;  // lower goes first; equal keys by submission

  struct Place {
    double key;
    int32_t serial, slot;
    Rank rank() const { return {key, serial}; }
  };
  // How far the decision is.
  struct Now {
    double queue;
    int64_t settles_us;  // when the first that may gain by a move has settled
    int32_t line, of;    // in the line: who is asked next, and how many stand there
    int32_t asked;
    bool running;     // those that run are asked
    bool holds_back;  // somebody waits for better than there is
    bool differs;     // types or places do
  };
  struct Columns {
    Now* now;            // (1)
    int64_t* since_us;   // (S) running jobs: since when
    Standing* standing;  // (S)
    double* type_log2;   // (types)
    Place* line;         // (S)
  };
  static Columns columns(const View& view, std::byte* memory);

  Rank held_rank(int32_t slot) const { return {standing(slot).held_key, view_.serial(slot)}; }
  Rank waiting_rank(int32_t slot) const;
  Rank stopping_rank(int32_t slot) const;
  double key(int32_t slot, double seconds) const;
  double cost_s(int32_t slot) const;
  bool settled(int32_t slot) const;
  bool comes_after(int32_t a, int32_t b) const;

  void compare(const std::vector<int32_t>& live);
  void weigh_types(const std::vector<int32_t>& live);
  void line_up_waiting();
  void line_up_running();
  void judge();

  double worth_of_place(int32_t slot, int32_t type, double rate, double harm) const;
  double worth_of(int32_t slot, const Option& option) const;
  double ideal(int32_t slot) const;
  bool could_gain(const Option& option) const;
  double least_worth(int32_t slot) const;
  bool carry_out(int32_t slot, const Option& option);
  bool try_out(int32_t slot, const Option& option);
  bool start(int32_t slot, const std::vector<Piece>& pieces);
  void stand_again(const std::vector<int32_t>& stopped);

  const JointConfig& config_;
  const View& view_;
  Columns at_;
  Now& now_;
  Draft* draft_;
  Foretell foretell_;
  Options generator_;
  std::set<int32_t> hopeless_;  // classes of equal requests that find no option
  std::vector<Option> choices_;
  std::vector<double> worths_;
  Rank asked_rank_;  // of the job that is asked, where it waits
  double staying_ = 0;
  int32_t suggested_ = kStay;
};

}  // namespace yard
