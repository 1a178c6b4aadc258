// Conversion of messages to and from proto3 JSON, for files and people.
#pragma once

#include <string>

#include "serving/snapshot/messages.h"

namespace yard {

// Parses a snapshot file. Throws InputError naming `source`.
pb::DecideRequest parse_snapshot(const std::string& json, const std::string& source);

// Throws RunError if a string in the message is not UTF-8.
std::string to_json(const google::protobuf::Message& message);
std::string to_json_line(const google::protobuf::Message& message);

}  // namespace yard
