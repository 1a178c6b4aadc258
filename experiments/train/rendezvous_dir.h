// A private temporary folder, by which the ranks of one machine exchange their addresses.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "env/base/core/error.h"

namespace yard {

class RendezvousDir {
 public:
  // Throws RunError.
  RendezvousDir() {
    std::string name =
        (std::filesystem::temp_directory_path() / "yardmaster-ranks-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw RunError(name + ": " + std::strerror(errno));
    path_ = name;
  }
  ~RendezvousDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  RendezvousDir(const RendezvousDir&) = delete;
  std::string file() const { return path_ / "ranks"; }

 private:
  std::filesystem::path path_;
};

}  // namespace yard
