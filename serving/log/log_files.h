// The files of a decision log, oldest first: DIR/decisions-00000001.tfrecord and so on. A folder
// of log files has one writing process and any number of readers.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace yard {

struct LogFile {
  std::filesystem::path path;
  uint64_t number = 0;
  uint64_t bytes = 0;
};

// Returns the log files in a folder, the oldest first. Throws InputError if `folder` is not a
// folder or cannot be listed.
std::vector<LogFile> log_files(const std::filesystem::path& folder);

class LogFileWriter {
 public:
  struct SizeLimits {
    uint64_t max_bytes = 0;       // size of all files together
    uint64_t max_file_bytes = 0;  // size of one file
    bool syncs = false;           // whether a full file is synced before the next one begins
  };

  // Creates the folder if it is missing. `head` returns the first frame of each file. Throws
  // InputError if the folder is not writable or another process writes to it.
  LogFileWriter(std::filesystem::path folder, const SizeLimits& bounds,
                std::function<std::string()> head);
  ~LogFileWriter();
  LogFileWriter(const LogFileWriter&) = delete;

  // Appends a frame to the newest file of this object, or to a new file if the newest file is full.
  // Deletes the oldest files if all together exceed `max_bytes`. Returns 0, or an errno if the
  // frame was not written: EMSGSIZE if the frame is larger than `max_file_bytes`.
  int append(std::string_view frame);

  // Waits until all appended frames would survive a power cut. Returns 0, or the errno on failure.
  int sync();

  uint64_t bytes() const { return bytes_; }  // size of all files

 private:
  // These return 0, or the errno on failure.
  int begin_next_file();
  int make_room(uint64_t bytes);
  int write(std::string_view frame);
  void close();

  const std::filesystem::path folder_;
  const SizeLimits bounds_;
  const std::function<std::string()> head_;
  int lock_ = -1;
  std::deque<LogFile> files_;  // the last file is open if fd_ >= 0
  uint64_t bytes_ = 0;
  uint64_t last_number_ = 0;
  int fd_ = -1;
  bool is_listed_ = true;  // whether the folder on disk lists the newest file
};

}  // namespace yard
