#include "policies/learned/recorded_choices.h"

#include <algorithm>

#include "env/base/core/error.h"

namespace yard {
namespace {

// Floats represent all integers up to here exactly.
constexpr int64_t kMaxExactFloat = int64_t{1} << 24;

template <class T>
Tensor column(const std::vector<T>& values) {
  return {{static_cast<int64_t>(values.size())}, std::vector<float>(values.begin(), values.end())};
}

class Unpacker {
 public:
  Unpacker(const Tensors& tensors, const std::string& where) : tensors_(tensors), where_(where) {}

  const Tensor& tensor(const char* name, const std::vector<int64_t>& shape) const {
    const auto it = tensors_.find(name);
    std::string expected = std::string("a tensor ") + name + " of shape";
    for (const int64_t n : shape) expected += " " + (n < 0 ? "any" : std::to_string(n));
    if (it == tensors_.end()) throw InputError(where_, expected, "none");
    bool fits = it->second.shape.size() == shape.size();
    std::string got;
    for (size_t d = 0; d < it->second.shape.size(); ++d) {
      got += " " + std::to_string(it->second.shape[d]);
      fits = fits && (shape[d] < 0 || shape[d] == it->second.shape[d]);
    }
    if (!fits) throw InputError(where_, expected, "shape" + got);
    return it->second;
  }

  std::vector<int32_t> integers(const char* name, int64_t length, int32_t max_value) const {
    std::vector<int32_t> out;
    for (const float value : tensor(name, {length}).data) {
      if (!(value >= 0 && value <= static_cast<float>(max_value)) ||
          value != static_cast<float>(static_cast<int32_t>(value))) {
        throw InputError(where_,
                         std::string(name) + " of integers from 0 to " + std::to_string(max_value),
                         std::to_string(value));
      }
      out.push_back(static_cast<int32_t>(value));
    }
    return out;
  }

 private:
  const Tensors& tensors_;
  const std::string& where_;
};

}  // namespace

void RecordedChoices::add(const Observation& seen) {
  const auto n = static_cast<int64_t>(seen.rows);
  rows.push_back(seen.rows);
  jobs.insert(jobs.end(), seen.jobs, seen.jobs + n * shape.row_features);
  cluster.insert(cluster.end(), seen.cluster, seen.cluster + shape.cluster_features);
  const auto put = [&](int64_t a) {
    prior.push_back(seen.mask[a] != 0 ? seen.prior[a] : kMaskedLogit);
  };
  for (int64_t r = 0; r < n; ++r) put(r);
  put(shape.rows);
}

std::vector<int64_t> RecordedChoices::row_offsets() const {
  std::vector<int64_t> out = {0};
  for (const int32_t n : rows) out.push_back(out.back() + n);
  return out;
}

RecordedChoices RecordedChoices::step_range(int64_t from_step, int64_t to_step) const {
  const std::vector<int64_t> offset = row_offsets();
  const int64_t row = offset[static_cast<size_t>(from_step)],
                end = offset[static_cast<size_t>(to_step)];
  const auto cut = [](const auto& column, int64_t begin, int64_t over) {
    return std::vector(column.begin() + begin, column.begin() + over);
  };
  RecordedChoices out;
  out.shape = shape;
  out.rows = cut(rows, from_step, to_step);
  out.jobs = cut(jobs, row * shape.row_features, end * shape.row_features);
  out.cluster = cut(cluster, from_step * shape.cluster_features, to_step * shape.cluster_features);
  out.prior = cut(prior, row + from_step, end + to_step);
  out.action = cut(action, from_step, to_step);
  out.decision = cut(decision, from_step, to_step);
  out.time_s = cut(time_s, from_step, to_step);
  out.probability = cut(probability, from_step, to_step);
  for (size_t m = 0; m < missed_decision.size(); ++m) {
    const bool before = from_step > 0 && missed_time_s[m] < time_s[static_cast<size_t>(from_step)];
    const bool after = to_step < size() && missed_time_s[m] >= time_s[static_cast<size_t>(to_step)];
    if (before || after) continue;
    out.missed_decision.push_back(missed_decision[m]);
    out.missed_time_s.push_back(missed_time_s[m]);
  }
  return out;
}

void RecordedChoices::write_observation(int64_t i, int64_t offset, Observation& out) const {
  const int32_t n = rows[static_cast<size_t>(i)];
  const float* job = jobs.data() + offset * shape.row_features;
  std::copy_n(job, int64_t{n} * shape.row_features, out.jobs);
  std::copy_n(cluster.data() + i * shape.cluster_features, shape.cluster_features, out.cluster);
  const float* logit = prior.data() + offset + i;
  std::fill_n(out.prior, shape.actions(), kMaskedLogit);
  std::fill_n(out.mask, shape.actions(), uint8_t{0});
  out.choices = 0;
  const auto put = [&](int32_t a, float value) {
    out.prior[a] = value;
    out.mask[a] = value > kMaskedLogit / 2;
  };
  for (int32_t r = 0; r < n; ++r) {
    put(r, logit[r]);
    out.choices += out.mask[r];
  }
  put(shape.rows, logit[n]);
  out.rows = n;
  const int32_t chosen = action[static_cast<size_t>(i)];
  out.expert_action = chosen == n ? shape.rows : chosen;
}

Tensors pack_choices(const RecordedChoices& c) {
  const auto row_features = int64_t{c.shape.row_features};
  const int64_t rows = static_cast<int64_t>(c.jobs.size()) / row_features;
  Tensors out;  // filled by moves: an initializer list would copy the columns of a whole log
  out["rows"] = column(c.rows);
  out["jobs"] = {{rows, row_features}, c.jobs};
  out["cluster"] = {{c.size(), c.shape.cluster_features}, c.cluster};
  out["prior"] = column(c.prior);
  out["action"] = column(c.action);
  out["decision"] = column(c.decision);
  out["time_s"] = column(c.time_s);
  out["probability"] = column(c.probability);
  out["missed_decision"] = column(c.missed_decision);
  out["missed_time_s"] = column(c.missed_time_s);
  return out;
}

RecordedChoices unpack_choices(const Tensors& tensors, const ObservationShape& shape,
                               const std::string& where) {
  const Unpacker from(tensors, where);
  RecordedChoices out;
  out.shape = shape;
  out.rows = from.integers("rows", -1, shape.rows);
  const int64_t steps = out.size(), rows = out.row_offsets().back();
  out.jobs = from.tensor("jobs", {rows, shape.row_features}).data;
  out.cluster = from.tensor("cluster", {steps, shape.cluster_features}).data;
  out.prior = from.tensor("prior", {rows + steps}).data;
  out.action = from.integers("action", steps, shape.rows);
  out.decision = from.integers("decision", steps, kMaxExactFloat);
  out.time_s = from.tensor("time_s", {steps}).data;
  out.probability = from.tensor("probability", {steps}).data;
  out.missed_decision = from.integers("missed_decision", -1, kMaxExactFloat);
  const auto missed = static_cast<int64_t>(out.missed_decision.size());
  out.missed_time_s = from.tensor("missed_time_s", {missed}).data;
  const std::vector<int64_t> offset = out.row_offsets();
  for (int64_t i = 0; i < steps; ++i) {
    const auto s = static_cast<size_t>(i);
    const bool legal =
        out.action[s] <= out.rows[s] &&
        out.prior[static_cast<size_t>(offset[s] + i + out.action[s])] > kMaskedLogit / 2;
    if (!legal) {
      throw InputError(where, "a legal action at step " + std::to_string(i),
                       std::to_string(out.action[s]));
    }
  }
  return out;
}

}  // namespace yard
