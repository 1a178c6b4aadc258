// Messages as the proto3 JSON that people read and files hold.
#pragma once

#include <string>

#include "serving/messages.h"

namespace yard {

// Parses a snapshot file. Throws InputError naming `source`.
pb::DecideRequest parse_snapshot(const std::string& json, const std::string& source);

// Throws RunError where a text in the message is no UTF-8.
std::string to_json(const google::protobuf::Message& message);

// The same without line breaks.
std::string to_json_line(const google::protobuf::Message& message);

}  // namespace yard
