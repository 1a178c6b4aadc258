// `log choices|fit`: what a decision log has to learn from, in files that need no Protobuf.
#pragma once

#include <cstdint>
#include <string>

namespace yard {

// Each prints what it found, as text or as one JSON document. Throws InputError.
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
