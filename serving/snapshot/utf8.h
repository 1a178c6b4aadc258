// Escapes names of users and jobs, which may be in any encoding, for protobuf, which needs UTF-8.
#pragma once

#include <google/protobuf/message.h>

#include <map>
#include <string>
#include <string_view>

namespace yard {

// Returns the text with each byte that is not part of UTF-8 written as \xNN.
std::string escaped_as_utf8(std::string_view text);

// Escapes all texts of the message. Returns a map from the new form of each changed text to its
// original.
std::map<std::string, std::string> make_utf8(google::protobuf::Message& message);

}  // namespace yard
