#include "env/sim/placement/progressive_filling.h"

namespace yard {

ProgressiveFilling::Tenant& ProgressiveFilling::tenant(int32_t t) {
  const auto [it, fresh] = tenants_.try_emplace(t);
  if (fresh && t != kNone) it->second.weight = view_.tenant_weight(t);
  return it->second;
}

// Removes the job's owners from the orders, changes them, and inserts them at their new positions.
template <class Change>
void ProgressiveFilling::change_and_reorder_owners(int32_t slot, Change change) {
  const int32_t t = charged_tenant(view_, owners_, slot), u = charged_user(view_, owners_, slot);
  Tenant& tenant = this->tenant(t);
  User& user = tenant.users[u];
  if (!tenant.order.empty()) order_.erase(position_in_order(tenant, t));
  if (!user.queue.empty()) tenant.order.erase(position_in_order(user, u));
  change(tenant, user);
  if (!user.queue.empty()) tenant.order.insert(position_in_order(user, u));
  if (!tenant.order.empty()) order_.insert(position_in_order(tenant, t));
}

void ProgressiveFilling::count(int32_t slot, const TaskPlacer::Shares& shares) {
  change_and_reorder_owners(slot, [&](Tenant& tenant, User& user) {
    tenant.used = tenant.used + shares;
    user.used = user.used + shares;
  });
}

void ProgressiveFilling::add(int32_t slot) {
  change_and_reorder_owners(slot, [&](Tenant&, User& user) { user.queue.push_back(slot); });
}

int32_t ProgressiveFilling::next() {
  if (order_.empty()) return kNone;
  const Tenant& first = tenants_.at(std::get<2>(*order_.begin()));
  const int32_t slot = first.users.at(std::get<2>(*first.order.begin())).queue.front();
  change_and_reorder_owners(slot, [](Tenant&, User& user) { user.queue.pop_front(); });
  return slot;
}

}  // namespace yard
