// One training run, from settings to a run folder. Only rank 0 writes the folder.
#pragma once

#include <filesystem>
#include <string>

#include "agents/ranks/communicator.h"
#include "experiments/train/training_setup.h"

namespace yard {

struct SessionOptions {
  std::string out, resume;  // run folders; one of them is empty
  int until = INT32_MAX;    // stops after this update, and can be resumed
  bool profile = false;
};

// Trains and returns the folder of the best checkpoint; empty on other ranks than 0. Throws
// InputError, RunError, or Interrupted after saving the state for a resume.
std::filesystem::path run_session(const TrainingSetup& setup, const SessionOptions& options,
                                  Communicator& ranks);

}  // namespace yard
