#include "experiments/report/decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "experiments/report/html.h"

namespace yard::report {
namespace {

constexpr int kCell = 22, kPageLeft = 90, kPageTop = 150, kBar = 160;

std::string colour(float value) {
  const double v = std::clamp(static_cast<double>(value), -1.0, 1.0);
  const auto mix = [&](int full) {
    return static_cast<int>(std::lround(255 + std::abs(v) * (full - 255)));
  };
  return v < 0 ? fmt::format("#{:02x}{:02x}{:02x}", mix(0x1f), mix(0x77), mix(0xb4))
               : fmt::format("#{:02x}{:02x}{:02x}", mix(0xff), mix(0x7f), mix(0x0e));
}

std::string cell(int x, int y, const std::string& name, float value) {
  return fmt::format(
      R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}" stroke="#ddd"><title>{} {:.3g}</title></rect>)"
      "\n",
      x, y, kCell, kCell, colour(value), escape(name), value);
}

std::string head(int x, int y, const std::string& name) {
  return fmt::format(R"svg(<text transform="translate({},{}) rotate(-60)">{}</text>)svg"
                     "\n",
                     x + kCell / 2 + 4, y - 6, escape(name));
}

}  // namespace

std::string decision_svg(const Decision& d, size_t most) {
  std::vector<const Decision::ActionRow*> shown;
  for (const Decision::ActionRow& c : d.legal_actions) shown.push_back(&c);
  std::ranges::stable_sort(shown, std::greater(), &Decision::ActionRow::probability);
  shown.resize(std::min(most, shown.size()));
  const auto features = static_cast<int>(d.row_features.size());
  const int bars = kPageLeft + features * kCell + 10,
            below = kPageTop + static_cast<int>(shown.size()) * kCell;
  const int width =
      std::max(bars + kBar + 120, kPageLeft + static_cast<int>(d.cluster.size()) * kCell + 60);
  const int height = below + kPageTop + kCell + 20;
  std::string out = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" font-family="sans-serif" font-size="11">)"
      "\n"
      R"(<rect width="100%" height="100%" fill="white"/>)"
      "\n"
      R"(<text x="10" y="18" font-size="14">{}</text>)"
      "\n",
      width, height, escape(d.title));
  for (int f = 0; f < features; ++f) {
    out += head(kPageLeft + f * kCell, kPageTop, d.row_features[static_cast<size_t>(f)]);
  }
  int y = kPageTop;
  for (const Decision::ActionRow* c : shown) {
    out +=
        fmt::format(R"(<text x="10" y="{}"{}>{}</text>)"
                    "\n",
                    y + 15, c->is_expert_action ? R"( font-weight="bold")" : "", escape(c->name));
    for (size_t f = 0; f < c->features.size(); ++f) {
      out += cell(kPageLeft + static_cast<int>(f) * kCell, y, d.row_features[f], c->features[f]);
    }
    out += fmt::format(R"(<rect x="{}" y="{}" width="{:.1f}" height="{}" fill="#555"/>)"
                       R"(<text x="{:.1f}" y="{}">{:.1f} %</text>)"
                       "\n",
                       bars, y + 4, c->probability * kBar, kCell - 8,
                       bars + c->probability * kBar + 6, y + 15, 100 * c->probability);
    y += kCell;
  }
  y = below + kPageTop - 20;
  for (size_t f = 0; f < d.cluster.size(); ++f) {
    const int x = kPageLeft + static_cast<int>(f) * kCell;
    out += head(x, y, d.cluster_features[f]) + cell(x, y, d.cluster_features[f], d.cluster[f]);
  }
  out += fmt::format(R"(<text x="10" y="{}">cluster</text>)"
                     "\n</svg>\n",
                     y + 15);
  return out;
}

}  // namespace yard::report
