// Commands of the program yardmaster-train. argv[0]: command name. Each returns an exit code.
#pragma once

namespace yard {

int run_train(int argc, char** argv);
int run_sweep(int argc, char** argv);
int run_verify_inference(int argc, char** argv);
int run_list_training_components(int argc, char** argv);  // lists agents, learners, networks, tasks
int run_bench_ppo(int argc, char** argv);

}  // namespace yard
