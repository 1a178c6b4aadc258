// Reads and writes whole files and folders. Writes are atomic: readers, even after a crash, see
// either the previous or the new content, never a part. Functions throw InputError for an unusable
// path, and RunError for a failing or full disk; both errors name the path.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace yard {

// Returns the file's content. Throws InputError if `path` is missing, a folder or over 1 GiB.
std::string read_file(const std::filesystem::path& path);

// Returns the file's content, unpacked if its first bytes are those of gzip. Throws InputError if
// `path` is missing or a folder, or if gzip data is truncated or corrupt.
std::string read_decompressed_file(const std::filesystem::path& path);

// Writes or replaces the file `path` in one step that survives a power cut.
void write_file_atomic(const std::filesystem::path& path, std::string_view content);

// Writes a file atomically, piece by piece, without holding its whole content in memory.
class AtomicFile {
 public:
  // Creates a hidden file in the folder of `target`.
  explicit AtomicFile(const std::filesystem::path& target);
  ~AtomicFile();  // without commit(), removes the hidden file
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view piece);
  // Flushes all content to disk and closes the file for writing. To publish several files together,
  // call flush_and_close() on all files before the first commit(). commit() closes an open file.
  void flush_and_close();
  // Moves the hidden file to `target`. commit() must be the last call, and called once.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path temp_;  // empty after commit()
  int fd_ = -1;
  std::string waiting_;  // content not yet written
};

// Throws InputError if the file `target` cannot be written. Call it before long work.
void check_writable(const std::filesystem::path& target);

// Removes unfinished atomic files and folders which killed processes left in `folder`. Requires: no
// other process writes in `folder`.
void remove_unfinished_files(const std::filesystem::path& folder);

// Publishes several files together, or no file if the disk is full before all files are written.
class AtomicFiles {
 public:
  // Adds a file to be published. The returned reference is valid until commit().
  AtomicFile& add(const std::filesystem::path& target);
  void add(const std::filesystem::path& target, std::string_view content);
  void commit();

 private:
  std::vector<std::unique_ptr<AtomicFile>> files_;
};

// A folder that is published atomically: fill temporary_path(), then commit().
class AtomicDirectory {
 public:
  // Creates a hidden folder next to `target`. Requires: `target` is absent or a folder.
  explicit AtomicDirectory(const std::filesystem::path& target);
  ~AtomicDirectory();  // without commit(), removes the hidden folder
  AtomicDirectory(const AtomicDirectory&) = delete;
  AtomicDirectory& operator=(const AtomicDirectory&) = delete;

  const std::filesystem::path& temporary_path() const { return path_; }

  // Replaces `target` by the hidden folder. After a crash, `target` is the previous or the new
  // folder. On file systems that cannot exchange two names, `target` is absent for a moment.
  // commit() must be called once.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;  // empty after commit()
};

// Returns the SHA-256 of `content` as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view content);

// Returns `bytes` as two lower-case hexadecimal digits per byte.
std::string hex_digits(std::span<const unsigned char> bytes);

}  // namespace yard
