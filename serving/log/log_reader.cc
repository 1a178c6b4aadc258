#include "serving/log/log_reader.h"

#include "env/base/core/error.h"

namespace yard {

namespace fs = std::filesystem;

LogReader::LogReader(const fs::path& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    files_.push_back({path, 1, fs::file_size(path, error)});
    return;
  }
  files_ = log_files(path);
  if (files_.empty()) {
    throw InputError(path.string(), "a decision log (decisions-*.tfrecord)",
                     "a folder without one");
  }
}

bool LogReader::open_next_file() {
  while (next_file_ < files_.size()) {
    const fs::path& path = files_[next_file_++].path;
    head_.Clear();
    try {
      file_.emplace(path);
      return true;
    } catch (const InputError&) {
      // The writer deleted it after the folder was listed.
      if (fs::exists(path)) throw;
    }
  }
  return false;
}

bool LogReader::next() {
  std::string bytes;
  while (file_ || open_next_file()) {
    switch (file_->next(bytes)) {
      case TfrecordReader::FrameStatus::kWhole:
        if (take(bytes)) return true;
        break;
      case TfrecordReader::FrameStatus::kEnd:
        file_.reset();
        break;
      case TfrecordReader::FrameStatus::kCutOff:
        ++damage_.cut_tails;
        break;
      case TfrecordReader::FrameStatus::kDamaged:
        note(damage_.damaged, "a record with a valid checksum", "one with an invalid checksum");
        break;
      case TfrecordReader::FrameStatus::kLost:
        note(damage_.lost, "a record length with a valid checksum",
             "an invalid one; the rest of the file is unreadable");
        break;
    }
  }
  return false;
}

bool LogReader::take(const std::string& bytes) {
  if (!record_.ParseFromString(bytes)) {
    note(damage_.damaged, "a yardmaster.v1.LogRecord", "invalid bytes");
    return false;
  }
  if (record_.has_head()) {
    head_ = record_.head();
    if (head_.format() == kLogFormat) return false;
    throw InputError(files_[next_file_ - 1].path.string(),
                     "a decision log of format " + std::to_string(kLogFormat),
                     "format " + std::to_string(head_.format()));
  }
  const bool known = record_.has_decision() || record_.has_outcome() || record_.has_reported();
  damage_.unknown += !known;
  return known;
}

void LogReader::note(uint64_t& count, const std::string& expected, const std::string& got) {
  ++count;
  if (!damage_.first.empty()) return;
  damage_.first = files_[next_file_ - 1].path.string() + ", byte " +
                  std::to_string(file_->frame_offset()) + ": expected " + expected + ", got " + got;
}

}  // namespace yard
