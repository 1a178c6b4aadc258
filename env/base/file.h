// Whole files and folders: read at once, written so that a reader or a crash meets the old or the
// new, never a half. A path that cannot be used is an InputError, a disk that fails or is full a
// RunError; both name the path.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace yard {

// Returns the content. Throws InputError when missing or a folder.
std::string read_file(const std::filesystem::path& path);

// The same; gzip is recognised by its first bytes and unpacked. Throws InputError also when it is
// truncated or corrupt.
std::string read_unpacked(const std::filesystem::path& path);

// Replaces `path`, which is absent or a regular file, in one step that survives a power cut.
void write_file_atomic(const std::filesystem::path& path, std::string_view content);

// The same for a content that comes piece by piece and is never held whole.
//   AtomicFile out("waits.csv");
//   out.write(line);
//   out.commit();
class AtomicFile {
 public:
  // Makes a hidden file beside `target`.
  explicit AtomicFile(const std::filesystem::path& target);
  ~AtomicFile();  // without commit() nothing is left behind
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view piece);
  // Everything is on the disk, and nothing more may be written: where several files are to appear
  // together, all are sealed before the first is committed. commit() seals a file that is not.
  void seal();
  // Puts the file in the target's place. Call it once, last.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path temp_;  // empty once committed
  int fd_ = -1;
  std::string waiting_;  // not yet written
};

// Makes sure, before long work, that a file of that name can be written. Throws InputError.
void check_writable(const std::filesystem::path& target);

// Removes from a folder what processes that were killed left there of files and folders that were
// to appear at once. Requires: no other process writes there.
void remove_leftovers(const std::filesystem::path& folder);

// Files that appear together, or none where the disk is full before all are written.
class AtomicFiles {
 public:
  // The file is there until commit().
  AtomicFile& add(const std::filesystem::path& target);
  void add(const std::filesystem::path& target, std::string_view content);
  void commit();

 private:
  std::vector<std::unique_ptr<AtomicFile>> files_;
};

// A folder that appears at once: fill path(), then commit().
//   AtomicDirectory out("runs/a");
//   write_file_atomic(out.path() / "manifest.json", text);
//   out.commit();
class AtomicDirectory {
 public:
  // Makes a hidden folder beside `target`, which is absent or a folder.
  explicit AtomicDirectory(const std::filesystem::path& target);
  ~AtomicDirectory();  // without commit() nothing is left behind
  AtomicDirectory(const AtomicDirectory&) = delete;
  AtomicDirectory& operator=(const AtomicDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // Puts the folder in the target's place and removes the old one; a crash leaves the old or the
  // new. On file systems that cannot exchange two names the target is absent for a moment. Call it
  // once.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;  // empty once committed
};

// Returns 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view content);

}  // namespace yard
