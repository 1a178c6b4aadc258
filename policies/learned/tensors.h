// Named float tensors in the safetensors format: eight bytes of header length, a JSON header with
// type, shape and offsets of each tensor, then the numbers, little-endian.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace yard {

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<float> data;  // row-major
};

using Tensors = std::map<std::string, Tensor>;

std::string to_safetensors(const Tensors& tensors);

// Throws InputError naming `where` unless `bytes` are well-formed float32 tensors.
Tensors from_safetensors(std::string_view bytes, const std::string& where);

}  // namespace yard
