// Output of Slurm's accounting: sacct --allusers --parsable2 --format=JobID,JobName,User,Account,
// Partition,Submit,Eligible,Start,End,Elapsed,Timelimit,State,NNodes,ReqMem,ReqTRES,AllocTRES,
// Priority, with columns in any order, more or fewer (also ElapsedRaw, TimelimitRaw, UID, ReqCPUS,
// ReqGRES, Cluster) and any --delimiter. All is real. Rows of steps ("7.batch", "7.0") are left
// out, as are jobs that never started or have not ended. Times are local. Nothing is escaped
// (sacct_lines.h). Elapsed excludes suspended time. "Partition_Limit" and "UNLIMITED" mean no
// limit; 365 days may be a default. With --duplicates a job has several rows (sacct_log.h). A task
// is what ran on one node.
#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/trace/core/trace_reader.h"
#include "env/trace/formats/sacct/sacct_lines.h"
#include "env/trace/formats/sacct/sacct_log.h"

namespace yard {
namespace {

constexpr const char* kExampleCommand =
    "sacct --parsable2 --allusers --format=JobID,JobName,User,Account,Partition,Submit,Eligible,"
    "Start,End,Elapsed,Timelimit,State,NNodes,ReqTRES,AllocTRES";

class SacctReader : public TraceReader {
 public:
  // Also recognises sacct's output in forms other than --parsable2, which read() rejects.
  bool recognises(const FileHead& head) const override {
    if (head.is_json()) return false;
    const std::optional<SacctHeader> header = read_sacct_header(head.line(1));
    if (header) return header->known || sacct_flaw(head.line(1), {}) != SacctFlaw::kNone;
    return sacct_flaw(head.line(1), head.line(2)) != SacctFlaw::kNone;
  }

  // Whole lines, since the first line determines the delimiter.
  Layout layout() const override { return whole_line_layout(); }

  void read(Rows& rows) const override {
    rows.move_zero_to_first_submission();
    if (!rows.next()) return;
    std::optional<SacctHeader> header = read_sacct_header(rows.line());
    if (!header || !header->known) refuse(rows, header);
    SacctLog log(config_, settings_, rows, header->columns, header->is_from_spreadsheet());
    SacctLines lines(rows, std::move(*header), SacctLog::used_columns());
    while (lines.next()) log.read_row(lines.fields());
    log.finish();
  }

  std::string example() const override {
    return "JobID|JobName|User|Account|Partition|Submit|Eligible|Start|End|Elapsed|Timelimit|State|"
           "NNodes|ReqMem|ReqTRES|AllocTRES|Priority\n"
           "7|bert|large|ada|vision|gpu|2023-05-04T22:11:29|2023-05-04T22:11:29|2023-05-04T22:12:"
           "51|"
           "2023-05-06T00:12:59|1-02:00:08|2-00:00:00|COMPLETED|2|16G|"
           "billing=4,cpu=4,gres/gpu:a100=2,gres/gpu=2,mem=16G,node=2|"
           "billing=4,cpu=4,gres/gpu:a100=2,gres/gpu=2,mem=16G,node=2|132\n"
           "7.batch|batch||vision||2023-05-04T22:12:51|2023-05-04T22:12:51|2023-05-04T22:12:51|"
           "2023-05-06T00:12:59|"
           "1-02:00:08||COMPLETED|1|||cpu=2,gres/gpu=1,mem=8G,node=1|\n"
           "8_1|sweep|grace|language|gpu|2023-05-04T22:11:30|2023-05-04T22:11:30|2023-05-04T22:11:"
           "31|"
           "2023-05-04T22:12:47|00:01:16|00:01:00|TIMEOUT|1|500M|"
           "billing=1,cpu=1,gres/gpu=8,mem=500M,node=1|"
           "billing=1,cpu=1,gres/gpu:a100=8,gres/gpu=8,mem=500M,node=1|126\n"
           "9|waiting|grace|language|gpu|2023-05-04T22:13:56|2023-05-04T22:13:56|Unknown|Unknown|"
           "00:00:00|UNLIMITED|"
           "PENDING|1|1G|billing=1,cpu=1,gres/gpu=1,mem=1G,node=1||126\n";
  }

 protected:
  // Throws InputError about the form of the file, if that is the problem.
  static void refuse(Rows& rows, const std::optional<SacctHeader>& header) {
    const std::string first(rows.line().substr(0, 80));
    const std::string got = "'" + first + (rows.line().size() > 80 ? "...'" : "'");
    const std::string second(rows.next() ? rows.line() : std::string_view());
    const auto fail = [&](const std::string& expected) {
      throw InputError(rows.header_position(), expected + " (" + kExampleCommand + ")", got);
    };
    if (trim(first).starts_with('{')) {
      fail("fields separated by |; --format sacct-json reads the output of sacct --json");
    }
    const SacctFlaw flaw = sacct_flaw(first, second);
    if (flaw == SacctFlaw::kNoHeader) fail("a header line: print the log without --noheader");
    if (flaw == SacctFlaw::kFixedWidth) {
      fail("fields separated by |: print the log with --parsable2");
    }
    if (!header) fail("a header line of sacct column names separated by |");
  }

  SacctConfig config_;
  Settings settings_;
};

const AddReader<SacctReader, SacctConfig> kAdd{
    "sacct",
    "Slurm accounting log, output of sacct --parsable2. Steps, jobs that never started and jobs "
    "that have not ended are left out. The rows of a requeued or resized job are joined."};

}  // namespace
}  // namespace yard
