// Converts the service's messages to and from proto3 JSON, for files and human readers.
#pragma once

#include <string>

#include "serving/snapshot/messages.h"

namespace yard {

// Parses the JSON of a snapshot. Throws InputError, which names the file `source`, for other text.
pb::DecideRequest parse_snapshot(const std::string& json, const std::string& source);

// Throws RunError if a string in the message is not UTF-8.
std::string to_json(const google::protobuf::Message& message);
std::string to_json_line(const google::protobuf::Message& message);

}  // namespace yard
