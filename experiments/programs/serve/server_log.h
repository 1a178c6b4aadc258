// What a server says on standard error, as text or as one JSON object a line.
#pragma once

#include <string>

#include "serving/snapshot/messages.h"

namespace yard {

enum class LogFormat { kText, kJson };

// Makes spdlog::info() and the like write messages of the program `name` in `format`. A JSON
// line has the keys time (UTC, with milliseconds), level and message.
void start_log(const std::string& name, LogFormat format);

// Writes a line about an answer and the trace of its request; a JSON line has further keys for
// both. Never waits for the reader of standard error: if it reads too slowly, the oldest lines
// are lost. Thread-safe. Requires: start_log() was called.
void log_decision(const pb::DecideResponse& answer, const std::string& traceparent);

}  // namespace yard
