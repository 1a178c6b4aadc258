#include "experiments/run/tensorboard.h"

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "env/base/files/tfrecord.h"

namespace yard {
namespace {

template <class T>
void put_little_endian(std::string& out, T bits) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(bits >> (8 * i) & 0xff);
}

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

// Wire types of protocol buffers.
enum Wire { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void put_key(std::string& out, int field, Wire wire) {
  put_varint(out, static_cast<uint64_t>(field) << 3 | wire);
}

void put_bytes(std::string& out, int field, std::string_view bytes) {
  put_key(out, field, kBytes);
  put_varint(out, bytes.size());
  out += bytes;
}

// Event: 1 wall_time, 2 step, 3 file_version, 5 summary, 7 session_log.
std::string event(double wall_s) {
  std::string out;
  put_key(out, 1, kFixed64);
  put_little_endian(out, std::bit_cast<uint64_t>(wall_s));
  return out;
}

std::string event(double wall_s, int64_t step) {
  std::string out = event(wall_s);
  put_key(out, 2, kVarint);
  put_varint(out, static_cast<uint64_t>(step));
  return out;
}

double now_s() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// Returns the first free name after the existing ones. Other writers put the host's name before the
// number; run folders do not reveal it.
std::filesystem::path new_name(const std::filesystem::path& folder) {
  const auto seconds = static_cast<long long>(now_s());
  for (int n = 0;; ++n) {
    char name[64];
    std::snprintf(name, sizeof name, "events.out.tfevents.%010lld.yardmaster.%04d", seconds, n);
    if (!std::filesystem::exists(folder / name)) return folder / name;
  }
}

}  // namespace

std::string version_event(double wall_s) {
  std::string out = event(wall_s);
  put_bytes(out, 3, "brain.Event:2");
  return tfrecord(out);
}

std::string scalar_event(int64_t step, double wall_s,
                         const std::vector<std::pair<std::string, double>>& values) {
  std::string summary;
  for (const auto& [tag, value] : values) {
    std::string one;  // Value: 1 tag, 2 simple_value
    put_bytes(one, 1, tag);
    put_key(one, 2, kFixed32);
    put_little_endian(one, std::bit_cast<uint32_t>(static_cast<float>(value)));
    put_bytes(summary, 1, one);
  }
  std::string out = event(wall_s, step);
  put_bytes(out, 5, summary);
  return tfrecord(out);
}

std::string start_event(int64_t step, double wall_s) {
  std::string log;  // SessionLog: 1 status, START = 1
  put_key(log, 1, kVarint);
  put_varint(log, 1);
  std::string out = event(wall_s, step);
  put_bytes(out, 7, log);
  return tfrecord(out);
}

EventFile::EventFile(const std::filesystem::path& folder) : file_(new_name(folder)) {
  file_.write(version_event(now_s()));
}

void EventFile::scalars(int64_t step, const std::vector<std::pair<std::string, double>>& values) {
  std::vector<std::pair<std::string, double>> finite;
  for (const auto& value : values) {
    if (std::isfinite(static_cast<float>(value.second))) finite.push_back(value);
  }
  if (!finite.empty()) file_.write(scalar_event(step, now_s(), finite));
}

void EventFile::restart(int64_t step) { file_.write(start_event(step, now_s())); }

}  // namespace yard
