#include "tests/reference/muri_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace yard::reference {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

double overhead_s(const MuriJob& job) {
  const std::vector<std::string> models = {"vgg16", "vgg19", "resnet18", "shufflenet_v2_x1_0",
                                           "bert",  "gpt2",  "a2c",      "dqn"};
  const std::map<int, std::vector<double>> by_gpus = {
      {1, {7, 7, 4, 4, 10, 10, 38, 5}},   {2, {7, 7, 5, 4, 10, 10, 39, 5}},
      {4, {8, 8, 5, 5, 10, 10, 39, 6}},   {8, {9, 9, 7, 5, 10, 10, 46, 6}},
      {16, {9, 10, 7, 7, 10, 10, 46, 8}}, {32, {10, 10, 7, 8, 10, 10, 46, 8}}};
  const auto model = std::find(models.begin(), models.end(), job.model);
  const auto row = by_gpus.find(job.gpus);
  if (model == models.end() || row == by_gpus.end()) return 10;
  return row->second[static_cast<size_t>(model - models.begin())];
}

bool close(double a, double b) {
  return std::fabs(a - b) <= 1e-9 * std::max(std::fabs(a), std::fabs(b));
}

struct LiveJob {
  size_t index = 0;
  double left = 0;  // iterations
  double iteration_s = 0;
  bool running = false;
};

// Jobs with an event at one time.
struct Event {
  double time_s = 0;
  std::vector<size_t> jobs;
};

// Adds the job to the first event close to `time_s`, or to another one appended to the list.
void add(std::vector<Event>& events, double time_s, size_t job) {
  for (Event& event : events) {
    if (!close(event.time_s, time_s)) continue;
    event.jobs.push_back(job);
    return;
  }
  events.push_back({time_s, {job}});
}

double time_of_first(const std::vector<Event>& events) {
  return events.empty() ? kForever : events.front().time_s;
}

}  // namespace

std::vector<MuriOutcome> muri(const std::vector<MuriJob>& jobs, int total_gpus, bool by_gpus) {
  std::vector<MuriOutcome> out(jobs.size());
  std::vector<Event> arrivals, ends;
  for (size_t j = 0; j < jobs.size(); ++j) add(arrivals, jobs[j].submit_s, j);
  std::vector<LiveJob> live;
  double last_s = 0;
  while (!arrivals.empty() || !ends.empty()) {
    const double now_s = std::min(time_of_first(arrivals), time_of_first(ends));
    if (time_of_first(ends) == now_s) {
      for (const size_t j : ends.front().jobs) {
        out[j].end_s = now_s;
        std::erase_if(live, [j](const LiveJob& job) { return job.index == j; });
      }
    }
    if (time_of_first(arrivals) == now_s) {
      for (const size_t j : arrivals.front().jobs) {
        live.push_back({j, jobs[j].iterations, jobs[j].iteration_ms * 1.015 / 1000, false});
      }
      arrivals.erase(arrivals.begin());
    }
    for (LiveJob& job : live) {
      if (!job.running) continue;
      const double worked_s = std::max(now_s - last_s - overhead_s(jobs[job.index]), 0.0);
      job.left -= worked_s / job.iteration_s;
    }
    last_s = now_s;
    const auto key = [&](const LiveJob& job) {
      const double left_s = job.left * job.iteration_s;
      return by_gpus ? left_s * jobs[job.index].gpus : left_s;
    };
    std::stable_sort(live.begin(), live.end(),
                     [&](const LiveJob& a, const LiveJob& b) { return key(a) < key(b); });
    int free = total_gpus;
    ends.clear();
    for (LiveJob& job : live) {
      MuriOutcome& outcome = out[job.index];
      const bool fits = jobs[job.index].gpus <= free;
      if (fits) free -= jobs[job.index].gpus;
      if (fits && !job.running && outcome.starts++ == 0) outcome.start_s = now_s;
      if (!fits && job.running) ++outcome.preemptions;
      job.running = fits;
      if (fits) add(ends, now_s + job.left * job.iteration_s, job.index);
    }
    std::stable_sort(ends.begin(), ends.end(),
                     [](const Event& a, const Event& b) { return a.time_s < b.time_s; });
  }
  return out;
}

}  // namespace yard::reference
