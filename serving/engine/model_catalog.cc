#include "serving/engine/model_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/core/unix_time.h"
#include "env/base/files/file.h"

namespace yard {
namespace {

constexpr double kMaxTurnS = 30 * 86'400.0;

// A number in [0, 1) which is always the same for a text.
double hash_of(const std::string& text) {
  constexpr size_t kDigits = 12;
  constexpr double kRange = 281'474'976'710'656.0;  // 16^12
  return static_cast<double>(std::stoull(sha256_hex(text).substr(0, kDigits), nullptr, 16)) /
         kRange;
}

pb::VersionStatus version_of(const ModelStore& store) {
  const ModelStore::Status now = store.status();
  pb::VersionStatus out;
  out.set_policy(store.text());
  out.set_digest(now.current.digest);
  out.set_serving(now.current.model != nullptr);
  out.set_reason(pb::Reason_Name(now.refused));
  out.set_detail(now.refused_detail);
  if (now.current.model != nullptr) out.set_envelope(now.current.model->envelope_text());
  return out;
}

// Requires: `store` is not null.
void require_digest(const ModelStore& store, const ModelCatalog::ExpectedDigest& expected) {
  const std::string digest = store.status().current.digest;
  if (expected && *expected != digest) {
    throw InputError("expected_digest", "'" + digest + "', of " + store.text(),
                     "'" + *expected + "': the versions have changed meanwhile");
  }
}

}  // namespace

ModelCatalog::ModelCatalog(const std::vector<ModelOptions>& models, std::string kept_in)
    : kept_in_(std::move(kept_in)) {
  for (const ModelOptions& one : models) {
    auto store = std::make_shared<ModelStore>(one.policy, one.name);
    std::string name = store->name();
    if (!entries_.empty() && find(name) != nullptr) {
      throw InputError("models", "each name once", "'" + name + "' twice");
    }
    entries_.push_back({.name = std::move(name),
                        .configured = one.policy,
                        .current = std::move(store),
                        .candidate = nullptr,
                        .previous = nullptr});
  }
  if (entries_.empty()) {
    entries_.push_back({.name = "",
                        .configured = "",
                        .current = std::make_shared<ModelStore>("", ""),
                        .candidate = nullptr,
                        .previous = nullptr});
  }
  if (!kept_in_.empty()) restore();
}

void ModelCatalog::restore() {
  try {
    for (const KeptModel& kept : read_kept_models(kept_in_)) {
      const auto entry = std::ranges::find(entries_, kept.name, &Entry::name);
      if (entry == entries_.end()) {
        not_restored_.push_back("model '" + kept.name + "' is no longer served");
      } else if (entry->configured != kept.configured) {
        not_restored_.push_back("model '" + kept.name + "': the options now name '" +
                                entry->configured + "', not '" + kept.configured + "'");
        // What an operator has switched off stays off.
        if (kept.mode == pb::MODE_OFF) entry->mode = pb::MODE_OFF;
      } else {
        restore(kept, *entry);
      }
    }
  } catch (const std::exception& error) {
    not_restored_.emplace_back(error.what());
  }
}

void ModelCatalog::restore(const KeptModel& kept, Entry& entry) {
  const auto open = [&](const char* role, const std::string& policy) {
    std::shared_ptr<ModelStore> out;
    if (policy.empty()) return out;
    std::string why;
    try {
      out = std::make_shared<ModelStore>(policy, entry.name);
      const ModelStore::Status now = out->status();
      if (now.current.model != nullptr) return out;
      why = pb::Reason_Name(now.refused) + ": " + now.refused_detail;
    } catch (const InputError& error) {
      why = error.what();
    }
    not_restored_.push_back("model '" + entry.name + "': its " + role + " '" + policy +
                            "': " + why);
    out.reset();
    return out;
  };
  if (kept.current != entry.configured) {
    if (auto current = open("promoted version", kept.current)) entry.current = std::move(current);
  }
  entry.candidate = open("candidate", kept.candidate);
  entry.previous = open("version before", kept.previous);
  const bool is_trial = kept.mode == pb::MODE_SHADOW || kept.mode == pb::MODE_CANARY;
  if (is_trial && entry.candidate == nullptr) return;
  entry.mode = kept.mode;
  entry.share = kept.share;
  entry.turn_s = kept.turn_s;
  entry.mode_unix_s = kept.mode_unix_s;
}

void ModelCatalog::Entry::enter(pb::Mode now) {
  mode = now;
  mode_unix_s = unix_now_s();
}

template <class Change>
void ModelCatalog::change_and_save(Change make) {
  const std::lock_guard one_by_one(changing_);
  std::vector<KeptModel> kept;
  {
    const std::lock_guard lock(mutex_);
    make();
    const auto text_of = [](const std::shared_ptr<ModelStore>& store) {
      return store == nullptr ? "" : store->text();
    };
    for (const Entry& entry : entries_) {
      kept.push_back({.name = entry.name,
                      .configured = entry.configured,
                      .current = text_of(entry.current),
                      .candidate = text_of(entry.candidate),
                      .previous = text_of(entry.previous),
                      .mode = entry.mode,
                      .share = entry.share,
                      .turn_s = entry.turn_s,
                      .mode_unix_s = entry.mode_unix_s});
    }
  }
  if (!kept_in_.empty()) write_kept_models(kept_in_, kept);
}

const ModelCatalog::Entry* ModelCatalog::find(const std::string& name) const {
  if (name.empty()) return &entries_.front();
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  return found == entries_.end() ? nullptr : &*found;
}

ModelCatalog::Entry& ModelCatalog::get(const std::string& name) {
  const Entry* found = find(name);
  if (found != nullptr) return entries_[static_cast<size_t>(found - entries_.data())];
  std::string all;
  for (const Entry& entry : entries_) all += (all.empty() ? "" : ", ") + entry.name;
  throw InputError("model", "one of " + all, "'" + name + "'");
}

bool ModelCatalog::is_candidates_turn(const Entry& entry, const std::string& cluster,
                                      double time_s) {
  std::string turn = entry.name + '\n' + cluster;
  if (entry.turn_s > 0) turn += fmt::format("\n{:.0f}", std::floor(time_s / entry.turn_s));
  return hash_of(turn) < entry.share;
}

ModelCatalog::Choice ModelCatalog::choose(const std::string& asked, const std::string& cluster,
                                          double time_s) const {
  const std::lock_guard lock(mutex_);
  Choice out;
  const Entry* entry = find(asked);
  if (entry == nullptr) {
    std::string all;
    for (const Entry& one : entries_) {
      if (!one.name.empty()) all += (all.empty() ? ", only '" : ", '") + one.name + "'";
    }
    out.decider.reason = pb::NO_MODEL;
    out.decider.detail = "no model '" + asked + "' here" + all;
    out.decider.name = asked;
    return out;
  }
  out.decider = entry->current->current();
  if (entry->mode == pb::MODE_OFF) {
    out.decider.model = nullptr;
    out.decider.reason = pb::OPERATOR;
    out.decider.detail = "an operator switched the model off";
  } else if (entry->mode == pb::MODE_CANARY && is_candidates_turn(*entry, cluster, time_s)) {
    out.decider = entry->candidate->current();
  } else if (entry->mode == pb::MODE_CANARY && out.decider.model == nullptr) {
    out.decider.reason = pb::CONTROL;
    out.decider.detail = "the candidate does not decide for this cluster now";
  } else if (entry->mode == pb::MODE_SHADOW) {
    out.shadow = entry->candidate->current();
  }
  return out;
}

bool ModelCatalog::has(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return find(name) != nullptr;
}

std::string ModelCatalog::first_model_name() const { return entries_.front().name; }

ModelStore::Status ModelCatalog::first_model_status() const {
  const std::lock_guard lock(mutex_);
  return entries_.front().current->status();
}

std::vector<pb::ModelStatus> ModelCatalog::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<pb::ModelStatus> out;
  for (const Entry& entry : entries_) {
    pb::ModelStatus& one = out.emplace_back();
    one.set_name(entry.name);
    one.set_mode(entry.mode);
    one.set_share(entry.share);
    one.set_turn_s(entry.turn_s);
    one.set_mode_unix_s(entry.mode_unix_s);
    *one.mutable_current() = version_of(*entry.current);
    if (entry.candidate != nullptr) *one.mutable_candidate() = version_of(*entry.candidate);
    if (entry.previous != nullptr) *one.mutable_previous() = version_of(*entry.previous);
    one.set_shadow_same(entry.shadow_results[0]);
    one.set_shadow_different(entry.shadow_results[1]);
    one.set_shadow_failed(entry.shadow_results[2]);
    one.set_shadow_dropped(entry.shadow_results[3]);
  }
  return out;
}

