// `--ranks N` on one machine: this process starts N of itself and waits for them.
#pragma once

namespace yard {

// Runs the command line `argv` as ranks 0 to n - 1. Returns the exit code of the first that failed,
// else 0. When one fails the others are given time to say why they stop, then they are killed; when
// this process is interrupted or killed, they are interrupted.
int launch_ranks(int n, char** argv);

}  // namespace yard
