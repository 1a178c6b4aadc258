// A text hash which is equal on every machine and in every run, for random draws keyed by a name.
#pragma once

#include <cstdint>
#include <string_view>

namespace yard {

inline uint64_t hash_text(std::string_view text) {  // FNV-1a
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

}  // namespace yard
