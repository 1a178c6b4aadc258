#include "policies/learned/golden.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "env/base/core/error.h"
#include "env/base/text/text.h"

namespace yard {

Observation GoldenState::observation() {
  Observation o{};
  o.jobs = jobs.data();
  o.cluster = cluster.data();
  o.mask = mask.data();
  o.prior = prior.data();
  o.slots = slots.data();
  o.rows = rows;
  return o;
}

double GoldenState::max_logit_difference(std::span<const float> other_logits) const {
  double largest = 0;
  for (size_t a = 0; a < logits.size(); ++a) {
    if (mask[a] == 0) continue;
    if (!std::isfinite(other_logits[a])) return std::numeric_limits<double>::infinity();
    largest = std::max<double>(largest, std::abs(other_logits[a] - logits[a]));
  }
  return largest;
}

Tensors pack_golden(const std::vector<GoldenState>& states, const ObservationShape& shape) {
  const auto g = static_cast<int64_t>(states.size());
  Tensors out;
  out["jobs"].shape = {g, shape.rows, shape.row_features};
  out["cluster"].shape = {g, shape.cluster_features};
  for (const char* name : {"mask", "prior", "logits"}) out[name].shape = {g, shape.actions()};
  out["rows"].shape = {g};
  const auto add = [&out](const char* name, const auto& values) {
    auto& data = out[name].data;
    data.insert(data.end(), values.begin(), values.end());
  };
  for (const GoldenState& s : states) {
    add("jobs", s.jobs);
    add("cluster", s.cluster);
    add("mask", s.mask);
    add("prior", s.prior);
    add("logits", s.logits);
    out["rows"].data.push_back(static_cast<float>(s.rows));
  }
  return out;
}

std::vector<GoldenState> unpack_golden(const Tensors& tensors, const ObservationShape& shape,
                                       const std::string& where) {
  const auto rows = tensors.find("rows");
  if (rows == tensors.end() || rows->second.shape.size() != 1) {
    throw InputError(where, "a tensor rows of shape (states)", "none");
  }
  const auto g = static_cast<size_t>(rows->second.shape[0]);
  const auto part = [&](const char* name, size_t i, size_t width) {
    const auto it = tensors.find(name);
    if (it == tensors.end() || it->second.data.size() != g * width) {
      throw InputError(where,
                       "a tensor " + std::string(name) + " of " + std::to_string(g) + " x " +
                           std::to_string(width),
                       it == tensors.end() ? "none" : "another size");
    }
    const auto from = it->second.data.begin() + static_cast<int64_t>(i * width);
    return std::vector<float>(from, from + static_cast<int64_t>(width));
  };
  std::vector<GoldenState> out(g);
  for (size_t i = 0; i < g; ++i) {
    GoldenState& s = out[i];
    const auto max_rows = static_cast<size_t>(shape.rows);
    const auto actions = static_cast<size_t>(shape.actions());
    s.jobs = part("jobs", i, max_rows * static_cast<size_t>(shape.row_features));
    s.cluster = part("cluster", i, static_cast<size_t>(shape.cluster_features));
    s.prior = part("prior", i, actions);
    s.logits = part("logits", i, actions);
    const auto mask = part("mask", i, actions);
    s.mask.assign(mask.begin(), mask.end());
    s.slots.assign(max_rows, -1);
    const float n = part("rows", i, 1)[0];
    if (!(n >= 0 && n <= static_cast<float>(shape.rows))) {
      throw InputError(where, "rows in [0, " + std::to_string(shape.rows) + "]", shortest_text(n));
    }
    s.rows = static_cast<int32_t>(n);
  }
  return out;
}

}  // namespace yard
