#include "serving/snapshot/quarantine.h"

namespace yard {
namespace {

constexpr size_t kMaxListed = 100;  // so that an answer stays small
constexpr size_t kMaxText = 80;     // bytes

}  // namespace

std::string shortened(std::string_view text) {
  if (text.size() <= kMaxText) return std::string(text);
  size_t end = kMaxText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "...";
}

void Quarantine::add(pb::Quarantined::Record record, std::string_view id, std::string_view why,
                     bool keeps_gpus) {
  ++count_;
  if (record == pb::Quarantined::JOB) jobs_.emplace(id);
  if (listed_.size() == kMaxListed) return;
  pb::Quarantined& entry = listed_.emplace_back();
  entry.set_record(record);
  entry.set_id(shortened(id));
  entry.set_why(std::string(why));
  entry.set_keeps_gpus(keeps_gpus);
}

}  // namespace yard
