// Runs one training, from settings to a run folder. Only the process of rank 0 writes the folder.
#pragma once

#include <filesystem>
#include <string>

#include "agents/ranks/communicator.h"
#include "experiments/train/training_setup.h"

namespace yard {

struct SessionOptions {
  std::string out, resume;  // run folder to create or resume; one is empty
  int until = INT32_MAX;    // update after which to stop for a resume
  bool profile = false;
};

// Trains and returns the folder of the best checkpoint; ranks above 0 return an empty path. Throws
// InputError, RunError, or Interrupted after saving the state for a resume.
std::filesystem::path train_best_checkpoint(const TrainingSetup& setup,
                                            const SessionOptions& options, Communicator& ranks);

}  // namespace yard
