#include "serving/log/decision_log.h"

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/core/unix_time.h"
#include "env/base/core/version.h"
#include "env/base/files/tfrecord.h"
#include "serving/log/log_files.h"
#include "serving/log/log_reader.h"
#include "serving/log/outcomes.h"

namespace yard {
namespace {

// A disk which hangs must not keep a server from exiting.
constexpr std::chrono::seconds kShutdownTimeout{5};

std::chrono::steady_clock::duration seconds(double s) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(s));
}

pb::DecideRequest with_bounds(const pb::DecideRequest& request, const PreemptionBounds& bounds) {
  pb::DecideRequest out = request;
  for (pb::Job& job : *out.mutable_jobs()) {
    if (bounds.is_pinned(job)) job.set_pinned(true);
    if (bounds.preempts(job)) job.set_preempting(true);
  }
  const int64_t most = bounds.max_preempted_gpus(request);
  if (most <= std::numeric_limits<uint32_t>::max()) {
    out.set_max_preempted_gpus(static_cast<uint32_t>(most));
  }
  return out;
}

std::string frame(const pb::LogRecord& record) {
  return tfrecord_frame(record.SerializeAsString());
}

std::string head_frame(const std::string& run) {
  pb::LogRecord record;
  pb::LogHead& head = *record.mutable_head();
  head.set_format(kLogFormat);
  head.set_run(run);
  head.set_unix_s(unix_now_s());
  head.set_release(std::string(release_version()));
  head.set_commit(std::string(source_commit()));
  return frame(record);
}

LogFileWriter::SizeLimits bounds_of(const DecisionLogOptions& options) {
  if (options.file_mib < 1 || options.max_mib < 2 * options.file_mib) {
    throw InputError(
        "decision log",
        "room for at least two files of 1 MiB or more, since old records are deleted by file",
        std::to_string(options.max_mib) + " MiB for files of " + std::to_string(options.file_mib) +
            " MiB");
  }
  return {.max_bytes = static_cast<uint64_t>(options.max_mib) << 20,
          .max_file_bytes = static_cast<uint64_t>(options.file_mib) << 20,
          .syncs = options.sync_s.has_value()};
}

}  // namespace

// State shared by caller and writing thread. The one which ends last destroys it.
struct DecisionLog::Shared {
  using Clock = std::chrono::steady_clock;
  struct Entry {
    uint64_t number;
    double unix_s;
    size_t bytes;
    std::shared_ptr<const pb::DecideRequest> request;
    PreemptionBounds bounds;
    pb::DecideResponse response;
    pb::DecisionTrace trace;
    DecisionContext more;
    std::optional<pb::ReportedOutcome> reported;  // set if the record is a report, not a decision
  };

  explicit Shared(const DecisionLogOptions& given)
      : options(given),
        files(std::make_unique<LogFileWriter>(
            given.folder, bounds_of(given),
            [run = std::to_string(std::chrono::system_clock::now().time_since_epoch() /
                                  std::chrono::microseconds(1))] { return head_frame(run); })) {
    counts.bytes = files->bytes();
  }

  // Queues an entry. Returns false if there is no room for it. Requires: the lock.
  bool push(Entry&& entry) {
    if (waiting.size() >= options.max_waiting ||
        waiting_bytes + entry.bytes > options.max_waiting_bytes) {
      ++counts.late;
      return false;
    }
    ++taken;
    waiting_bytes += entry.bytes;
    waiting.push_back(std::move(entry));
    changed.notify_one();
    return true;
  }

