// The CSV of Chronus (Gao et al., SoCC 2021) over two weeks of Philly jobs: job_id, user, num_gpu,
// submit_time, iterations, model_name, duration, interval, expect_time_list, expect_value_list,
// best_effort, job_type. All times are MINUTES. Rows are not sorted; a few ask for no GPU. GPUs,
// duration and arrival are real. `user` is the name of a virtual cluster, assigned at random, and
// is read as the tenant. Model and iterations were drawn. Deadlines (minutes after submission,
// joined by '-', with a value each) follow Chronus' survey of users; best-effort jobs have none.
#include "env/base/text/text.h"
#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

constexpr int64_t kUsPerMin = 60'000'000;
constexpr int64_t kMaxMinutes = 1'000'000'000;

class ChronusReader : public TraceReader {
 public:
  bool recognises(const FileHead& head) const override {
    return head.has_only_columns({"job_id", "user", "num_gpu", "submit_time", "iterations",
                                  "model_name", "duration", "interval", "expect_time_list",
                                  "expect_value_list", "best_effort", "job_type"});
  }

  void read(Rows& rows) const override {
    const int id = rows.column("job_id"), vc = rows.column("user"), gpus = rows.column("num_gpu"),
              submit = rows.column("submit_time"), iterations = rows.column("iterations"),
              model = rows.column("model_name"), duration = rows.column("duration"),
              times = rows.column("expect_time_list"), values = rows.column("expect_value_list"),
              best_effort = rows.column("best_effort");
    rows.add_job_of_each_row([&](Job& job) {
      int32_t best = 0;
      return rows.text(id, job.id) && rows.text(vc, job.tenant) && rows.gpus(gpus, job.gpus, 0) &&
             rows.minutes(submit, job.submit_us) && rows.number(iterations, job.iterations) &&
             rows.text(model, job.model) && rows.minutes(duration, job.run_us) &&
             rows.integer(best_effort, best, 0, 1) &&
             (best != 0 || read_dues(rows, times, values, job.dues));
    });
  }

  std::string example() const override {
    return "job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,"
           "expect_time_list,expect_value_list,best_effort,job_type\n"
           "0,vc_ed69ec,1,5601,5530,mobilenet_v2,96,5,159-189-229-289,10-8-5-2,0,soft\n"
           "1,vc_6214e9,4,17,760,alexnet,106,6,235,10,0,strict\n"
           "2,vc_ee9e8c,1,14341,3621,alexnet,30,17,14341,10,1,best\n";
  }

 private:
  static bool read_dues(Rows& rows, int times, int values, std::vector<Deadline>& dues) {
    const std::string minutes = rows.trimmed(times), value_list = rows.trimmed(values);
    const auto deadline_minutes = split(minutes, '-'), deadline_values = split(value_list, '-');
    if (deadline_minutes.size() != deadline_values.size()) {
      return rows.reject_row(values, "numbers of times and values differ",
                             std::to_string(deadline_minutes.size()) + " values",
                             "'" + value_list + "'");
    }
    for (size_t i = 0; i < deadline_minutes.size(); ++i) {
      const auto minute = parse_int(deadline_minutes[i]);
      const auto value = parse_double(deadline_values[i]);
      const bool later = minute && *minute >= 0 && *minute <= kMaxMinutes &&
                         (i == 0 || *minute * kUsPerMin > dues.back().within_us);
      if (!later) {
        return rows.reject_row(times, "times not increasing",
                               "increasing whole minutes separated by '-'", "'" + minutes + "'");
      }
      if (!value || (i > 0 && *value > dues.back().value)) {
        return rows.reject_row(values, "values increasing",
                               "non-increasing numbers separated by '-'", "'" + value_list + "'");
      }
      dues.push_back({*minute * kUsPerMin, *value});
    }
    return true;
  }
};

const AddReader<ChronusReader> kAdd{
    "chronus",
    "CSV of Chronus, Philly jobs with deadlines (Gao et al., SoCC 2021). Times in the file are "
    "minutes. GPUs, durations and arrivals are real. Tenants (`user`), models, iterations and "
    "deadlines were drawn at random."};

}  // namespace
}  // namespace yard
