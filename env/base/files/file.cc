#include "env/base/files/file.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "env/base/core/check.h"
#include "env/base/core/error.h"
#include "env/base/files/unpack.h"

namespace yard {

namespace {

namespace fs = std::filesystem;

// Unfinished files and folders are in the folder of their target, with this prefix and suffix.
const std::string kHidden = ".yard-", kTemporary = ".tmp";

// Returns the path for messages: ".yard-17-0-best.tmp/model.pt" becomes "best/model.pt".
std::string shown(const fs::path& path) {
  std::string out = path.string();
  for (size_t at = 0; (at = out.find(kHidden, at)) != out.npos; ++at) {
    const size_t end = std::min(out.find('/', at), out.size());
    const size_t count = out.find('-', at + kHidden.size());
    const size_t name = count < end ? out.find('-', count + 1) : out.npos;
    const size_t tail = end - kTemporary.size();
    if (name >= tail || out.compare(tail, kTemporary.size(), kTemporary) != 0) continue;
    out.replace(at, end - at, out.substr(name + 1, tail - name - 1));
  }
  return out;
}

// Throws InputError if `error` is due to the caller's path, RunError if due to the system.
[[noreturn]] void fail(const fs::path& given, const std::string& expected, int error) {
  constexpr int kOfPath[] = {EACCES, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, EROFS};
  const std::string why = std::strerror(error), path = shown(given);
  if (std::ranges::count(kOfPath, error) > 0) throw InputError(path, expected, why);
  throw RunError(path + ": " + why);
}

constexpr size_t kMaxBytes = size_t{1} << 30;  // limit of read_file(), not of traces
constexpr char kReadable[] = "a readable file";
constexpr char kWritable[] = "a writable path";

// Opens a file for reading, and closes it.
struct Descriptor {
  explicit Descriptor(const fs::path& path) : fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  Descriptor(const Descriptor&) = delete;

  const int fd;
};

void sync(const fs::path& path, const fs::path& blame) {
  const Descriptor file(path);
  if (file.fd < 0 || ::fsync(file.fd) != 0) fail(blame, kWritable, errno);
}

fs::path parent_of(const fs::path& path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

// Returns a hidden path next to `path`, unique in this process. `name`: name that messages show for
// its content.
fs::path hidden_path(const fs::path& path, const std::string& name = "") {
  static std::atomic<uint64_t> count{0};
  const std::string number = std::to_string(::getpid()) + "-" + std::to_string(count++);
  constexpr size_t kMaxNameLength = 255;  // of Linux file systems
  const std::string whole = kHidden + number + "-" + name + kTemporary;
  const bool named = !name.empty() && whole.size() <= kMaxNameLength;
  return parent_of(path) / (named ? whole : kHidden + number + kTemporary);
}

// Calls make(path) with fresh names until one is not taken by the leftovers of a killed process.
template <class Make>
fs::path make_hidden(const fs::path& path, const std::string& shown_as, Make make) {
  for (;;) {
    fs::path name = hidden_path(path, shown_as);
    if (make(name)) return name;
    if (errno != EEXIST) fail(path, kWritable, errno);
  }
}

void write_all(int fd, std::string_view content, const fs::path& blame) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(blame, kWritable, errno);
    content.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace

std::string read_decompressed_file(const fs::path& path) {
  DecompressingReader file(path);
  std::string content, piece(1 << 18, '\0');
  while (const size_t n = file.read(piece.data(), piece.size())) content.append(piece, 0, n);
  return content;
}

std::string read_file(const fs::path& path) {
  const Descriptor file(path);
  struct stat info {};
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0) fail(path, kReadable, errno);
  // The size is a guess, since pipes have none; one byte more lets the end be read without growing.
  std::string content(static_cast<size_t>(info.st_size) + 1, '\0');
  size_t length = 0;
  for (;;) {
    const ssize_t n = ::read(file.fd, content.data() + length, content.size() - length);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path, kReadable, errno);
    if (n == 0) break;
    length += static_cast<size_t>(n);
    if (length > kMaxBytes) {
      throw InputError(path.string(), "at most " + std::to_string(kMaxBytes >> 20) + " MiB",
                       "more");
    }
    if (length == content.size()) content.resize(2 * length);
  }
  content.resize(length);
  return content;
}

void write_file_atomic(const fs::path& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

AtomicFile::AtomicFile(const fs::path& target) : target_(target) {
  std::error_code ignored;
  const fs::file_status there = fs::status(target_, ignored);
  if (fs::exists(there) && !fs::is_regular_file(there)) {
    throw InputError(target_.string(), "the path of a regular file",
                     fs::is_directory(there) ? "a folder" : "a device or pipe");
  }
  temp_ = make_hidden(target_, "", [&](const fs::path& name) {
    fd_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return fd_ >= 0;
  });
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temp_.empty()) ::unlink(temp_.c_str());
}

void AtomicFile::write(std::string_view piece) {
  constexpr size_t kAtOnce = 1 << 18;
  if (waiting_.size() + piece.size() >= kAtOnce) {
    write_all(fd_, waiting_, target_);
    waiting_.clear();
    if (piece.size() >= kAtOnce) return write_all(fd_, piece, target_);
  }
  waiting_ += piece;
}

void AtomicFile::flush_and_close() {
  YARD_CHECK(fd_ >= 0, "a file is sealed once");
  write_all(fd_, waiting_, target_);
  if (::fsync(fd_) != 0 || ::close(std::exchange(fd_, -1)) != 0) fail(target_, kWritable, errno);
}

void AtomicFile::commit() {
  YARD_CHECK(!temp_.empty(), "a file is committed once");
  if (fd_ >= 0) flush_and_close();
  if (::rename(temp_.c_str(), target_.c_str()) != 0) fail(target_, kWritable, errno);
  temp_.clear();
  sync(parent_of(target_), target_);
}

AtomicFile& AtomicFiles::add(const fs::path& target) {
  return *files_.emplace_back(std::make_unique<AtomicFile>(target));
}

void AtomicFiles::add(const fs::path& target, std::string_view content) {
  add(target).write(content);
}

void AtomicFiles::commit() {
  for (const auto& file : files_) file->flush_and_close();
  for (const auto& file : files_) file->commit();
  files_.clear();
}

void check_writable(const fs::path& target) { const AtomicFile probe(target); }

void remove_unfinished_files(const fs::path& folder) {
  std::error_code error;
  const std::string own = kHidden + std::to_string(::getpid()) + "-";
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kHidden) && name.ends_with(kTemporary) && !name.starts_with(own)) {
      found.push_back(entry.path());
    }
  }
  for (const fs::path& path : found) fs::remove_all(path, error);
}

