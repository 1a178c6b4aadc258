// yard_mutator ROOT SEED COUNT FILE... [--without FILE:LINE...]: draws COUNT mutation points of
// ROOT/FILE..., from each file in proportion to its points. Writes the planted files to FILE and
// prints tab-separated lines: number, file:line, as written, as mutated. COUNT 0 prints all points
// and writes nothing. `--without` drops drawn points on lines that do not compile; the others keep
// their numbers. Unchanged files are not touched, so little is recompiled.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "env/base/core/rng.h"
#include "env/base/files/file.h"
#include "tests/mutation/points.h"

namespace yard::mutation {
namespace {

struct Source {
  std::string path, text;
  std::vector<Point> points;
};

// Draws up to `count` of the points, at most one per operator.
std::vector<Point> draw(std::vector<Point> points, size_t count, Rng rng) {
  for (size_t i = points.size(); i > 1; --i) {
    std::swap(points[i - 1], points[rng.below(static_cast<uint32_t>(i))]);
  }
  std::set<size_t> replaced;
  std::vector<Point> drawn;
  for (Point& p : points) {
    if (drawn.size() == count) break;
    if (!p.replaces || replaced.insert(p.begin).second) drawn.push_back(std::move(p));
  }
  std::sort(drawn.begin(), drawn.end(),
            [](const Point& a, const Point& b) { return a.begin < b.begin; });
  return drawn;
}

// The #line directive makes compilers report the line numbers of the original file.
std::string planted(const std::string& text, const std::vector<Numbered>& points) {
  return "#include \"tests/mutation/chosen.h\"\n#line 1\n" + plant(text, points);
}

void write_changed(const std::string& path, const std::string& text) {
  if (std::filesystem::exists(path) && read_file(path) == text) return;
  write_file_atomic(path, text);
}

void run(const std::string& root, uint64_t seed, size_t count,
         const std::vector<std::string>& paths, const std::set<std::string>& without) {
  std::vector<Source> sources;
  size_t total = 0;
  for (const std::string& path : paths) {
    Source source{path, read_file(root + "/" + path), {}};
    source.points = points_of(source.text);
    total += source.points.size();
    sources.push_back(std::move(source));
  }
  int next_id = 1;
  for (size_t i = 0; i < sources.size(); ++i) {
    Source& source = sources[i];
    const size_t share = (count * source.points.size() + total - 1) / total;
    std::vector<Point> drawn = count == 0
                                   ? std::move(source.points)
                                   : draw(std::move(source.points), share, Rng(seed).split(i));
    const int first_id = next_id;
    next_id += static_cast<int>(drawn.size());
    std::vector<Numbered> kept;
    for (size_t k = 0; k < drawn.size(); ++k) {
      const std::string place = source.path + ":" + std::to_string(drawn[k].line);
      if (without.contains(place)) continue;
      kept.push_back({first_id + static_cast<int>(k), std::move(drawn[k])});
      const Numbered& n = kept.back();
      std::printf("%d\t%s\t%s\t%s\n", n.id, place.c_str(), n.point.was.c_str(),
                  n.point.now.c_str());
    }
    if (count > 0) write_changed(source.path, planted(source.text, kept));
  }
}

}  // namespace
}  // namespace yard::mutation

int main(int argc, char** argv) {
  std::vector<std::string> paths;
  std::set<std::string> without;
  bool names_lines = false;
  for (int i = 4; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--without") {
      names_lines = true;
    } else if (names_lines) {
      without.insert(argument);
    } else {
      paths.push_back(argument);
    }
  }
  if (paths.empty()) {
    std::fprintf(stderr, "usage: yard_mutator ROOT SEED COUNT FILE... [--without FILE:LINE...]\n");
    return 2;
  }
  yard::mutation::run(argv[1], std::strtoull(argv[2], nullptr, 10),
                      std::strtoull(argv[3], nullptr, 10), paths, without);
}
