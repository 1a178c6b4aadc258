// Reads the lines of a text or of a file, plain or gzip, piece by piece. Memory use grows with the
// longest line, not with the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace yard {

class Lines {
 public:
  // Throws InputError for a missing file, a folder or corrupt gzip data; next() may throw it later.
  static Lines of_file(const std::filesystem::path& path);
  // Reads lines of `text`, called `name` in error messages. Requires: `text` outlives the Lines.
  static Lines of_text(std::string_view text, std::string name);
  Lines(Lines&&) noexcept;
  ~Lines();

  const std::string& name() const { return name_; }

  // Returns the first 64 KiB at most, without a byte order mark. Requires: next() was not called.
  std::string_view first_bytes();

  // Sets `line`, valid until the next call, to the next line without line end; false at the end.
  bool next(std::string_view& line);
  int64_t line_number() const { return number_; }           // number of the current line, from 1
  std::string_view line_ending() const { return ending_; }  // line end of the current line

  // Returns the SHA-256 of all unpacked bytes. Requires: next() has returned false.
  std::string sha256() const { return sha256_; }

 private:
  class Pieces;  // source of bytes, which computes their hash

  Lines(std::unique_ptr<Pieces> pieces, std::string name);
  bool read_more();

  std::unique_ptr<Pieces> pieces_;
  std::string name_, buffer_, sha256_;
  std::string_view ending_;
  size_t at_ = 0;  // position of the next line in buffer_
  int64_t number_ = 0;
  bool begun_ = false, ended_ = false;
};

}  // namespace yard
