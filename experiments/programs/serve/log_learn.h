// `log choices|fit`: converts a decision log to training data, in files that need no Protobuf.
#pragma once

#include <cstdint>
#include <string>

namespace yard {

// Both write the files, print counts as text or one JSON document, and return 0. Throw InputError.
struct ChoicesOptions {
  std::string log, agent = "dispatcher", task, out;
  bool json = false;
};
int log_choices(const ChoicesOptions& options);

struct FitOptions {
  std::string log, out;
  int draws = 1;
  uint64_t seed = 1;
  bool json = false;
};
int log_fit(const FitOptions& options);

}  // namespace yard
