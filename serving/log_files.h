// The files of a decision log: DIR/decisions-00000001.tfrecord and on, oldest first. One process
// writes to a folder, any number may read.
//
//   LogFiles files("log", {.most_bytes = 1 << 30, .most_file_bytes = 1 << 26}, head);
//   if (const int error = files.append(tfrecord(bytes))) ... strerror(error) ...
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

// Returns the files of a folder in the order in which they were written. Throws InputError where it
// is no folder, or cannot be listed.
std::vector<LogFile> log_files(const std::filesystem::path& folder);

class LogFiles {
 public:
  struct Bounds {
    uint64_t most_bytes = 0;       // of all files together
    uint64_t most_file_bytes = 0;  // of one
  };

  // Makes the folder where there is none. `head` gives the first frame of a file. Throws InputError
  // where the folder cannot be written, or another process writes there.
  LogFiles(std::filesystem::path folder, const Bounds& bounds, std::function<std::string()> head);
  ~LogFiles();
  LogFiles(const LogFiles&) = delete;
  LogFiles& operator=(const LogFiles&) = delete;

  // Adds a frame to the newest file, or to a new one where it is full or this is the first frame;
  // removes the oldest files where all would hold too much. Returns 0, or the error number of what
  // the disk refused: the frame is then not in the log. EMSGSIZE: it is larger than a file may be.
  int append(std::string_view frame);

  uint64_t bytes() const { return bytes_; }  // of all files

 private:
  int open_next();
  int make_room(uint64_t bytes);
  int write(std::string_view frame);
  void close();

  const std::filesystem::path folder_;
  const Bounds bounds_;
  const std::function<std::string()> head_;
  int lock_ = -1;
  std::deque<LogFile> files_;  // the last is the one that is written, where fd_ is one
  uint64_t bytes_ = 0;
  uint64_t last_number_ = 0;
  int fd_ = -1;
};

}  // namespace yard
