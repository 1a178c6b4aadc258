// The commands of yardmaster-serve. argv[0] is the command's name. Each returns an exit code and
// throws InputError or RunError.
#pragma once

namespace yard {

int run_serve(int argc, char** argv);
int run_decide(int argc, char** argv);
int run_status(int argc, char** argv);
int run_reload(int argc, char** argv);
int run_models(int argc, char** argv);
int run_drift(int argc, char** argv);
int run_why(int argc, char** argv);
int run_decision_log(int argc, char** argv);
int run_slurm(int argc, char** argv);
int run_bench_served(int argc, char** argv);

}  // namespace yard
