// The files of a decision log, oldest first: DIR/decisions-00000001.tfrecord and so on. A folder
// has one writing process and any number of readers.
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

// Returns the files of a folder in the order of writing. Throws InputError if `folder` is not a
// folder or cannot be listed.
std::vector<LogFile> log_files(const std::filesystem::path& folder);

class LogFiles {
 public:
  struct SizeLimits {
    uint64_t max_bytes = 0;       // of all files together
    uint64_t max_file_bytes = 0;  // of one
    bool syncs = false;           // full files are synced before the next begins
  };

  // Creates the folder if needed. `head` returns the first frame of each file. Throws InputError if
  // the folder is not writable or another process writes there.
  LogFiles(std::filesystem::path folder, const SizeLimits& bounds,
           std::function<std::string()> head);
  ~LogFiles();
  LogFiles(const LogFiles&) = delete;

  // Appends a frame, in a new file if the newest is full or not this object's. Deletes the oldest
  // files beyond the total limit. Returns 0, or the errno of a failed write, whose frame is then
  // not in the log. EMSGSIZE: the frame exceeds the limit of a file.
  int append(std::string_view frame);

  // Waits until all that was appended would survive a power cut. Returns 0 or the errno.
  int sync();

  uint64_t bytes() const { return bytes_; }  // of all files

 private:
  int open_next();
  int make_room(uint64_t bytes);
  int write(std::string_view frame);
  void close();

  const std::filesystem::path folder_;
  const SizeLimits bounds_;
  const std::function<std::string()> head_;
  int lock_ = -1;
  std::deque<LogFile> files_;  // the last one is open if fd_ >= 0
  uint64_t bytes_ = 0;
  uint64_t last_number_ = 0;
  int fd_ = -1;
  bool is_listed_ = true;  // the folder on the disk has the newest file
};

}  // namespace yard