AtomicDirectory::AtomicDirectory(const fs::path& target)
    : target_(target.has_filename() ? target : target.parent_path()) {
  std::error_code ignored;
  const fs::file_status there = fs::status(target_, ignored);
  if (fs::exists(there) && !fs::is_directory(there)) {
    throw InputError(target.string(), "a folder, or a path that does not exist", "a file");
  }
  path_ = make_hidden(target_, target_.filename().string(),
                      [](const fs::path& name) { return ::mkdir(name.c_str(), 0777) == 0; });
}

AtomicDirectory::~AtomicDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

void AtomicDirectory::commit() {
  YARD_CHECK(!path_.empty(), "a folder is committed once");
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path_)) {
    if (entry.is_regular_file() || entry.is_directory()) sync(entry.path(), target_);
  }
  sync(path_, target_);
  // Exchanges both names in one step, if there is a target and the file system supports it.
  if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) {
    sync(parent_of(target_), target_);
    std::error_code ignored;
    fs::remove_all(std::exchange(path_, {}), ignored);
    return;
  }
  if (errno != ENOENT && errno != EINVAL && errno != ENOSYS) fail(target_, kWritable, errno);
  const fs::path old = hidden_path(target_);
  const bool replaces = ::rename(target_.c_str(), old.c_str()) == 0;
  if (!replaces && errno != ENOENT) fail(target_, kWritable, errno);
  if (::rename(path_.c_str(), target_.c_str()) != 0) {
    const int error = errno;
    if (replaces) ::rename(old.c_str(), target_.c_str());
    fail(target_, kWritable, error);
  }
  path_.clear();
  sync(parent_of(target_), target_);
  std::error_code ignored;
  if (replaces) fs::remove_all(old, ignored);
}

std::string sha256_hex(std::string_view content) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  YARD_CHECK(
      EVP_Digest(content.data(), content.size(), digest, &length, EVP_sha256(), nullptr) == 1,
      "SHA-256 is not available");
  return hex_digits({digest, length});
}

std::string hex_digits(std::span<const unsigned char> bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : bytes) (out += kHex[byte >> 4]) += kHex[byte & 15];
  return out;
}

}  // namespace yard
