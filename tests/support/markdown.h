// Reads Markdown pages, as far as tests of the documents need it.
//
//   for (const CodeBlock& block : read_markdown("README.md").blocks) ...
#pragma once

#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/files/file.h"
#include "env/base/text/text.h"

namespace yard::testing {

struct MarkdownLine {
  int number = 0;  // from 1
  std::string text;
};

struct CodeBlock {
  std::string language;  // "sh" of ```sh
  std::vector<MarkdownLine> lines;
};

struct MarkdownPage {
  std::vector<MarkdownLine> prose;  // all lines outside code blocks
  std::vector<CodeBlock> blocks;
};

inline MarkdownPage read_markdown(const std::filesystem::path& path) {
  constexpr std::string_view kFence = "```";
  MarkdownPage page;
  const std::string text = read_file(path);
  bool in_block = false;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const std::string_view trimmed = trim(line);
    if (trimmed.starts_with(kFence)) {
      in_block = !in_block;
      if (in_block) page.blocks.push_back({std::string(trimmed.substr(kFence.size())), {}});
    } else {
      auto& lines = in_block ? page.blocks.back().lines : page.prose;
      lines.push_back({number, std::string(line)});
    }
  }
  return page;
}

// Returns the anchors which GitHub gives the headings: "## A `b`: c" -> "a-b-c".
inline std::set<std::string> anchors_of(const MarkdownPage& page) {
  std::set<std::string> out;
  std::map<std::string, int> seen;
  for (const MarkdownLine& line : page.prose) {
    const size_t level = line.text.find_first_not_of('#');
    if (level == 0 || level == line.text.npos || line.text[level] != ' ') continue;
    std::string anchor;
    for (const char c : lower_case(trim(std::string_view(line.text).substr(level)))) {
      if (c == ' ') anchor += '-';
      const bool kept = std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
      if (kept || static_cast<unsigned char>(c) >= 0x80) anchor += c;  // letters beyond ASCII
    }
    const int before = seen[anchor]++;
    out.insert(before == 0 ? anchor : anchor + "-" + std::to_string(before));
  }
  return out;
}

}  // namespace yard::testing
