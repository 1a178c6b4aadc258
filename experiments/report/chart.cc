#include "experiments/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/report/html.h"

namespace yard::report {
namespace {

// Size and margins in SVG units. Letters are 12 high, which is about 10 px on a phone.
constexpr double kWidth = 460, kHeight = 280;
constexpr double kLeft = 58, kRight = 14, kTop = 24, kBottom = 42;

bool usable(const Axis& axis, double value) {
  return std::isfinite(value) && (!axis.log || value > 0);
}

// The unit of a time axis, in seconds, chosen by its largest value.
struct TimeUnit {
  double unit;
  const char* name;
};

TimeUnit time_unit_for(double most_s) {
  for (const TimeUnit& of : {TimeUnit{86400, " d"}, {3600, " h"}, {60, " min"}}) {
    if (most_s >= 2 * of.unit) return of;
  }
  return {1, " s"};
}

// About `about` ticks at multiples of 1, 2 or 5 times a power of ten.
std::vector<double> linear_ticks(double from, double to, int about) {
  const double raw = (to - from) / about;
  const double tenth = std::pow(10, std::floor(std::log10(raw)));
  const double step = tenth * (raw <= tenth ? 1 : raw <= 2 * tenth ? 2 : raw <= 5 * tenth ? 5 : 10);
  std::vector<double> ticks;
  for (double k = std::ceil(from / step - 1e-9); k * step <= to + 1e-9 * step; ++k) {
    ticks.push_back(k * step);
  }
  return ticks;
}

std::vector<double> log_ticks(double from, double to, bool seconds) {
  std::vector<double> candidates, ticks;
  if (seconds) {
    candidates = {0.001, 0.01, 0.1, 1, 10, 60, 600, 3600, 36000, 86400, 864000, 8640000, 86400000};
  } else {
    const double decades = std::log10(to / from);
    for (int e = -15; e <= 15; ++e) {
      const double tenth = std::pow(10, e);
      candidates.push_back(tenth);
      if (decades > 2) continue;
      for (const double digit : decades > 0.7 ? std::vector<double>{2, 5}
                                              : std::vector<double>{2, 3, 4, 5, 6, 7, 8, 9}) {
        candidates.push_back(digit * tenth);
      }
    }
  }
  for (const double tick : candidates) {
    if (tick >= from * 0.999 && tick <= to * 1.001) ticks.push_back(tick);
  }
  return ticks;
}

class Scale {
 public:
  Scale(const Axis& axis, double low, double high) : axis_(axis), from_(low), to_(high) {
    if (axis.from) from_ = *axis.from;
    if (axis.to) to_ = *axis.to;
    if (to_ > from_) return;
    to_ = axis.log ? from_ * 2 : from_ + (from_ == 0 ? 1 : std::abs(from_) * 0.1);
    if (!axis.from) from_ = axis.log ? from_ / 2 : from_ - (to_ - from_);
  }

  double operator()(double value) const {
    const double at = axis_.log ? std::log(value / from_) / std::log(to_ / from_)
                                : (value - from_) / (to_ - from_);
    return std::clamp(at, 0.0, 1.0);
  }

  struct Tick {
    double value;
    std::string text;
  };
  std::vector<Tick> ticks(int about) const {
    std::vector<Tick> out;
    if (axis_.log) {
      for (const double tick : log_ticks(from_, to_, axis_.unit == Unit::kSeconds)) {
        out.push_back(
            {tick, axis_.unit == Unit::kSeconds ? duration_text(tick) : text(tick, tick)});
      }
      return out;
    }
    TimeUnit in{1, ""};
    if (axis_.unit == Unit::kSeconds) in = time_unit_for(to_);
    const std::vector<double> ticks = linear_ticks(from_ / in.unit, to_ / in.unit, about);
    const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : 1;
    for (const double tick : ticks) out.push_back({tick * in.unit, text(tick, step) + in.name});
    return out;
  }

 private:
  std::string text(double tick, double step) const {
    return axis_.unit == Unit::kPercent ? tick_text(100 * tick, 100 * step) + " %"
                                        : tick_text(tick, step);
  }

