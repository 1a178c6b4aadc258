// The trace context of a request as W3C defines it: header or metadata "traceparent", such as
// 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 (version, trace, span, flags).
#pragma once

#include <string>
#include <string_view>

namespace yard {

inline constexpr const char* kTraceparent = "traceparent";

// Returns the text if it is a valid trace context, else an empty one: W3C has receivers ignore it.
std::string valid_traceparent(std::string_view text);

// Whether the caller records this trace. Requires: a valid trace context.
bool is_sampled(std::string_view traceparent);

}  // namespace yard
