#include "agents/train/training_state.h"

#include <sstream>

#include "env/base/core/error.h"
#include "env/base/files/file.h"

namespace yard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kList = "files.json";  // name -> sha256

using torch::serialize::InputArchive;
using torch::serialize::OutputArchive;

std::string bytes_of(OutputArchive& archive) {
  std::ostringstream out;
  archive.save_to(out);
  return out.str();
}

template <class Load>
void load(const std::string& bytes, const std::string& where, Load&& load_from) {
  try {
    std::istringstream in(bytes);
    InputArchive archive;
    archive.load_from(in);
    load_from(archive);
  } catch (const c10::Error& e) {
    throw InputError(where, "a training state with these settings", e.what_without_backtrace());
  }
}

// LibTorch keys a parameter's state by its address, which is text before version 2.
template <class States>
auto key_of(const States&, const torch::Tensor& parameter) {
  if constexpr (std::is_same_v<typename States::key_type, std::string>) {
    return c10::guts::to_string(parameter.unsafeGetTensorImpl());
  } else {
    return static_cast<void*>(parameter.unsafeGetTensorImpl());
  }
}

}  // namespace

void write_state(const StateFiles& files, const fs::path& folder) {
  AtomicDirectory out(folder);
  Json list;
  for (const auto& [name, bytes] : files) {
    write_file_atomic(out.temporary_path() / name, bytes);
    list[name] = sha256_hex(bytes);
  }
  write_file_atomic(out.temporary_path() / kList, list.dump(2) + "\n");
  out.commit();
}

StateFiles read_state(const fs::path& folder) {
  const fs::path list_file = folder / kList;
  if (!fs::exists(list_file)) {
    throw InputError(folder.string(), "a saved training state", "none");
  }
  const Json list = Json::parse(read_file(list_file), nullptr, false);
  if (!list.is_object()) {
    throw InputError(list_file.string(), "a JSON object with the files of a training state",
                     "something else");
  }
  StateFiles out;
  for (const auto& [name, hash] : list.items()) {
    std::string bytes = read_file(folder / name);
    const std::string got = sha256_hex(bytes);
    if (hash != got) {
      throw InputError((folder / name).string(), "sha256 " + hash.dump() + " as in " + kList, got);
    }
    out[name] = std::move(bytes);
  }
  return out;
}

std::string join_state(const StateFiles& files) {
  Json all = Json::object();
  for (const auto& [name, bytes] : files) all[name] = Json::binary({bytes.begin(), bytes.end()});
  const std::vector<uint8_t> packed = Json::to_cbor(all);
  return {packed.begin(), packed.end()};
}

StateFiles split_state(const std::string& joined) {
  StateFiles out;
  const Json all = Json::from_cbor(joined);
  for (const auto& [name, bytes] : all.items()) {
    const auto& binary = bytes.get_binary();
    out[name] = std::string(binary.begin(), binary.end());
  }
  return out;
}

std::string to_archive(const torch::nn::Module& module) {
  OutputArchive archive;
  module.save(archive);
  return bytes_of(archive);
}

std::string to_archive(torch::optim::Adam& adam) {
  OutputArchive archive;
  const auto& parameters = adam.param_groups()[0].params();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto found = adam.state().find(key_of(adam.state(), parameters[i]));
    if (found == adam.state().end()) continue;  // before the first step
    const auto& state = static_cast<const torch::optim::AdamParamState&>(*found->second);
    const std::string name = std::to_string(i);
    archive.write(name + ".step", torch::tensor(state.step(), torch::kInt64), true);
    archive.write(name + ".exp_avg", state.exp_avg(), true);
    archive.write(name + ".exp_avg_sq", state.exp_avg_sq(), true);
  }
  return bytes_of(archive);
}

void from_archive(const std::string& bytes, torch::nn::Module& module, const std::string& where) {
  // LibTorch accepts tensors of any shape, so compare shapes here.
  std::vector<std::vector<int64_t>> shapes;
  for (const auto& p : module.parameters()) shapes.push_back(p.sizes().vec());
  load(bytes, where, [&](InputArchive& archive) { module.load(archive); });
  size_t i = 0;
  for (const auto& p : module.parameters()) {
    if (p.sizes() != shapes[i++]) {
      throw InputError(where, "weights of a network with these settings", "another shape");
    }
  }
}

void from_archive(const std::string& bytes, torch::optim::Adam& adam, const std::string& where) {
  adam.state().clear();
  load(bytes, where, [&](InputArchive& archive) {
    const auto& parameters = adam.param_groups()[0].params();
    for (size_t i = 0; i < parameters.size(); ++i) {
      const std::string name = std::to_string(i);
      torch::Tensor step, mean, square;
      if (!archive.try_read(name + ".step", step, true)) continue;
      archive.read(name + ".exp_avg", mean, true);
      archive.read(name + ".exp_avg_sq", square, true);
      if (mean.sizes() != parameters[i].sizes() || square.sizes() != parameters[i].sizes()) {
        throw InputError(where, "optimiser moments of a network with these settings",
                         "another shape");
      }
      auto state = std::make_unique<torch::optim::AdamParamState>();
      state->step(step.item<int64_t>());
      state->exp_avg(mean);
      state->exp_avg_sq(square);
      adam.state()[key_of(adam.state(), parameters[i])] = std::move(state);
    }
  });
}

std::string pack_states(const std::vector<GoldenState>& states) {
  Tensors out;
  const auto add = [&](const char* name, const auto& values) {
    auto& data = out[name].data;
    data.insert(data.end(), values.begin(), values.end());
  };
  for (const GoldenState& s : states) {
    add("jobs", s.jobs);
    add("cluster", s.cluster);
    add("mask", s.mask);
    add("prior", s.prior);
    out["rows"].data.push_back(static_cast<float>(s.rows));
  }
  const auto g = static_cast<int64_t>(states.size());
  for (auto& [name, tensor] : out) {
    tensor.shape = {g, static_cast<int64_t>(tensor.data.size()) / g};
  }
  return to_safetensors(out);
}

std::vector<GoldenState> unpack_states(const std::string& bytes, const ObservationShape& shape,
                                       const std::string& where) {
  const Tensors tensors = from_safetensors(bytes, where);
  const auto rows = tensors.find("rows");
  const size_t states = rows == tensors.end() ? 0 : rows->second.data.size();
  const auto part = [&](const char* name, size_t i, int32_t width) {
    const auto it = tensors.find(name);
    const auto w = static_cast<size_t>(width);
    if (it == tensors.end() || it->second.data.size() != states * w) {
      throw InputError(where, "golden states of this agent",
                       "a tensor " + std::string(name) + " missing or of another size");
    }
    const auto from = it->second.data.begin() + static_cast<int64_t>(i * w);
    return std::vector<float>(from, from + width);
  };
  std::vector<GoldenState> out(states);
  for (size_t i = 0; i < states; ++i) {
    GoldenState& s = out[i];
    s.jobs = part("jobs", i, shape.rows * shape.row_features);
    s.cluster = part("cluster", i, shape.cluster_features);
    s.prior = part("prior", i, shape.actions());
    const auto mask = part("mask", i, shape.actions());
    s.mask.assign(mask.begin(), mask.end());
    s.slots.assign(static_cast<size_t>(shape.rows), 0);
    s.rows = static_cast<int32_t>(part("rows", i, 1)[0]);
  }
  return out;
}

}  // namespace yard
