// Encodes fields of protocol buffer messages, for the few messages which are written without
// generated code.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace yard::wire {

enum Type : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

inline std::string encode_varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out += static_cast<char>(value);
}

inline std::string key(uint64_t field, Type type) { return encode_varint(field << 3 | type); }

inline std::string number(uint64_t field, int64_t value) {
  return key(field, kVarint) + encode_varint(static_cast<uint64_t>(value));
}

// Encodes a field whose value is a string, packed numbers or a message.
inline std::string bytes(uint64_t field, std::string_view value) {
  return key(field, kBytes).append(encode_varint(value.size())).append(value);
}

// Encodes a field whose value is a float or a double.
template <class T>
std::string float_field(uint64_t field, T value) {
  static_assert(std::endian::native == std::endian::little, "the format is little-endian");
  static_assert(sizeof value == 4 || sizeof value == 8);
  std::string raw(sizeof value, '\0');
  std::memcpy(raw.data(), &value, sizeof value);
  return key(field, sizeof value == 4 ? kFixed32 : kFixed64) + raw;
}

}  // namespace yard::wire
