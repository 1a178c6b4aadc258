// Traces of Gavel's simulator and testbed (Narayanan et al., OSDI 2020), in two layouts:
//   job type, command, steps' argument, needs data, steps, arrival (s), GPUs
//   job type, command, folder, steps' argument, needs data, steps, GPUs, weight, SLO, arrival (s)
// A run time is steps over a throughput that is not in the file.
//
// Traces of Shockwave's simulator (Zheng et al., NSDI 2023): Gavel's with two more fields:
//   job type, command, folder, steps' argument, needs data, steps, GPUs, mode, weight, SLO,
//   duration (s), arrival (s)
// The mode says how the batch size changes during training; the duration takes it into account.
//
// Both have no line of names and no ids. A job type is "ResNet-18 (batch size 32)" or, without a
// batch size, "A3C".

#include "env/base/text/text.h"
#include "env/trace/core/max_time.h"
#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

// Positions of fields, from 0.
struct Fields {
  int count;     // number of all fields
  int argument;  // command-line option for the steps, "--steps"; 0 or 1 comes next
  int steps;
  int gpus;
  int submit;
  int weight = -1;  // -1: none; otherwise the SLO comes next
};

constexpr double kMaxSteps = 1e15;  // doubles hold all whole numbers up to here
constexpr int64_t kMaxTimeUs = kMaxTimeS * 1'000'000;

bool read_number(Rows& rows, int field, const std::string& name, double& out) {
  const auto value = parse_double(trim(rows.field(field)));
  if (value) out = *value;
  return value.has_value() || rows.reject_row(name + " is not a number", name + " as a number",
                                              in_quotes(rows.field(field)));
}

bool read_steps(Rows& rows, int field, double& out) {
  if (!read_number(rows, field, "steps", out)) return false;
  if (out >= 1 && out <= kMaxSteps && out == static_cast<double>(static_cast<int64_t>(out))) {
    return true;
  }
  return rows.reject_row("steps is not a whole number above 0",
                         "a whole number of steps, at least 1", in_quotes(rows.field(field)));
}

bool read_type(Rows& rows, std::string_view type, Job& job) {
  constexpr std::string_view kBatch = " (batch size ";
  const size_t at = type.find(kBatch);
  job.model = type.substr(0, at);
  if (at == std::string_view::npos && !type.empty()) return true;
  if (at != std::string_view::npos && at > 0 && type.ends_with(')')) {
    const size_t from = at + kBatch.size();
    const auto size = parse_number<int32_t>(type.substr(from, type.size() - from - 1));
    job.batch_size = size.value_or(0);
    if (job.batch_size > 0) return true;
  }
  return rows.reject_row("invalid job type", "a job type like ResNet-18 (batch size 32)",
                         in_quotes(type));
}

// An SLO is a multiple of a duration, which only some layouts have. No known trace uses it.
bool read_slo(Rows& rows, int field) {
  double slo = -1;
  return read_number(rows, field, "SLO", slo) &&
         (slo == -1 ||
          rows.reject_row("SLO not supported", "-1 (no SLO)", in_quotes(rows.field(field))));
}

// Returns whether a line looks like a row of this layout.
bool fits(std::string_view line, const Fields& fields) {
  const std::vector<std::string_view> parts = split(line, '\t');
  if (static_cast<int>(parts.size()) != fields.count) return false;
  const auto argument = static_cast<size_t>(fields.argument);
  return parts[argument].starts_with('-') &&
         (parts[argument + 1] == "0" || parts[argument + 1] == "1");
}

// Reads seconds of at least 0.
bool read_seconds(Rows& rows, int field, const std::string& name, int64_t& out_us) {
  const auto us = parse_seconds_us(trim(rows.field(field)));
  if (us && *us >= 0 && *us <= kMaxTimeUs) {
    out_us = *us;
    return true;
  }
  return rows.reject_row(name + " is not a time", name + " in seconds, at least 0",
                         in_quotes(rows.field(field)));
}

