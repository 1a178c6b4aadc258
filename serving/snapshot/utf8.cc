#include "serving/snapshot/utf8.h"

#include <fmt/format.h>

#include <vector>

#include "env/base/text/utf8.h"

namespace yard {
namespace {

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = utf8_character_length(text);
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
    const size_t bytes = utf8_character_length(text);
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
