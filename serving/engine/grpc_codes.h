// Codes of gRPC in refusals, for parts of the server that know nothing of gRPC.
#pragma once

#include <string>

#include "serving/snapshot/messages.h"

namespace yard {

inline constexpr int kInvalidArgument = 3, kNotFound = 5, kFailedPrecondition = 9,
                     kUnavailable = 14;

inline pb::Refusal refusal_of(int code, const std::string& why) {
  pb::Refusal out;
  out.set_code(code);
  out.set_message(why);
  return out;
}

}  // namespace yard
