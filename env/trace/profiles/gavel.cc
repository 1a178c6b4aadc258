// Throughputs published with Gavel (OSDI 2020), and Shockwave's in the same layout (NSDI 2023):
// JSON of GPU type -> "('ResNet-50 (batch size 64)', 2)", with 2 GPUs -> "null" for running alone,
// or the job on the same GPU. Steps per second, summed over workers that each take the whole batch.
// TYPE_unconsolidated: each worker on its own node; otherwise all on one.
#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "env/base/config/registry.h"
#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/trace/profiles/measurement_table.h"
#include "env/trace/profiles/profile.h"
#include "env/trace/profiles/throughputs.h"

namespace yard {
namespace {

constexpr std::string_view kUnconsolidated = "_unconsolidated";
constexpr std::string_view kBatch = " (batch size ";

struct JobType {
  std::string model;
  int32_t batch = 1;  // per GPU; 1 if the name has none: the unit is a step
  int32_t gpus = 1;
};

// Parses "('ResNet-50 (batch size 64)', 2)" and "('A3C', 1)".
std::optional<JobType> job_type(std::string_view text) {
  const auto kind = Throughputs::parse_kind(text);
  if (!kind || kind->second > MeasurementTable::kMaxGpus) return std::nullopt;
  JobType type{kind->first, 1, kind->second};
  if (const size_t at = type.model.find(kBatch); at != std::string::npos) {
    const std::string_view digits = std::string_view(type.model).substr(at + kBatch.size());
    const auto batch = parse_number<int32_t>(digits.substr(0, digits.size() - 1));
    if (!batch || *batch < 1) return std::nullopt;
    type.batch = *batch;
    type.model.resize(at);
  }
  return type;
}

// A character of the text. Records how far the parser has got.
struct Cursor {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  const char** reached;

  const char& operator*() const { return *at; }
  Cursor& operator++() {
    *reached = ++at;
    return *this;
  }
  bool operator==(const Cursor& other) const { return at == other.at; }
  bool operator!=(const Cursor& other) const { return at != other.at; }
};

// Reads the file during parsing, since positions of values are unknown afterwards.
class Handler {
 public:
  Handler(const std::string& name, std::string_view text, Profiles& out)
      : name_(name), text_(text), out_(out), reached_(text.data()) {}

  Cursor begin() { return {text_.data(), &reached_}; }
  Cursor end() { return {text_.data() + text_.size(), &reached_}; }

  bool key(std::string& text) {
    if (depth_ == 1) {
      spread_ = text.ends_with(kUnconsolidated);
      gpu_type_ = lower_case(spread_ ? text.substr(0, text.size() - kUnconsolidated.size()) : text);
    } else {
      std::optional<JobType>& job = depth_ == 2 ? job_ : partner_;
      job = job_type(text);
      if (!job && (depth_ == 2 || text != "null")) {
        fail("a job type like ('ResNet-50 (batch size 64)', 1)", text);
      }
    }
    return true;
  }
  bool start_object(size_t) {
    if (in_array_ || depth_ == 3) fail("steps per second", "{");
    ++depth_;
    return true;
  }
  bool end_object() {
    --depth_;
    return true;
  }
  bool start_array(size_t) {
    if (in_array_ || depth_ != 3 || !partner_) fail("an object or a number", "[");
    in_array_ = true;
    pair_.clear();
    return true;
  }
  bool end_array() {
    if (pair_.size() != 2) fail("two rates", "]");
    in_array_ = false;
    add_pair();
    return true;
  }
  bool number(double value, const std::string& text) {
    if (depth_ != 3 || in_array_ != partner_.has_value()) fail("an object or two rates", text);
    if (value != 0 && (value < MeasurementTable::kMin || value > MeasurementTable::kMax)) {
      fail("a rate of 0, or from " + shortest_text(MeasurementTable::kMin) + " to " +
               shortest_text(MeasurementTable::kMax),
           text);
    }
    if (in_array_) {
      pair_.push_back(value);
    } else {
      add_alone(value);
    }
    return true;
  }
  bool number_float(double value, const std::string& text) { return number(value, text); }
  bool number_integer(int64_t value) {
    return number(static_cast<double>(value), shortest_text(value));
  }
  bool number_unsigned(uint64_t value) {
    return number(static_cast<double>(value), shortest_text(value));
  }
  bool null() { fail("a number", "null"); }
  bool boolean(bool) { fail("a number", "a boolean"); }
  bool string(std::string& text) { fail("a number", text); }
  bool binary(std::vector<uint8_t>&) { fail("a number", "bytes"); }
  bool parse_error(size_t position, const std::string& token, const std::exception&) {
    reached_ = text_.data() + std::min(position, text_.size());
    fail("JSON", token);
  }

