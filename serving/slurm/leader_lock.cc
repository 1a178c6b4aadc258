#include "serving/slurm/leader_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "env/base/core/error.h"
#include "env/base/text/text.h"

namespace yard::slurm {
namespace {

constexpr std::string_view kPrefix = "term-";

// Another name in every process, even on hosts of one name.
std::string make_owner() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  std::random_device random;
  std::ostringstream out;
  out << host << ":" << getpid() << ":" << std::hex << random() << random();
  return out.str();
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

// A file's line is "OWNER COUNTER leads" or "OWNER COUNTER released".
LeaderLock::LeaderLock(std::filesystem::path folder, double lock_s)
    : folder_(std::move(folder)), lock_s_(lock_s), owner_(make_owner()) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (!std::filesystem::is_directory(folder_) || access(folder_.c_str(), W_OK | X_OK) != 0) {
    throw InputError("lock " + in_quotes(folder_.string()), "a folder to write to",
                     error ? error.message() : std::strerror(errno));
  }
}

LeaderLock::~LeaderLock() {
  if (still_leads()) write("released");
}

std::filesystem::path LeaderLock::file_of(int64_t term) const {
  return folder_ / (std::string(kPrefix) + std::to_string(term));
}

int64_t LeaderLock::latest_term() const {
  int64_t latest = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    latest = std::max(latest, parse_int(name.substr(kPrefix.size())).value_or(0));
  }
  return latest;
}

// Only one of several candidates creates the file.
bool LeaderLock::begin(int64_t term) {
  const int fd = open(file_of(term).c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC,
                      S_IRUSR | S_IWUSR | S_IRGRP);
  if (fd < 0) return false;
  close(fd);
  term_ = term;
  beats_ = 0;
  if (!write("leads")) term_ = 0;
  if (term_ > 0) remove_before(term_);
  return term_ > 0;
}

bool LeaderLock::write(const std::string& state) {
  const auto at = BootClock::now();  // before the write: it may take long
  const std::string line = owner_ + " " + std::to_string(++beats_) + " " + state + "\n";
  const int fd = open(file_of(term_).c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written =
      pwrite(fd, line.data(), line.size(), 0) == static_cast<ssize_t>(line.size()) &&
      ftruncate(fd, static_cast<off_t>(line.size())) == 0 && fsync(fd) == 0;
  close(fd);
  if (written) beat_at_ = at;
  return written;
}

// The file of the term before stays: a deposed leader then finds its own and the later one.
void LeaderLock::remove_before(int64_t term) const {
  std::error_code error;
  for (int64_t old = term - 2; old > 0 && old > term - 10; --old) {
    std::filesystem::remove(file_of(old), error);
  }
}

bool LeaderLock::renew() {
  if (term_ > 0) {
    if (still_leads() && write("leads")) return true;
    term_ = 0;
    seen_term_ = -1;
  }
  const int64_t latest = latest_term();
  if (latest == 0) return begin(1);
  const std::string now = content_of(file_of(latest));
  seen_owner_ = now.substr(0, now.find(' '));
  if (now.ends_with(" released") || seen_owner_ == owner_) return begin(latest + 1);
  if (latest != seen_term_ || now != seen_) {
    other_alive_ |= seen_term_ >= 0;
    seen_term_ = latest;
    seen_ = now;
    seen_at_ = BootClock::now();
    return false;
  }
  return seconds_since(seen_at_) > lock_s_ && begin(latest + 1);
}

bool LeaderLock::keep() {
  if (!still_leads()) return false;
  return seconds_since(beat_at_) < lock_s_ / 8 || write("leads");
}

bool LeaderLock::still_leads() {
  if (term_ == 0) return false;
  if (seconds_since(beat_at_) < lock_s_ / 2 && access(file_of(term_ + 1).c_str(), F_OK) != 0 &&
      access(file_of(term_).c_str(), F_OK) == 0) {
    return true;
  }
  term_ = 0;
  seen_term_ = -1;
  return false;
}

}  // namespace yard::slurm
