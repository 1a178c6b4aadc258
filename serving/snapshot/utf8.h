// Protobuf carries texts in UTF-8 only. Names of users and jobs may be in any encoding.
#pragma once

#include <google/protobuf/message.h>

#include <map>
#include <string>
#include <string_view>

namespace yard {

// Returns the text with each byte that is not part of UTF-8 written as \xNN.
std::string escaped_as_utf8(std::string_view text);

// Escapes all texts of the message. Returns the original of each text that changed, by its new
// form.
std::map<std::string, std::string> make_utf8(google::protobuf::Message& message);

}  // namespace yard