// Jobs are numbered from 0, as in the original.
bool read_job(Rows& rows, const Fields& fields, Job& job) {
  job.id = std::to_string(rows.line_number() - 1);
  job.run_us = Job::kFromProfile;
  if (!read_type(rows, trim(rows.field(0)), job) ||
      !read_steps(rows, fields.steps, job.iterations) || !rows.gpus(fields.gpus, job.gpus) ||
      !read_seconds(rows, fields.submit, "arrival", job.submit_us)) {
    return false;
  }
  if (fields.weight < 0) return true;
  if (!read_number(rows, fields.weight, "weight", job.weight)) return false;
  if (!(job.weight >= 0)) {
    return rows.reject_row("weight is negative", "a weight of at least 0",
                           in_quotes(rows.field(fields.weight)));
  }
  return read_slo(rows, fields.weight + 1);
}

constexpr Fields kSimulated = {.count = 7, .argument = 2, .steps = 4, .gpus = 6, .submit = 5};
constexpr Fields kPhysical = {
    .count = 10, .argument = 3, .steps = 5, .gpus = 6, .submit = 9, .weight = 7};

// Fields between tabs, in any number.
class TabReader : public TraceReader {
 public:
  Layout layout() const override {
    return {
        .separator = '\t', .head = 0, .names = 0, .variable_fields = true, .columns = {"job_type"}};
  }
};

class GavelReader : public TabReader {
 public:
  bool recognises(const FileHead& head) const override {
    return fits(head.line(1), kSimulated) || fits(head.line(1), kPhysical);
  }

  void read(Rows& rows) const override {
    rows.add_job_of_each_row([&](Job& job) {
      const bool physical = fits(rows.line(), kPhysical);
      if (physical || fits(rows.line(), kSimulated)) {
        return read_job(rows, physical ? kPhysical : kSimulated, job);
      }
      return rows.reject_row("not in Gavel's layout",
                             "7 or 10 tab-separated fields in Gavel's layout",
                             std::to_string(rows.num_fields()) + " fields");
    });
  }

  std::string example() const override {
    return "ResNet-18 (batch size 32)\tpython3 main.py --batch_size 32\timage_classification/"
           "cifar10\t--num_steps\t1\t414574\t2\t1\t-1.000000\t0\n"
           "A3C\tpython3 main.py --env PongDeterministic-v4\trl\t--max-steps\t0\t120000\t1\t1\t"
           "-1.000000\t36.5\n";
  }
};

constexpr Fields kShockwave = {
    .count = 12, .argument = 3, .steps = 5, .gpus = 6, .submit = 11, .weight = 8};
constexpr int kMode = 7, kDuration = 10;

class ShockwaveReader : public TabReader {
 public:
  bool recognises(const FileHead& head) const override { return fits(head.line(1), kShockwave); }

  void read(Rows& rows) const override {
    rows.add_job_of_each_row([&](Job& job) {
      if (!fits(rows.line(), kShockwave)) {
        return rows.reject_row("not in Shockwave's layout",
                               "12 tab-separated fields in Shockwave's layout",
                               std::to_string(rows.num_fields()) + " fields");
      }
      job.batch_mode = trim(rows.field(kMode));
      if (job.batch_mode != "static" && job.batch_mode != "accordion" && job.batch_mode != "gns") {
        return rows.reject_row("unknown mode", "static, accordion or gns",
                               in_quotes(job.batch_mode));
      }
      return read_job(rows, kShockwave, job) &&
             read_seconds(rows, kDuration, "duration", job.run_us);
    });
  }

  std::string example() const override {
    return "LM (batch size 10)\tpython3 main.py --batch_size 10\tlanguage_modeling\t--steps\t1\t"
           "134583\t1\tgns\t1\t-1.000000\t1418\t0\n"
           "ResNet-18 (batch size 32)\tpython3 main.py --batch_size 32\timage_classification/"
           "cifar10\t--num_steps\t1\t143450\t2\taccordion\t1\t-1.000000\t3338\t55\n";
  }
};

const AddReader<GavelReader> kGavelReader{
    "gavel",
    "traces of Gavel (OSDI 2020); run times come from --throughputs. Arrivals, GPUs and work are "
    "from Philly, models were drawn at random. An SLO other than -1 is unusable."};

const AddReader<ShockwaveReader> kShockwaveReader{
    "shockwave",
    "traces of Shockwave (NSDI 2023): those of `gavel` with a batch-size mode (static, accordion "
    "or gns) and a duration, which is the run time"};

}  // namespace
}  // namespace yard