void ModelCatalog::load_candidate(const std::string& name, const std::string& policy) {
  std::string of;
  {
    const std::lock_guard lock(mutex_);
    of = get(name).name;
  }
  if (policy.empty()) throw InputError("policy", "a policy or checkpoint:DIR", "none");
  // Opening takes long: meanwhile, requests are decided.
  auto store = std::make_shared<ModelStore>(policy, of);
  const ModelStore::Status now = store->status();
  if (now.current.model == nullptr) {
    throw InputError("policy '" + policy + "'", "a version that passes its test",
                     pb::Reason_Name(now.refused) + ": " + now.refused_detail);
  }
  change_and_save([&] {
    Entry& entry = get(of);
    entry.candidate = std::move(store);
    std::ranges::fill(entry.shadow_results, 0);
  });
}

void ModelCatalog::unload_candidate(const std::string& name,
                                    const ExpectedDigest& expected_digest) {
  change_and_save([&] {
    Entry& entry = get(name);
    if (entry.candidate != nullptr) require_digest(*entry.candidate, expected_digest);
    if (entry.mode == pb::MODE_SHADOW || entry.mode == pb::MODE_CANARY) {
      entry.enter(pb::MODE_ON);
    }
    entry.candidate = nullptr;
  });
}

void ModelCatalog::set_mode(const pb::SetModeRequest& request) {
  change_and_save([&] {
    Entry& entry = get(request.model());
    const int mode = request.mode();
    if (!pb::Mode_IsValid(mode) || mode == pb::MODE_UNSPECIFIED) {
      throw InputError("mode", "MODE_ON, MODE_OFF, MODE_SHADOW or MODE_CANARY",
                       std::to_string(mode));
    }
    const bool canary = mode == pb::MODE_CANARY;
    if ((canary || mode == pb::MODE_SHADOW) && entry.candidate == nullptr) {
      throw InputError("mode", "a candidate to try: load one first", "none");
    }
    if (canary && !(request.share() > 0 && request.share() <= 1)) {
      throw InputError("share", "a share above 0, at most 1", std::to_string(request.share()));
    }
    if (!(request.turn_s() >= 0 && request.turn_s() <= kMaxTurnS)) {
      throw InputError("turn_s", "0 to 2592000 seconds", std::to_string(request.turn_s()));
    }
    entry.enter(static_cast<pb::Mode>(mode));
    entry.share = canary ? request.share() : 0;
    entry.turn_s = canary ? request.turn_s() : 0;
  });
}

