// What users asked for, as a trace file or a generator tells it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace yard {

// Times count from the trace's own zero.
struct Job {
  std::string id;         // as in the trace; unique
  int64_t submit_us = 0;  // at least 0
  int64_t run_us = 0;     // on the GPUs asked for, undisturbed; at least 0
  int32_t gpus = 0;       // at least 1
  int32_t line = 0;       // in the file, from 1; 0: generated
  bool scored = true;     // false: warm-up, or arrivals that go on after the scored window
  int64_t limit_us = -1;  // the user's own limit; -1: the trace has none
  std::string user;       // empty: the trace has none
  std::string name;       // model or job name; empty: the trace has none
};

// Rows that were left out because the caller allowed it, by reason.
struct Skipped {
  std::string reason;
  int64_t count = 0;
  std::string first;  // where the first one stands, "jobs.csv:17"
};

struct Trace {
  std::string source;     // path, or "synthetic:NAME"
  std::string format;     // reader's or generator's name
  std::string sha256;     // of the uncompressed file; of a generator's parameters, seed and size
  std::vector<Job> jobs;  // by submit_us; equal ones in the order of the file
  std::vector<Skipped> skipped;
  std::optional<int64_t> epoch_unix_s;  // the calendar time of the trace's zero, where it is known
};

}  // namespace yard
