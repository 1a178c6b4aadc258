// A temporary file, which is removed when the object is destroyed.
//   const TempFile yaml("cluster.yaml", "nodes: [{gpus: 8}]\n");
//   load_cluster(yaml.path());
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace yard::testing {

class TempFile {
 public:
  TempFile(const std::string& name, std::string_view content)
      : folder_(std::filesystem::path(::testing::TempDir()) /
                ("yard_file_" + std::to_string(::getpid()) + "_" + std::to_string(count()++))) {
    std::filesystem::create_directories(folder_);
    path_ = (folder_ / name).string();
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TempFile() { std::filesystem::remove_all(folder_); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  const std::string& path() const { return path_; }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  static int& count() {
    static int count = 0;
    return count;
  }

  std::filesystem::path folder_;
  std::string path_;
};

}  // namespace yard::testing
