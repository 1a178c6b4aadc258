// Reads the lines of a text or a file, plain or gzip, piece by piece. Memory use is bounded by the
// longest line, not by the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace yard {

class Lines {
 public:
  // Throws InputError for a missing file, a folder, or (next() too) corrupt gzip data.
  static Lines of_file(const std::filesystem::path& path);
  // `text` must outlive the object. `name` identifies it in messages.
  static Lines of_text(std::string_view text, std::string name);
  Lines(Lines&&) noexcept;
  ~Lines();

  const std::string& name() const { return name_; }

  // Returns up to the first 64 KiB, without a byte order mark. Requires: no next() so far.
  std::string_view head();

  // Goes to the next line, without its \n or \r\n; false at the end. Valid until the next call.
  bool next(std::string_view& line);
  int64_t number() const { return number_; }           // of the current line, from 1
  std::string_view ending() const { return ending_; }  // removed line end; may be empty at the end

  // Returns the hash of all unpacked bytes. Requires: next() returned false.
  std::string sha256() const { return sha256_; }

 private:
  class Pieces;  // source of the bytes, and their hash

  Lines(std::unique_ptr<Pieces> pieces, std::string name);
  bool grow();

  std::unique_ptr<Pieces> pieces_;
  std::string name_, buffer_, sha256_;
  std::string_view ending_;
  size_t at_ = 0;  // of the next line in buffer_
  int64_t number_ = 0;
  bool begun_ = false, ended_ = false;
};

}  // namespace yard
