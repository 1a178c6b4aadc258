#include "serving/snapshot/utf8.h"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

namespace yard {
namespace {

// Returns the bytes of the character at the beginning of the text; 0: it is not UTF-8 (RFC 3629).
size_t character_bytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const size_t bytes = first >= 0xC2 && first <= 0xDF   ? 2
                       : first >= 0xE0 && first <= 0xEF ? 3
                       : first >= 0xF0 && first <= 0xF4 ? 4
                                                        : 0;
  if (bytes == 0 || bytes > text.size()) return 0;
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  // Neither longer than needed, nor half a surrogate pair, nor beyond U+10FFFF.
  const unsigned second = byte(1);
  const bool valid = (first != 0xE0 || second >= 0xA0) && (first != 0xED || second <= 0x9F) &&
                     (first != 0xF0 || second >= 0x90) && (first != 0xF4 || second <= 0x8F);
  return valid ? bytes : 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = character_bytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

class Escaper {
 public:
  void visit(google::protobuf::Message& message) {
    using Field = google::protobuf::FieldDescriptor;
    const google::protobuf::Reflection& access = *message.GetReflection();
    std::vector<const Field*> fields;
    access.ListFields(message, &fields);
    for (const Field* field : fields) {
      const bool text = field->type() == Field::TYPE_STRING;
      const bool nested = field->cpp_type() == Field::CPPTYPE_MESSAGE;
      if (!text && !nested) continue;
      if (!field->is_repeated()) {
        if (nested) {
          visit(*access.MutableMessage(&message, field));
        } else if (std::string now = access.GetString(message, field); escape(now)) {
          access.SetString(&message, field, std::move(now));
        }
        continue;
      }
      for (int i = 0; i < access.FieldSize(message, field); ++i) {
        if (nested) {
          visit(*access.MutableRepeatedMessage(&message, field, i));
        } else if (std::string now = access.GetRepeatedString(message, field, i); escape(now)) {
          access.SetRepeatedString(&message, field, i, std::move(now));
        }
      }
    }
  }

  std::map<std::string, std::string> originals;

 private:
  bool escape(std::string& text) {
    if (is_utf8(text)) return false;
    std::string now = escaped_as_utf8(text);
    originals.try_emplace(now, std::move(text));
    text = std::move(now);
    return true;
  }
};

}  // namespace

std::string escaped_as_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t bytes = character_bytes(text);
    if (bytes > 0) {
      out += text.substr(0, bytes);
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    }
    text.remove_prefix(bytes > 0 ? bytes : 1);
  }
  return out;
}

std::map<std::string, std::string> make_utf8(google::protobuf::Message& message) {
  Escaper escaper;
  escaper.visit(message);
  return std::move(escaper.originals);
}

}  // namespace yard