  const Axis& axis_;
  double from_, to_;
};

double at_x(const Scale& x, double value) { return kLeft + x(value) * (kWidth - kLeft - kRight); }
double at_y(const Scale& y, double value) {
  return kHeight - kBottom - y(value) * (kHeight - kTop - kBottom);
}

// Adds a margin of 4 % below and above; none below if the lower end is 0.
void widen(const Axis& axis, double& low, double& high) {
  if (axis.log) {
    const double margin = std::pow(high / low, 0.04);
    low /= margin;
    high *= margin;
    return;
  }
  const double margin = (high - low) * 0.04;
  if (low != 0) low -= margin;
  high += margin;
}

std::string grid(const Chart& chart, const Scale& x, const Scale& y) {
  const double bottom = kHeight - kBottom, right = kWidth - kRight;
  std::string out;
  if (chart.band) {
    const double from = at_x(x, chart.band->first), to = at_x(x, chart.band->second);
    out += fmt::format("<rect class='band' x='{:.1f}' y='{}' width='{:.1f}' height='{}'/>", from,
                       kTop, to - from, bottom - kTop);
  }
  for (const auto& [value, text] : y.ticks(5)) {
    const double at = at_y(y, value);
    out += fmt::format("<line class='grid' x1='{}' y1='{:.1f}' x2='{}' y2='{:.1f}'/>", kLeft, at,
                       right, at);
    out += fmt::format("<text x='{}' y='{:.1f}' text-anchor='end'>{}</text>", kLeft - 6, at + 4,
                       escape(text));
  }
  double free_from = 0;  // end of the last label, to avoid overlaps
  for (const auto& [value, text] : x.ticks(5)) {
    const double at = at_x(x, value);
    const double half = 3.4 * static_cast<double>(text.size());
    out += fmt::format("<line class='grid' x1='{:.1f}' y1='{}' x2='{:.1f}' y2='{}'/>", at, kTop, at,
                       bottom);
    if (at - half < free_from) continue;
    free_from = at + half + 6;
    const bool last = at + half > kWidth;
    out += fmt::format("<text x='{:.1f}' y='{}' text-anchor='{}'>{}</text>", last ? kWidth : at,
                       bottom + 16, last ? "end" : "middle", escape(text));
  }
  if (chart.reference_y) {
    const double at = at_y(y, *chart.reference_y);
    out += fmt::format("<line class='mark' x1='{}' y1='{:.1f}' x2='{}' y2='{:.1f}'/>", kLeft, at,
                       right, at);
  }
  out += fmt::format("<text class='label' x='{:.1f}' y='{}' text-anchor='middle'>{}</text>",
                     (kLeft + right) / 2, kHeight - 6, escape(chart.x.label));
  out += "<text class='label' x='4' y='12'>" + escape(chart.y.label) + "</text>";
  return out;
}

std::string path(const Chart& chart, const Line& line, const Scale& x, const Scale& y) {
  std::string d;
  int drawn = 0;
  double last_x = 0, last_y = 0;
  for (const Point& p : line.points) {
    if (!usable(chart.x, p.x) || !usable(chart.y, p.y)) continue;
    last_x = at_x(x, p.x);
    last_y = at_y(y, p.y);
    d += fmt::format("{}{:.1f} {:.1f}", drawn++ == 0 ? "M" : "L", last_x, last_y);
  }
  if (drawn == 0) return "";
  const std::string name = "<title>" + escape(line.name) + "</title>";
  if (drawn == 1) {
    return fmt::format("<circle class='dot c{}' cx='{:.1f}' cy='{:.1f}' r='3'>{}</circle>",
                       line.colour, last_x, last_y, name);
  }
  return fmt::format("<path class='line c{}{}' d='{}'>{}</path>", line.colour,
                     line.dashed ? " dashed" : "", d, name);
}

std::string legend(const Chart& chart) {
  std::string out = "<ul class='legend'>";
  for (const Line& line : chart.lines) {
    out += fmt::format(
        "<li><svg class='key' viewBox='0 0 22 8' aria-hidden='true'><path class='line c{}{}' "
        "d='M1 4L21 4'/></svg>{}</li>",
        line.colour, line.dashed ? " dashed" : "", escape(line.name));
  }
  return out + "</ul>";
}

}  // namespace

std::string render(const Chart& chart) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double x_low = kInfinity, x_high = -kInfinity, y_low = kInfinity, y_high = -kInfinity;
  for (const Line& line : chart.lines) {
    for (const Point& p : line.points) {
      if (!usable(chart.x, p.x) || !usable(chart.y, p.y)) continue;
      x_low = std::min(x_low, p.x);
      x_high = std::max(x_high, p.x);
      y_low = std::min(y_low, p.y);
      y_high = std::max(y_high, p.y);
    }
  }
  if (!std::isfinite(x_low)) return "";
  if (chart.reference_y) {
    // Show at least 1 % around the mark, so that noise is not magnified.
    y_low = std::min(y_low, *chart.reference_y * 0.99);
    y_high = std::max(y_high, *chart.reference_y * 1.01);
  }
  widen(chart.y, y_low, y_high);
  const Scale x(chart.x, x_low, x_high), y(chart.y, y_low, y_high);
  std::string out = "<figure><figcaption><b>" + escape(chart.title) + "</b>";
  if (!chart.note.empty()) out += "<span>" + escape(chart.note) + "</span>";
  out += "</figcaption>";
  if (chart.lines.size() > 1) out += legend(chart);
  out += fmt::format("<svg class='chart' viewBox='0 0 {} {}' role='img' aria-label='{}'>", kWidth,
                     kHeight, escape(chart.title));
  out += grid(chart, x, y);
  // The first line is the most important one. It is drawn last, above the others.
  for (size_t i = chart.lines.size(); i-- > 0;) out += path(chart, chart.lines[i], x, y);
  return out + "</svg></figure>\n";
}

std::string render_interval(double lo, double mid, double hi, double from, double to) {
  constexpr double kLong = 140;
  const auto at = [&](double value) {
    return 4 + std::clamp(std::log(value / from) / std::log(to / from), 0.0, 1.0) * (kLong - 8);
  };
  return fmt::format(
      "<svg class='interval' viewBox='0 0 {} 16' role='img' aria-label='interval'>"
      "<line class='mark' x1='{:.1f}' y1='0' x2='{:.1f}' y2='16'/>"
      "<line class='range' x1='{:.1f}' y1='8' x2='{:.1f}' y2='8'/>"
      "<circle class='middle' cx='{:.1f}' cy='8' r='2.5'/></svg>",
      kLong, at(1), at(1), at(lo), at(hi), at(mid));
}

}  // namespace yard::report
