// A file in which a server keeps what operators changed about its models, over a restart.
#pragma once

#include <string>
#include <vector>

#include "yardmaster/v1/admin.pb.h"

namespace yard {

// A model as an operator left it. Versions are texts as for open_policy(); empty: none.
struct KeptModel {
  std::string name;
  std::string configured;  // version which the server's options name
  std::string current, candidate, previous;
  yardmaster::v1::Mode mode = yardmaster::v1::MODE_ON;
  double share = 0, turn_s = 0;  // of a canary
  double mode_unix_s = 0;        // when the mode was set
};

// Replaces the file. Throws RunError.
void write_kept_models(const std::string& path, const std::vector<KeptModel>& models);

// Returns the models in the file; none if there is no file. Throws InputError for a file that is
// damaged or cannot be read.
std::vector<KeptModel> read_kept_models(const std::string& path);

}  // namespace yard
