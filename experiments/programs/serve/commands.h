// The commands of this program; argv[0] is the command's name.
#pragma once

namespace yard {

int run_serve(int argc, char** argv);
int run_decide(int argc, char** argv);
int run_log(int argc, char** argv);
int run_bench_served(int argc, char** argv);

}  // namespace yard