  // Converts steps per second of pairs to fractions of those alone.
  void finish() {
    for (auto& [one, other, pair] : pairs_) {
      const double alone_one = alone_[one], alone_other = alone_[other];
      if (alone_one <= 0 || alone_other <= 0) continue;
      pair.one.rate /= alone_one;
      pair.other.rate /= alone_other;
      out_.pairs.push_back(std::move(pair));
    }
  }

 private:
  using Key = std::pair<std::string, std::pair<std::string, int32_t>>;  // type, model, batch
  struct Pair {
    Key one, other;
    MeasuredColocatedPair pair;  // in steps per second
  };

  std::string source() const { return "gavel-" + file_stem(name_); }

  void add_alone(double steps_per_s) {
    const JobType& job = *job_;
    if (job.gpus == 1 && !spread_) alone_[{gpu_type_, {job.model, job.batch}}] = steps_per_s;
    if (spread_ && job.gpus == 1) return;  // one GPU cannot be spread
    std::vector<int32_t> placement{job.gpus};
    if (spread_) placement.assign(static_cast<size_t>(job.gpus), 1);
    out_.profile(source(), job.model, BatchScaling::kWeak)
        .runs.push_back({gpu_type_, std::move(placement), static_cast<double>(job.batch),
                         steps_per_s > 0 ? job.gpus / steps_per_s : 0, -1});
  }

  void add_pair() {
    // Larger jobs were not measured in pairs: all those entries are 0.
    if (job_->gpus > 1 || spread_) return;
    pairs_.push_back({{gpu_type_, {job_->model, job_->batch}},
                      {gpu_type_, {partner_->model, partner_->batch}},
                      {source(),
                       gpu_type_,
                       {job_->model, job_->batch, pair_[0]},
                       {partner_->model, partner_->batch, pair_[1]}}});
  }

  [[noreturn]] void fail(const std::string& expected, const std::string& got) const {
    const std::string_view before(text_.data(), static_cast<size_t>(reached_ - text_.data()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const size_t begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    throw InputError(
        name_ + ":" + std::to_string(line) + ":" + std::to_string(before.size() - begin + 1),
        expected, "'" + got + "'");
  }

  const std::string& name_;
  std::string_view text_;
  Profiles& out_;
  const char* reached_;
  int depth_ = 0;
  bool in_array_ = false, spread_ = false;
  std::string gpu_type_;
  std::optional<JobType> job_, partner_;
  std::vector<double> pair_;
  std::map<Key, double> alone_;
  std::vector<Pair> pairs_;
};

struct Gavel final : ProfileReader {
  bool recognises(const FileHead& head) const override {
    const std::string_view text = trim(head.text);
    return text.starts_with("{") && text.find("\"null\"") != std::string_view::npos;
  }

  void read(Lines& lines, Profiles& out) const override {
    std::string text;
    std::string_view line;
    while (lines.next(line)) (text += line) += '\n';
    Handler handler(lines.name(), text, out);
    nlohmann::json::sax_parse(handler.begin(), handler.end(), &handler);
    handler.finish();
  }
};

const Registry<ProfileReader>::Add<Gavel> kAdd{
    "gavel",
    {.help = "throughputs on V100, P100, K80, also unconsolidated and of co-located pairs (Gavel, "
             "OSDI 2020; Shockwave)",
     .example_path = "simulation_throughputs.json",
     .example = R"json({
"v100": {
  "('LM (batch size 5)', 1)": {"null": 100.0, "('A3C', 1)": [50.0, 6.0]},
  "('A3C', 1)": {"null": 8.0, "('LM (batch size 5)', 1)": [6.0, 50.0]},
  "('LM (batch size 5)', 2)": {"null": 180.0}},
"v100_unconsolidated": {
  "('LM (batch size 5)', 2)": {"null": 40.0}}
})json"
                "\n"}};

}  // namespace
}  // namespace yard
