// Reads protobuf messages without their descriptors. Results are views into the message.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace yard::testing {

class ProtobufFields {
 public:
  explicit ProtobufFields(std::string_view message) {
    while (!message.empty()) {
      const uint64_t key = varint(message);
      Field field{key >> 3, 0, {}};
      switch (key & 7) {
        case 0:
          field.number = varint(message);
          break;
        case 2:
          field.bytes = take(message, varint(message));
          break;
        case 5:
          field.bytes = take(message, 4);
          break;
        default:
          ADD_FAILURE() << "wire type " << (key & 7);
          return;
      }
      fields_.push_back(field);
    }
  }

  // Return the values of all fields with this id, in order: texts or messages; numbers.
  std::vector<std::string_view> bytes(uint64_t id) const {
    std::vector<std::string_view> out;
    for (const Field& field : fields_) {
      if (field.id == id) out.push_back(field.bytes);
    }
    return out;
  }
  std::vector<int64_t> numbers(uint64_t id) const {
    std::vector<int64_t> out;
    for (const Field& field : fields_) {
      if (field.id == id) out.push_back(static_cast<int64_t>(field.number));
    }
    return out;
  }

  // Returns the only field with this id. Fails the test and returns "" if there is not exactly one.
  std::string_view one(uint64_t id) const {
    const auto all = bytes(id);
    EXPECT_EQ(all.size(), 1u) << "field " << id;
    return all.size() == 1 ? all[0] : std::string_view();
  }

 private:
  struct Field {
    uint64_t id, number;
    std::string_view bytes;
  };

  static std::string_view take(std::string_view& from, uint64_t count) {
    EXPECT_LE(count, from.size()) << "a message that ends early";
    const std::string_view out = from.substr(0, count);
    from.remove_prefix(out.size());
    return out;
  }
  static uint64_t varint(std::string_view& from) {
    uint64_t out = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::string_view byte = take(from, 1);
      if (byte.empty()) break;
      out |= static_cast<uint64_t>(byte[0] & 0x7F) << shift;
      if ((byte[0] & 0x80) == 0) break;
    }
    return out;
  }

  std::vector<Field> fields_;
};

}  // namespace yard::testing
