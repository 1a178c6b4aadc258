#include "env/base/files/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <set>
#include <thread>

#include "env/base/core/error.h"
#include "env/base/core/rng.h"

namespace yard {
namespace {

namespace fs = std::filesystem;

class FileTest : public ::testing::Test {
 protected:
  FileTest() {
    std::string name = ::testing::TempDir() + "/yard-file-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~FileTest() override { fs::remove_all(folder_); }

  fs::path at(const std::string& name) const { return folder_ / name; }

  void put(const std::string& name, const std::string& bytes) const {
    std::ofstream(at(name), std::ios::binary) << bytes;
  }

  std::set<std::string> listing() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.insert(entry.path().filename());
    return names;
  }

  fs::path folder_;
};

// Returns the text compressed as one gzip member.
std::string gzip(const std::string& text) {
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&z, text.size()) + 32, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string noise(size_t bytes) {
  Rng rng(5);
  std::string out(bytes, '\0');
  for (char& c : out) c = static_cast<char>(rng.next());
  return out;
}

template <class Error, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no such exception was thrown";
  return "";
}

std::string read_error(const fs::path& path) {
  return message_of<InputError>([&] { read_decompressed_file(path); });
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST_F(FileTest, ReadsPlainBytes) {
  for (const std::string& bytes :
       {std::string(), std::string("\x1f"), std::string("a\0b\n", 4), noise(100'000)}) {
    put("a", bytes);
    EXPECT_EQ(read_file(at("a")), bytes);
  }
}

TEST_F(FileTest, ReadsPipesToTheEnd) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  const std::string bytes = "x" + noise(300'000);
  std::thread writer([&] { put("pipe", bytes); });
  EXPECT_EQ(read_file(at("pipe")), bytes);
  writer.join();
}

TEST_F(FileTest, UnpacksGzipOfOneAndSeveralMembers) {
  const std::string big = noise(1'000'000) + std::string(3'000'000, 'a');
  put("a.gz", gzip(big));
  EXPECT_EQ(read_decompressed_file(at("a.gz")), big);
  EXPECT_EQ(read_file(at("a.gz")), gzip(big)) << "bytes that only look packed stay";
  put("a.gz", gzip("one,") + gzip("") + gzip("two"));
  EXPECT_EQ(read_decompressed_file(at("a.gz")), "one,two");
}

TEST_F(FileTest, GzipTruncatedAnywhereIsDetected) {
  const std::string whole = gzip("first member, ") + gzip(noise(500));
  const size_t first = gzip("first member, ").size();
  for (size_t n = 2; n < whole.size(); ++n) {
    if (n == first) continue;  // the whole file
    put("cut.gz", whole.substr(0, n));
    const std::string message = read_error(at("cut.gz"));
    ASSERT_TRUE(has(message, "truncated") && has(message, at("cut.gz").string())) << n << message;
  }
}

TEST_F(FileTest, ChangedOrTrailingBytesAreCorrupt) {
  const std::string whole = gzip(noise(500));
  for (const size_t i : {whole.size() / 2, whole.size() - 6, whole.size() - 1}) {
    std::string bytes = whole;
    bytes[i] ^= 1;
    put("bad.gz", bytes);
    const std::string message = read_error(at("bad.gz"));
    EXPECT_TRUE(has(message, "corrupt") && has(message, at("bad.gz").string())) << message;
  }
  put("bad.gz", whole + "garbage");
  EXPECT_TRUE(has(read_error(at("bad.gz")), "corrupt"));
}

TEST_F(FileTest, ReadErrorsNameThePath) {
  EXPECT_EQ(read_error(at("none")),
            at("none").string() + ": expected a readable file, got No such file or directory");
  EXPECT_EQ(read_error(folder_),
            folder_.string() + ": expected a readable file, got Is a directory");
}

TEST_F(FileTest, WritesAndReplacesWithoutLeftovers) {
  for (const std::string& bytes : {std::string("old"), std::string(), noise(100'000)}) {
    write_file_atomic(at("a"), bytes);
    EXPECT_EQ(read_file(at("a")), bytes);
    EXPECT_EQ(listing(), (std::set<std::string>{"a"}));
  }
}

TEST_F(FileTest, OpenFileKeepsItsOldContent) {
  write_file_atomic(at("a"), "old");
  std::ifstream reader(at("a"));
  write_file_atomic(at("a"), "new");
  std::string line;
  std::getline(reader, line);
  EXPECT_EQ(line, "old");
}

TEST_F(FileTest, WritingToAnInvalidPathIsAnInputError) {
  const auto write_to = [](const fs::path& path) {
    return message_of<InputError>([&] { write_file_atomic(path, "x"); });
  };
  EXPECT_TRUE(has(write_to(at("none/a")), at("none/a").string()));
  EXPECT_TRUE(has(write_to(folder_), folder_.string()));
  EXPECT_TRUE(has(write_to("/dev/null"), "/dev/null"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_TRUE(listing().empty());
}

// Limits files to a few bytes, to simulate a full disk.
class SmallDisk {
 public:
  SmallDisk() : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{1000, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST_F(FileTest, FullDiskKeepsTheOldFile) {
  write_file_atomic(at("a"), "old");
  std::string message;
  {
    const SmallDisk small;
    message = message_of<RunError>([&] { write_file_atomic(at("a"), noise(5000)); });
  }
  EXPECT_TRUE(has(message, at("a").string())) << message;
  EXPECT_EQ(read_file(at("a")), "old");
  EXPECT_EQ(listing(), (std::set<std::string>{"a"}));
}

TEST_F(FileTest, SeveralFilesAreWrittenAllOrNone) {
  put("b", "old");
  for (const size_t last : {size_t{5000}, size_t{10}}) {
    AtomicFiles files;
    files.add(at("a"), "new");
    files.add(at("b")).write(noise(20));
    files.add(at("c"), noise(last));
    const SmallDisk small;
    if (last > 1000) {
      EXPECT_TRUE(has(message_of<RunError>([&] { files.commit(); }), at("c").string()));
      continue;
    }
    EXPECT_EQ(read_file(at("b")), "old");
    EXPECT_FALSE(fs::exists(at("a")));
    files.commit();
    EXPECT_EQ(read_file(at("a")), "new");
    EXPECT_EQ(read_file(at("b")), noise(20));
  }
  EXPECT_EQ(listing(), (std::set<std::string>{"a", "b", "c"}));
}

TEST_F(FileTest, FileWrittenInPiecesAppearsAtCommit) {
  put("out", "old");
  std::string all;
  {
    AtomicFile file(at("out"));
    for (int i = 0; i < 3000; ++i) {
      const std::string piece(static_cast<size_t>(i), static_cast<char>('a' + i % 26));
      file.write(piece);
      all += piece;
    }
    EXPECT_EQ(read_file(at("out")), "old") << "no reader sees a partial file";
    EXPECT_EQ(listing().size(), 2u);
    file.commit();
  }
  EXPECT_EQ(read_file(at("out")), all);
  EXPECT_EQ(listing(), std::set<std::string>{"out"});
  { AtomicFile(at("out")).write("never committed"); }
  EXPECT_EQ(read_file(at("out")), all);
  EXPECT_EQ(listing(), std::set<std::string>{"out"});
  EXPECT_THROW(AtomicFile(at("no") / "out"), InputError);
}

TEST_F(FileTest, LeftoversOfKilledProcessesCanBeRemoved) {
  write_file_atomic(at("kept"), "1");
  write_file_atomic(at(".yard-1-0.tmp"), "half");
  fs::create_directory(at(".yard-1-1.tmp"));
  write_file_atomic(at(".yard-1-1.tmp/part"), "half");
  AtomicFile own(at("own"));  // of this process, still being written
  remove_unfinished_files(at("kept").parent_path());
  own.write("2");
  own.commit();
  EXPECT_EQ(listing(), (std::set<std::string>{"kept", "own"}));
}

TEST_F(FileTest, CheckWritableRejectsInvalidPaths) {
  check_writable(at("fine"));
  EXPECT_TRUE(listing().empty());
  EXPECT_THROW(check_writable(at("no/such/folder")), InputError);
}

TEST_F(FileTest, FolderAppearsAtCommit) {
  AtomicDirectory out(at("run"));
  fs::create_directory(out.temporary_path() / "sub");
  write_file_atomic(out.temporary_path() / "sub/a", "1");
  EXPECT_FALSE(fs::exists(at("run")));
  out.commit();
  EXPECT_EQ(read_file(at("run/sub/a")), "1");
  EXPECT_EQ(listing(), (std::set<std::string>{"run"}));
}

// A folder is written under a temporary name, but errors give its final name.
TEST_F(FileTest, FolderErrorsUseTheFinalName) {
  AtomicDirectory out(at("best"));
  const std::string missing = message_of<InputError>(
      [&] { write_file_atomic(out.temporary_path() / "none" / "model.pt", "weights"); });
  EXPECT_TRUE(has(missing, at("best/none/model.pt").string())) << missing;
  AtomicDirectory inner(out.temporary_path() / "one-1");
  const std::string nested =
      message_of<InputError>([&] { read_file(inner.temporary_path() / "none.json"); });
  EXPECT_TRUE(has(nested, at("best/one-1/none.json").string())) << nested;
}

TEST_F(FileTest, FolderReplacesTheOldOneEntirely) {
  fs::create_directory(at("run"));
  put("run/old", "1");
  AtomicDirectory out(at("run/"));  // a trailing slash names the same folder
  write_file_atomic(out.temporary_path() / "new", "2");
  EXPECT_TRUE(fs::exists(at("run/old")));
  out.commit();
  EXPECT_FALSE(fs::exists(at("run/old")));
  EXPECT_EQ(read_file(at("run/new")), "2");
  EXPECT_EQ(listing(), (std::set<std::string>{"run"}));
}

TEST_F(FileTest, ReplacedFolderIsAlwaysPresent) {
  const auto write = [&](const std::string& text) {
    AtomicDirectory out(at("run"));
    write_file_atomic(out.temporary_path() / "a", text);
    out.commit();
  };
  write("0");
  std::atomic<bool> done = false;
  std::atomic<int> missed = 0, seen = 0;
  std::thread reader([&] {
    while (!done) {
      (fs::exists(at("run/a")) ? seen : missed)++;
    }
  });
  for (int i = 1; i <= 100; ++i) write(std::to_string(i));
  done = true;
  reader.join();
  EXPECT_EQ(read_file(at("run/a")), "100");
  EXPECT_GT(seen, 0);
  EXPECT_EQ(missed, 0);
}

TEST_F(FileTest, UncommittedFolderLeavesNothing) {
  fs::create_directory(at("run"));
  put("run/old", "1");
  {
    AtomicDirectory out(at("run"));
    write_file_atomic(out.temporary_path() / "new", "2");
  }
  EXPECT_EQ(listing(), (std::set<std::string>{"run"}));
  EXPECT_EQ(read_file(at("run/old")), "1");
  EXPECT_FALSE(fs::exists(at("run/new")));
}

TEST_F(FileTest, FolderCannotReplaceAFile) {
  put("run", "a file");
  EXPECT_TRUE(has(message_of<InputError>([&] { AtomicDirectory{at("run")}; }), at("run").string()));
  EXPECT_TRUE(has(message_of<InputError>([&] { AtomicDirectory{at("none/run")}; }), "none/run"));
}

TEST(Sha256, MatchesKnownAnswers) {
  // Examples of FIPS 180-4.
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace yard
