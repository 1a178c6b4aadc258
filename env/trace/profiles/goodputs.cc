#include "env/trace/profiles/goodputs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/files/lines.h"
#include "env/base/text/text.h"

namespace yard {
namespace {

constexpr int32_t kMaxEpochs = 10'000;  // limits the memory that one row can claim
// Numbers outside are taken for typing errors; inside, an epoch's seconds fit a whole number.
constexpr double kMin = 1e-6, kMax = 1e12;

enum Column { kJob, kPlacement, kEpoch, kGoodput, kNextProgress, kCompletionEpoch };
const std::vector<std::string> kColumns = {"job",     "placement",     "epoch",
                                           "goodput", "next_progress", "completion_epoch"};

// Parses a placement like "4+2"; empty if the text is not one.
std::vector<int32_t> pieces_of(std::string_view placement) {
  std::vector<int32_t> pieces;
  for (const std::string_view part : split(placement, '+')) {
    const auto gpus = parse_number<int32_t>(part);
    if (!gpus || *gpus < 1) return {};
    pieces.push_back(*gpus);
  }
  return pieces;
}

class Row {
 public:
  Row(const Lines& lines, std::string_view text) : lines_(lines), fields_(split(text, ',')) {
    if (fields_.size() == kColumns.size()) return;
    refuse(std::to_string(kColumns.size()) + " fields", std::to_string(fields_.size()));
  }

  std::string_view text(Column column) const {
    const std::string_view said = trim(fields_[column]);
    if (said.empty()) refuse("a " + kColumns[column], "nothing");
    return said;
  }
  int32_t count(Column column) const {
    const auto value = parse_number<int32_t>(text(column));
    if (!value || *value < 0 || *value >= kMaxEpochs) {
      refuse(kColumns[column] + " as a whole number from 0 to " + std::to_string(kMaxEpochs - 1),
             in_quotes(text(column)));
    }
    return *value;
  }
  double positive(Column column) const {
    const auto value = parse_double(text(column));
    if (!value || *value < kMin || *value > kMax) {
      refuse(kColumns[column] + " from " + shortest_text(kMin) + " to " + shortest_text(kMax),
             in_quotes(text(column)));
    }
    return *value;
  }
  [[noreturn]] void refuse(const std::string& expected, const std::string& got) const {
    throw InputError(lines_.name() + ":" + std::to_string(lines_.line_number()), expected, got);
  }

 private:
  const Lines& lines_;
  std::vector<std::string_view> fields_;
};

// Sets what all placements of a job share: the progress at which an epoch ends.
void set_next_progress(const Row& row, JobGoodputs& job) {
  const auto num_epochs = static_cast<size_t>(row.count(kCompletionEpoch)) + 1;
  if (job.next_progress.empty()) job.next_progress.resize(num_epochs);
  if (job.num_epochs() != num_epochs) {
    row.refuse(
        "completion_epoch " + std::to_string(job.num_epochs() - 1) + ", as in the job's other rows",
        std::to_string(num_epochs - 1));
  }
  const auto epoch = static_cast<size_t>(row.count(kEpoch));
  if (epoch >= num_epochs) {
    row.refuse("an epoch of at most completion_epoch", std::to_string(epoch));
  }
  const double next = row.positive(kNextProgress);
  const double known = job.next_progress[epoch];
  const double before = epoch == 0 ? 0 : job.next_progress[epoch - 1];
  const double after = epoch + 1 == num_epochs ? 0 : job.next_progress[epoch + 1];
  if ((known != 0 && next != known) || next <= before || (after != 0 && next >= after)) {
    row.refuse("next_progress that rises with the epoch and is the same on every placement",
               shortest_text(next));
  }
  job.next_progress[epoch] = next;
}

}  // namespace

GoodputTable GoodputTable::load(const std::string& path) {
  GoodputTable rates;
  rates.path_ = path;
  Lines lines = Lines::of_file(path);
  std::string_view text;
  if (!lines.next(text) || trim(text) != join(kColumns, ",")) {
    throw InputError(path + ":1", "the columns " + in_quotes(join(kColumns, ",")),
                     in_quotes(text.substr(0, 120)));
  }
  while (lines.next(text)) {
    if (trim(text).empty()) continue;
    const Row row(lines, text);
    JobGoodputs& job = rates.jobs_[std::string(row.text(kJob))];
    set_next_progress(row, job);
    const std::string_view placement = row.text(kPlacement);
    if (pieces_of(placement).empty()) row.refuse("a placement like 4+2", in_quotes(placement));
    JobGoodputs::Goodput& goodput = job.placements[std::string(placement)];
    goodput.resize(job.num_epochs());
    double& rate = goodput[static_cast<size_t>(row.count(kEpoch))];
    if (rate != 0) row.refuse("each job, placement and epoch once", "a second row");
    rate = row.positive(kGoodput);
  }
  if (rates.jobs_.empty()) throw InputError(path, "at least one rate", "a header without rows");
  return rates;
}

const JobGoodputs* GoodputTable::find(std::string_view job_id) const {
  auto at = jobs_.find(job_id);
  if (at == jobs_.end()) at = jobs_.find(job_id.substr(0, job_id.rfind('#')));
  return at == jobs_.end() ? nullptr : &at->second;
}

double JobGoodputs::isolated_run_s_on_fewest_nodes() const {
  std::vector<std::pair<std::vector<int32_t>, const Goodput*>> candidates;
  for (const auto& [name, goodput] : placements) {
    candidates.emplace_back(pieces_of(name), &goodput);
  }
  std::sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return a.first.size() != b.first.size() ? a.first.size() < b.first.size() : a.first > b.first;
  });
  double seconds = 0, progress = 0;
  for (size_t epoch = 0; epoch < num_epochs(); ++epoch) {
    const auto best = std::ranges::find_if(
        candidates, [&](const auto& one) { return (*one.second)[epoch] != 0; });
    if (best == candidates.end()) return -1;
    seconds += (next_progress[epoch] - progress) / (*best->second)[epoch];
    progress = next_progress[epoch];
  }
  return seconds;
}

}  // namespace yard