void ModelCatalog::promote(const std::string& name, const ExpectedDigest& expected_digest) {
  change_and_save([&] {
    Entry& entry = get(name);
    if (entry.candidate == nullptr) {
      throw InputError("model '" + entry.name + "'", "a candidate: load one first", "none");
    }
    require_digest(*entry.candidate, expected_digest);
    entry.previous = std::exchange(entry.current, std::exchange(entry.candidate, nullptr));
    entry.enter(pb::MODE_ON);
    entry.share = entry.turn_s = 0;
  });
}

void ModelCatalog::roll_back(const std::string& name, const ExpectedDigest& expected_digest) {
  change_and_save([&] {
    Entry& entry = get(name);
    if (entry.previous == nullptr) {
      throw InputError("model '" + entry.name + "'", "a version before the current one", "none");
    }
    require_digest(*entry.previous, expected_digest);
    std::swap(entry.current, entry.previous);
    if (entry.mode != pb::MODE_OFF) entry.enter(pb::MODE_ON);
  });
}

std::vector<std::shared_ptr<ModelStore>> ModelCatalog::stores() const {
  std::vector<std::shared_ptr<ModelStore>> out;
  for (const Entry& entry : entries_) {
    for (const auto& store : {entry.current, entry.candidate, entry.previous}) {
      if (store != nullptr) out.push_back(store);
    }
  }
  return out;
}

void ModelCatalog::reload() {
  std::unique_lock lock(mutex_);
  const auto all = stores();
  lock.unlock();
  for (const auto& store : all) store->reload();
}

void ModelCatalog::reload_if_changed() {
  std::unique_lock lock(mutex_);
  const auto all = stores();
  lock.unlock();
  for (const auto& store : all) store->reload_if_changed();
}

void ModelCatalog::count_shadow(const std::string& name, ShadowResult result) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  if (found != entries_.end()) ++found->shadow_results[static_cast<size_t>(result)];
}

std::string mode_name(pb::Mode mode) {
  switch (mode) {
    case pb::MODE_OFF:
      return "off";
    case pb::MODE_SHADOW:
      return "shadow";
    case pb::MODE_CANARY:
      return "canary";
    default:
      return "on";
  }
}

pb::Mode parse_mode(const std::string& name) {
  for (const pb::Mode mode : {pb::MODE_ON, pb::MODE_OFF, pb::MODE_SHADOW, pb::MODE_CANARY}) {
    if (mode_name(mode) == name) return mode;
  }
  throw InputError("mode", "on, off, shadow or canary", "'" + name + "'");
}

}  // namespace yard
