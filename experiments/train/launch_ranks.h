// `--ranks N` on one machine: this process starts N copies of itself and waits for them.
#pragma once

namespace yard {

// Runs the command line `argv` as ranks 0 to n - 1. Returns the exit code of the first rank which
// failed, else 0. After a failure the other ranks have 20 s to exit, then they are killed. They are
// interrupted if this process is interrupted or killed. Throws RunError if a rank cannot be
// started.
int launch_ranks(int n, char** argv);

}  // namespace yard
