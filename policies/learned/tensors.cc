#include "policies/learned/tensors.h"

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "env/base/core/error.h"
#include "env/base/text/json_flaw.h"

namespace yard {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

Tensor read_tensor(const nlohmann::json& entry, std::string_view numbers,
                   const std::string& where) {
  if (entry.at("dtype") != "F32") throw InputError(where, "dtype F32", entry.at("dtype").dump());
  Tensor tensor;
  tensor.shape = entry.at("shape").get<std::vector<int64_t>>();
  const auto from = entry.at("data_offsets").at(0).get<uint64_t>();
  const auto to = entry.at("data_offsets").at(1).get<uint64_t>();
  uint64_t count = 1;
  for (const int64_t n : tensor.shape) {
    if (n < 0 || n > (1 << 28))
      throw InputError(where, "dimensions from 0 to 2^28", std::to_string(n));
    count *= static_cast<uint64_t>(n);
    if (count > (uint64_t{1} << 28)) throw InputError(where, "at most 2^28 numbers", "more");
  }
  if (from > to || to > numbers.size() || to - from != count * sizeof(float)) {
    throw InputError(where, "offsets of " + std::to_string(count) + " numbers inside the file",
                     std::to_string(from) + ".." + std::to_string(to));
  }
  tensor.data.resize(count);
  if (to > from) std::memcpy(tensor.data.data(), numbers.data() + from, to - from);
  return tensor;
}

}  // namespace

std::string to_safetensors(const Tensors& tensors) {
  nlohmann::ordered_json header;
  size_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    const size_t bytes = tensor.data.size() * sizeof(float);
    header[name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {at, at + bytes}}};
    at += bytes;
  }
  std::string text = header.is_null() ? "{}" : header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // aligns the numbers
  std::string out(8 + text.size() + at, '\0');
  const uint64_t length = text.size();
  std::memcpy(out.data(), &length, 8);
  std::memcpy(out.data() + 8, text.data(), text.size());
  char* to = out.data() + 8 + text.size();
  for (const auto& [name, tensor] : tensors) {
    if (tensor.data.empty()) continue;
    std::memcpy(to, tensor.data.data(), tensor.data.size() * sizeof(float));
    to += tensor.data.size() * sizeof(float);
  }
  return out;
}

Tensors from_safetensors(std::string_view bytes, const std::string& where) {
  uint64_t length = 0;
  if (bytes.size() >= 8) std::memcpy(&length, bytes.data(), 8);
  if (bytes.size() < 8 || length > bytes.size() - 8) {
    throw InputError(where, "a safetensors header", std::to_string(bytes.size()) + " bytes");
  }
  const std::string_view numbers = bytes.substr(8 + length);
  Tensors tensors;
  try {
    const auto header = nlohmann::json::parse(bytes.substr(8, length));
    for (const auto& [name, entry] : header.items()) {
      if (name != "__metadata__") {
        tensors[name] = read_tensor(entry, numbers, where + ": tensor " + name);
      }
    }
  } catch (const nlohmann::json::exception& e) {
    throw InputError(where, "a safetensors header", json_error_text(e));
  }
  return tensors;
}

}  // namespace yard
