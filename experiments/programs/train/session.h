// One training from settings to a run folder: on rank 0 it writes the folder, on the others it only
// takes part.
#pragma once

#include <filesystem>
#include <string>

#include "agents/communicator.h"
#include "experiments/programs/train/setup.h"

namespace yard {

struct SessionOptions {
  std::string out, resume;  // one of them is empty
  int until = INT32_MAX;    // stops, to be resumed, after this update
  bool profile = false;
};

// Returns the folder of the best checkpoint. Throws InputError, RunError, or Interrupted when the
// state is saved and the training may be resumed.
std::filesystem::path run_session(const TrainingSetup& setup, const SessionOptions& options,
                                  Communicator& ranks);

}  // namespace yard
