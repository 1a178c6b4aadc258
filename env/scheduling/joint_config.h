// Settings of joint decisions (joint.h), which a search tunes.
#pragma once

#include "env/base/config/settings.h"

namespace yard {

struct JointConfig {
  bool preempt = true, move = true, hold = true, choose_type = true;
  double gpu_exponent = 1, margin_log2 = 1, cost_weight = 1, timer_s = 300;
  double rate_floor = 0.5, patience_s = 7200;
  double type_price = 0.3, interference_cost = 1, left_over = 0.1, stop = 0.1, clear = 0.1,
         spread = 0;
  double move_gain_log2 = 0.5, move_cost = 2, settle_s = 600;
  // Adjustments by a job's remaining time compared with others, by its size, and by queue length.
  double rate_by_length = 0, rate_by_size = 0, rate_by_queue = 0;
  double price_by_length = 0, price_by_size = 0, price_by_queue = 0;
  double hold_by_length = 0, hold_by_size = 0, hold_by_queue = 0;
  double margin_by_size = 0, margin_by_queue = 0;
  double order_by_gain = 0, order_by_wait = 0, order_by_size = 0;
  void fields(FieldList& f) {
    f("preempt", preempt, "whether running jobs may be stopped for others");
    f("move", move, "whether running jobs may be moved");
    f("hold", hold, "whether a job may wait for a better place than there is");
    f("choose_type", choose_type,
      "whether GPU types differ to it; else it takes the tightest place");
    f("gpu_exponent", gpu_exponent, 0.0, 2.0, "the index is seconds x GPUs to this power");
    f("margin_log2", margin_log2, 0.0, 10.0,
      "by how many doublings better a job must be to preempt");
    f("cost_weight", cost_weight, 0.0, 100.0,
      "how many times what its preemption costs is taken off a running job's index");
    f("timer_s", timer_s, 10.0, 86400.0, "how often running jobs are looked at anew");
    f("rate_floor", rate_floor, 0.01, 1.0,
      "of the best rate, below which a job that has just arrived waits on");
    f("patience_s", patience_s, 1.0, 1e7, "after so long it is content with half of that");
    f("type_price", type_price, 0.0, 2.0,
      "how much a type costs by what it is to jobs on average; 1: all of it");
    f("harm", interference_cost, 0.0, 10.0, "of what those beside it lose, GPU for GPU");
    f("left_over", left_over, 0.0, 2.0, "of GPUs that stay free beside it, in parts of a node");
    f("stop", stop, 0.0, 5.0, "of GPUs of jobs that stop for it, over its own");
    f("clear", clear, 0.0, 5.0, "of GPUs of jobs that move for it, over its own");
    f("spread", spread, 0.0, 5.0, "of lying on more nodes than needed, beside its speed");
    f("move_gain_log2", move_gain_log2, 0.0, 5.0, "by how much more worth a place must be to move");
    f("move_cost", move_cost, 0.0, 100.0,
      "how many times what a move costs it has to gain in the time that it has left");
    const auto residual = [&f](const char* name, double& value, const char* help) {
      f(name, value, -2.0, 2.0, help);
    };
    residual("rate_by_length", rate_by_length, "more weight of speed for a job 8 times the mean");
    residual("rate_by_size", rate_by_size, "the same for one of 8 GPUs");
    residual("rate_by_queue", rate_by_queue,
             "the same where as many GPUs are waited for as there are");
    residual("price_by_length", price_by_length, "more price for a job 8 times the mean");
    residual("price_by_size", price_by_size, "the same for one of 8 GPUs");
    residual("price_by_queue", price_by_queue,
             "the same where as many GPUs are waited for as there are");
    residual("hold_by_length", hold_by_length,
             "doublings of rate by which a job 8 times the mean is harder to please");
    residual("hold_by_size", hold_by_size, "the same for one of 8 GPUs");
    residual("hold_by_queue", hold_by_queue,
             "the same where as many GPUs are waited for as there are");
    residual("margin_by_size", margin_by_size,
             "doublings more of margin for a running job of 8 GPUs; the margin is never below 0");
    residual("margin_by_queue", margin_by_queue,
             "the same where as many GPUs are waited for as there are");
    residual("order_by_gain", order_by_gain,
             "doublings by which who gains twice as much as the mean by the best type goes later");
    residual("order_by_wait", order_by_wait,
             "doublings by which who has waited an hour goes later; it stops nobody for that");
    residual("order_by_size", order_by_size,
             "doublings by which one of 8 GPUs goes later the more GPUs are waited for");
    f("settle_s", settle_s, 0.0, 86400.0, "for so long a job that was stopped or moved is let be");
  }
};

}  // namespace yard
