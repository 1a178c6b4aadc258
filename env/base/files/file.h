// Reads and writes whole files and folders. Writes are atomic: a reader, or a crash, sees the
// previous content or the new one, never a part. An unusable path throws InputError, a failing or
// full disk throws RunError; both name the path.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace yard {

// Returns the file's content. Throws InputError if it is missing, a folder or over 1 GiB.
std::string read_file(const std::filesystem::path& path);

// Returns the file's content. Unpacks gzip, recognised by its first bytes. Throws InputError if the
// file is missing or a folder, or if gzip data is truncated or corrupt.
std::string read_and_unpack_file(const std::filesystem::path& path);

// Replaces `path`, absent or a regular file, in one step that survives a power cut.
void write_file_atomic(const std::filesystem::path& path, std::string_view content);

// Writes a file atomically, piece by piece, without holding all of its content in memory.
class AtomicFile {
 public:
  // Creates a hidden file in the folder of `target`.
  explicit AtomicFile(const std::filesystem::path& target);
  ~AtomicFile();  // without commit(), removes the hidden file
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view piece);
  // Flushes everything to disk; nothing more may be written. To publish several files together,
  // flush_and_close all before the first commit. commit() seals a file that is not sealed.
  void flush_and_close();
  // Moves the file to `target`. Must be the last call, made once.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path temp_;  // empty once committed
  int fd_ = -1;
  std::string waiting_;  // not yet written
};

// Checks, before long work, that a file of that name can be written. Throws InputError if not.
void check_writable(const std::filesystem::path& target);

// Removes unfinished atomic files and folders which killed processes left in a folder. Requires: no
// other process is writing there.
void remove_leftovers(const std::filesystem::path& folder);

// Publishes several files together; publishes none if the disk is full before all are written.
class AtomicFiles {
 public:
  // The reference is valid until commit().
  AtomicFile& add(const std::filesystem::path& target);
  void add(const std::filesystem::path& target, std::string_view content);
  void commit();

 private:
  std::vector<std::unique_ptr<AtomicFile>> files_;
};

// A folder that is published atomically: fill path(), then commit().
class AtomicDirectory {
 public:
  // Creates a hidden folder next to `target`, which must be absent or a folder.
  explicit AtomicDirectory(const std::filesystem::path& target);
  ~AtomicDirectory();  // without commit(), removes the hidden folder
  AtomicDirectory(const AtomicDirectory&) = delete;
  AtomicDirectory& operator=(const AtomicDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // Replaces the target by the folder. After a crash the target is the previous folder or this one.
  // On file systems that cannot exchange two names, the target is absent for a moment. Must be
  // called once.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;  // empty once committed
};

// Returns 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view content);

// Returns two lower-case hexadecimal digits per byte.
std::string hex_digits(std::span<const unsigned char> bytes);

}  // namespace yard
