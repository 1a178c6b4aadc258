#include "env/trace/own.h"

#include "env/base/error.h"
#include "env/base/registry.h"
#include "env/base/text.h"
#include "env/trace/reader.h"
#include "env/trace/rows.h"

namespace yard {
namespace {

class OwnReader final : public TraceReader {
 public:
  explicit OwnReader(const Settings& settings) { parse<NoConfig>(settings); }

  bool recognises(const FileHead& head) const override {
    return head.has_columns({"job_id", "submit_s", "run_s", "gpus"});
  }

  void read(Rows& rows) const override {
    const int id = rows.column("job_id");
    const int submit = rows.column("submit_s");
    const int run = rows.column("run_s");
    const int gpus = rows.column("gpus");
    const int limit = rows.optional_column("limit_s");
    const int user = rows.optional_column("user");
    const int name = rows.optional_column("name");
    while (rows.next()) {
      Job job;
      if (!rows.text(id, job.id) || !rows.seconds(submit, job.submit_us) ||
          !rows.seconds(run, job.run_us) || !rows.gpus(gpus, job.gpus)) {
        continue;
      }
      const bool limited = limit >= 0 && !rows.field(limit).empty();
      if (limited && !rows.seconds(limit, job.limit_us)) continue;
      if (user >= 0) job.user = rows.field(user);
      if (name >= 0) job.name = rows.field(name);
      rows.add(std::move(job));
    }
  }

  std::string example() const override {
    return "job_id,submit_s,run_s,gpus,limit_s,user,name\n"
           "a,0,600.5,1,3600,ada,resnet50\n"
           "b,30,1200,8,,,\n";
  }
};

const Registry<TraceReader>::Add<OwnReader> kAdd{
    "yardmaster", {.help = "Yardmaster's own CSV, as `trace convert` writes it"}};

void append_text(const Trace& trace, const std::string& text, std::string& out) {
  if (text.find_first_of(",\r\n") != std::string::npos) {
    throw InputError(trace.source, "ids and names without commas and line breaks",
                     "'" + text + "'");
  }
  out += text;
}

}  // namespace

std::string to_own_csv(const Trace& trace) {
  std::string out = "job_id,submit_s,run_s,gpus,limit_s,user,name\n";
  for (const Job& job : trace.jobs) {
    append_text(trace, job.id, out);
    out += ',' + format_seconds(job.submit_us) + ',' + format_seconds(job.run_us) + ',' +
           shortest(job.gpus) + ',' + (job.limit_us < 0 ? "" : format_seconds(job.limit_us)) + ',';
    append_text(trace, job.user, out);
    out += ',';
    append_text(trace, job.name, out);
    out += '\n';
  }
  return out;
}

}  // namespace yard