  // The loop of the writing thread.
  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      wait_for_entry(lock);
      if (waiting.empty()) break;
      Entry entry = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      const size_t bytes = entry.bytes;
      write(std::move(entry));
      if (options.sync_s && !sync_at) sync_at = Clock::now() + seconds(*options.sync_s);
      if (sync_at && Clock::now() >= *sync_at) sync();
      lock.lock();
      waiting_bytes -= bytes;
      ++done;
      progress.notify_all();
    }
    lock.unlock();
    if (sync_at) sync();
    lock.lock();
    files.reset();  // releases the folder before the destructor returns
    ended = true;
    progress.notify_all();
  }

  // Returns when an entry waits or the log ends. Syncs meanwhile when it is time.
  void wait_for_entry(std::unique_lock<std::mutex>& lock) {
    const auto has_news = [this] { return ending || !waiting.empty(); };
    if (sync_at && !changed.wait_until(lock, *sync_at, has_news)) {
      lock.unlock();
      sync();
      lock.lock();
    }
    changed.wait(lock, has_news);
  }

  void sync() {
    sync_at.reset();
    const int error = files->sync();
    const std::lock_guard lock(mutex);
    if (error == 0) {
      ++counts.syncs;
    } else {
      counts.trouble = std::strerror(error);
    }
  }

  void write(Entry&& entry) {
    if (entry.reported) {
      pb::LogRecord record;
      *record.mutable_reported() = std::move(*entry.reported);
      return append(record);
    }
    // A copy, since the next delta changes the state in place if it has no readers.
    const auto request = std::make_shared<const pb::DecideRequest>(*entry.request);
    entry.request = nullptr;
    const auto outcomes_now = outcomes.update(request, entry.response);
    pb::LogRecord record;
    pb::LoggedDecision& decision = *record.mutable_decision();
    decision.set_number(entry.number);
    decision.set_unix_s(entry.unix_s);
    *decision.mutable_request() = with_bounds(*request, entry.bounds);
    *decision.mutable_response() = std::move(entry.response);
    *decision.mutable_trace() = std::move(entry.trace);
    decision.set_traceparent(std::move(entry.more.traceparent));
    decision.set_recall(entry.more.recall);
    append(record);
    for (const pb::LoggedOutcome& outcome : outcomes_now) {
      *record.mutable_outcome() = outcome;
      append(record);
    }
  }

  void append(const pb::LogRecord& record) {
    const int error = files->append(frame(record));
    const std::lock_guard lock(mutex);
    counts.bytes = files->bytes();
    if (error == EMSGSIZE) {
      ++counts.too_large;
    } else if (error != 0) {
      ++counts.refused;
      counts.trouble = std::strerror(error);
    } else {
      ++(record.has_decision()   ? counts.decisions
         : record.has_reported() ? counts.reported
                                 : counts.outcomes);
      counts.trouble.clear();
    }
  }

  const DecisionLogOptions options;
  std::unique_ptr<LogFileWriter> files;      // used by the writing thread only
  JobOutcomeTracker outcomes;                // used by the writing thread only
  std::optional<Clock::time_point> sync_at;  // the same; absent: all is synced

  std::mutex mutex;
  std::condition_variable changed;   // an entry waits, or the log ends
  std::condition_variable progress;  // an entry was written, or the thread ended
  std::deque<Entry> waiting;
  size_t waiting_bytes = 0;  // including the entry being written
  uint64_t offered = 0;      // decisions passed to add(), including dropped ones
  uint64_t taken = 0;        // of these, not dropped
  uint64_t done = 0;         // of those, written
  bool ending = false;
  bool ended = false;
  Counts counts;
};

DecisionLog::DecisionLog(const DecisionLogOptions& options)
    : shared_(std::make_shared<Shared>(options)) {
  std::thread([shared = shared_] { shared->run(); }).detach();
}

DecisionLog::~DecisionLog() {
  std::unique_lock lock(shared_->mutex);
  shared_->ending = true;
  shared_->changed.notify_all();
  shared_->progress.wait_for(lock, kShutdownTimeout, [this] { return shared_->ended; });
}

void DecisionLog::add(std::shared_ptr<const pb::DecideRequest> request,
                      const pb::DecideResponse& response, pb::DecisionTrace&& trace,
                      PreemptionBounds bounds, DecisionContext more) {
  const size_t bytes = request->ByteSizeLong() + trace.memory().size();
  const std::lock_guard lock(shared_->mutex);
  shared_->push({++shared_->offered, unix_now_s(), bytes, std::move(request), std::move(bounds),
                 response, std::move(trace), std::move(more), std::nullopt});
}

bool DecisionLog::add(const std::string& cluster, const pb::Outcome& outcome) {
  pb::ReportedOutcome reported;
  reported.set_unix_s(unix_now_s());
  reported.set_cluster(cluster);
  *reported.mutable_outcome() = outcome;
  const size_t bytes = reported.ByteSizeLong();
  const std::lock_guard lock(shared_->mutex);
  return shared_->push({0, 0, bytes, nullptr, {}, {}, {}, {}, std::move(reported)});
}

bool DecisionLog::flush(std::chrono::seconds timeout) {
  std::unique_lock lock(shared_->mutex);
  const uint64_t all = shared_->taken;
  return shared_->progress.wait_for(lock, timeout, [&] { return shared_->done >= all; });
}

DecisionLog::Counts DecisionLog::counts() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->counts;
}

}  // namespace yard
