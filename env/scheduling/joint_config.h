// Settings of JointScheduler (joint.h), which the command `tune` can search.
#pragma once

#include <string>

#include "env/base/config/settings.h"

namespace yard {

struct JointConfig {
  bool preempt = true, move = true, hold = true, choose_type = true;
  double gpu_exponent = 1, margin_log2 = 1, cost_weight = 1, timer_s = 300;
  double rate_floor = 0.5, patience_s = 7200;
  double type_price = 0.3, interference_cost = 1, fragmentation = 0.1, preemption_penalty = 0.1,
         migration_penalty = 0.1, spread = 0;
  double move_gain_log2 = 0.5, move_cost = 2, settle_s = 600;
  // Adjustments by a job's relative remaining time (length), by its size, and by the queue length.
  double rate_by_length = 0, rate_by_size = 0, rate_by_queue = 0;
  double price_by_length = 0, price_by_size = 0, price_by_queue = 0;
  double hold_by_length = 0, hold_by_size = 0, hold_by_queue = 0;
  double margin_by_size = 0, margin_by_queue = 0;
  double order_by_gain = 0, order_by_wait = 0, order_by_size = 0;
  void fields(FieldList& f) {
    f("preempt", preempt, "allow waiting jobs to preempt running jobs");
    f("move", move, "allow migration of running jobs");
    f("hold", hold, "allow a job to wait for a better placement");
    f("choose_type", choose_type,
      "compare GPU types by speed; false: take the tightest placement of any type");
    f("gpu_exponent", gpu_exponent, 0.0, 2.0,
      "exponent of GPUs in a job's index, remaining seconds x GPUs^gpu_exponent");
    f("margin_log2", margin_log2, 0.0, 10.0,
      "log2 of the factor by which the index of a waiting job must be lower to preempt a running "
      "job");
    f("cost_weight", cost_weight, 0.0, 100.0,
      "multiple of the preemption cost to subtract from the index of a running job");
    f("timer_s", timer_s, 10.0, 86400.0, "interval between checks for jobs to preempt, in seconds");
    f("rate_floor", rate_floor, 0.01, 1.0,
      "share of a job's best rate below which a new job waits for a better placement");
    f("patience_s", patience_s, 1.0, 1e7,
      "seconds of waiting after which half of rate_floor suffices");
    f("type_price", type_price, 0.0, 2.0,
      "weight of a GPU type's mean rate, which keeps fast types for jobs that gain most");
    f("interference_cost", interference_cost, 0.0, 10.0,
      "weight of the interference cost per GPU of the placed job");
    f("fragmentation", fragmentation, 0.0, 2.0,
      "weight of GPUs left free on a placement's nodes, as a share of a node");
    f("preemption_penalty", preemption_penalty, 0.0, 5.0,
      "weight of preempted jobs' GPUs per GPU of the placed job");
    f("migration_penalty", migration_penalty, 0.0, 5.0,
      "weight of moved jobs' GPUs per GPU of the placed job");
    f("spread", spread, 0.0, 5.0,
      "penalty of a placement on more nodes than needed, in addition to its lower speed");
    f("move_gain_log2", move_gain_log2, 0.0, 5.0,
      "score by which a new placement must exceed the present placement for a move");
    f("move_cost", move_cost, 0.0, 100.0,
      "a move must shorten a job's remaining time by this multiple of its cost");
    const auto residual = [&f](const char* name, double& value, const std::string& help) {
      f(name, value, -2.0, 2.0, help.c_str());
    };
    const std::string long_job = " for a job with 8 times the mean time left";
    const std::string large_job = " for a job of 8 GPUs";
    const std::string busy = " when waiting jobs request all GPUs or more";
    const std::string speed = "additional weight of speed", price = "additional type_price";
    const std::string rate = "additional rate required, in doublings,";
    const std::string index = "doublings added to the index of a job";
    residual("rate_by_length", rate_by_length, speed + long_job);
    residual("rate_by_size", rate_by_size, speed + large_job);
    residual("rate_by_queue", rate_by_queue, speed + busy);
    residual("price_by_length", price_by_length, price + long_job);
    residual("price_by_size", price_by_size, price + large_job);
    residual("price_by_queue", price_by_queue, price + busy);
    residual("hold_by_length", hold_by_length, rate + long_job);
    residual("hold_by_size", hold_by_size, rate + large_job);
    residual("hold_by_queue", hold_by_queue, rate + busy);
    residual("margin_by_size", margin_by_size,
             "additional margin for a running job of 8 GPUs, in doublings; "
             "the margin is never below 0");
    residual("margin_by_queue", margin_by_queue, "additional margin, in doublings," + busy);
    residual("order_by_gain", order_by_gain,
             index + " that gains twice the mean from its best GPU type");
    residual("order_by_wait", order_by_wait,
             index + " that has waited an hour; ignored for preemption");
    residual("order_by_size", order_by_size, index + " of 8 GPUs" + busy);
    f("settle_s", settle_s, 0.0, 86400.0,
      "seconds that a job must run before it is moved or preempted again");
  }
};

}  // namespace yard
