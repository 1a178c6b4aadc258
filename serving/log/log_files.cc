#include "serving/log/log_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/text/text.h"

namespace yard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "decisions-";
constexpr std::string_view kSuffix = ".tfrecord";
// Each restart of a server begins a file, however little it writes.
constexpr size_t kMaxFiles = 4096;
constexpr uint64_t kHeadRoom = 1024;  // a head is smaller
// Files hold names of users and jobs, so only owner and group may read them.
constexpr mode_t kMode = 0640;

uint64_t number_of(const std::string& name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return 0;
  const std::string_view digits = std::string_view(name).substr(
      kPrefix.size(), name.size() - std::min(name.size(), kPrefix.size() + kSuffix.size()));
  return parse_number<uint64_t>(digits).value_or(0);
}

}  // namespace

std::vector<LogFile> log_files(const fs::path& folder) {
  std::vector<LogFile> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;  // deleted by the writer meanwhile
    LogFile file{it->path(), number_of(it->path().filename()), 0};
    if (file.number == 0 || !it->is_regular_file(gone) || gone) continue;
    file.bytes = it->file_size(gone);
    if (!gone) files.push_back(std::move(file));
  }
  if (error) throw InputError(folder.string(), "a folder with a decision log", error.message());
  std::ranges::sort(files, {}, &LogFile::number);
  return files;
}

LogFileWriter::LogFileWriter(fs::path folder, const SizeLimits& bounds,
                             std::function<std::string()> head)
    : folder_(std::move(folder)), bounds_(bounds), head_(std::move(head)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  const fs::path lock = folder_ / ".lock";
  if (!error) {
    lock_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
    if (lock_ < 0) error.assign(errno, std::generic_category());
  }
  if (error) throw InputError(folder_.string(), "a writable folder", error.message());
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    ::close(std::exchange(lock_, -1));
    throw InputError(folder_.string(), "a folder not used by another server", "one in use");
  }
  for (LogFile& file : log_files(folder_)) {
    bytes_ += file.bytes;
    last_number_ = file.number;
    files_.push_back(std::move(file));
  }
}

LogFileWriter::~LogFileWriter() {
  close();
  if (lock_ >= 0) ::close(lock_);
}

void LogFileWriter::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

int LogFileWriter::append(std::string_view frame) {
  if (frame.size() + kHeadRoom > bounds_.max_file_bytes) return EMSGSIZE;
  if (fd_ >= 0 && files_.back().bytes + frame.size() > bounds_.max_file_bytes) {
    if (const int error = bounds_.syncs ? sync() : 0) return error;
    close();
  }
  if (fd_ < 0) {
    if (const int error = begin_next_file()) return error;
  }
  return write(frame);
}

int LogFileWriter::sync() {
  if (fd_ >= 0 && ::fdatasync(fd_) != 0) return errno;
  if (is_listed_) return 0;
  const int folder = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return errno;
  is_listed_ = ::fsync(folder) == 0;
  const int error = is_listed_ ? 0 : errno;
  ::close(folder);
  return error;
}

// Deletes a file whose head cannot be written; else a full disk would collect empty files.
int LogFileWriter::begin_next_file() {
  std::string path;
  do {
    path = folder_ / fmt::format("{}{:08}{}", kPrefix, last_number_ + 1, kSuffix);
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  } while (fd_ < 0 && errno == EEXIST && ++last_number_ != 0);
  if (fd_ < 0) return errno;
  files_.push_back({path, last_number_ + 1, 0});
  is_listed_ = false;
  const int error = write(head_());
  if (error == 0) {
    ++last_number_;
    return 0;
  }
  close();
  ::unlink(path.c_str());
  bytes_ -= files_.back().bytes;
  files_.pop_back();
  return error;
}

int LogFileWriter::make_room(uint64_t bytes) {
  while (files_.size() > 1 && (bytes_ + bytes > bounds_.max_bytes || files_.size() > kMaxFiles)) {
    if (::unlink(files_.front().path.c_str()) != 0 && errno != ENOENT) return errno;
    bytes_ -= files_.front().bytes;
    files_.pop_front();
  }
  return 0;
}

int LogFileWriter::write(std::string_view frame) {
  if (const int error = make_room(frame.size())) return error;
  LogFile& file = files_.back();
  size_t done = 0;
  while (done < frame.size()) {
    const ssize_t n = ::write(fd_, frame.data() + done, frame.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int error = n < 0 ? errno : ENOSPC;
      // A partial frame may only be at the end of a file: readers could not find frames after it.
      if (done > 0 && ::ftruncate(fd_, static_cast<off_t>(file.bytes)) != 0) {
        file.bytes += done;
        bytes_ += done;
        close();
      } else if (::lseek(fd_, static_cast<off_t>(file.bytes), SEEK_SET) < 0) {
        close();
      }
      return error;
    }
    done += static_cast<size_t>(n);
  }
  file.bytes += done;
  bytes_ += done;
  return 0;
}

}  // namespace yard
