#include "env/sim/speed/all_reduce.h"

#include <bit>

#include "env/base/core/check.h"

namespace yard {
namespace {

// Least squares for y = u a + v b with a, b >= 0; each equation is divided by its y.
class LinkFit {
 public:
  void add(double u, double v, double y) {
    u /= y;
    v /= y;
    uu_ += u * u;
    uv_ += u * v;
    vv_ += v * v;
    u_ += u;
    v_ += v;
  }
  Link link() const {
    const double determinant = uu_ * vv_ - uv_ * uv_;
    YARD_CHECK(determinant > 0, "fitting a link needs at least two message sizes");
    double alpha = (u_ * vv_ - v_ * uv_) / determinant;
    double inverse_beta = (v_ * uu_ - u_ * uv_) / determinant;
    if (alpha < 0) {
      alpha = 0;
      inverse_beta = v_ / vv_;
    }
    YARD_CHECK(inverse_beta > 0, "fitting a link needs times that grow with the message size");
    return {alpha, 1 / inverse_beta};
  }

 private:
  double uu_ = 0, uv_ = 0, vv_ = 0, u_ = 0, v_ = 0;
};

}  // namespace

double ring_bytes_per_link(int32_t nodes, double bytes) {
  return 2.0 * (nodes - 1) / nodes * bytes;
}

double ring_all_reduce_s(int32_t members, double bytes, const Link& link) {
  return 2.0 * (members - 1) * link.latency_s +
         ring_bytes_per_link(members, bytes) / link.bytes_per_s;
}

double tree_all_reduce_s(int32_t members, double bytes, const Link& link) {
  const int levels = std::bit_width(static_cast<uint32_t>(members - 1));  // ceil(log2)
  return 2.0 * levels * (link.latency_s + bytes / link.bytes_per_s);
}

double two_level_all_reduce_s(int32_t nodes, int32_t node_gpus, double bytes, const Link& inside,
                              const Link& across) {
  return ring_all_reduce_s(node_gpus, bytes, inside) + ring_all_reduce_s(nodes, bytes, across);
}

double gradient_exchange_s(Pattern pattern, int32_t nodes, int32_t node_gpus, double bytes,
                           const Link& inside, const Link& across) {
  const Link& link = nodes > 1 ? across : inside;
  switch (pattern) {
    case Pattern::kRing:
      return ring_all_reduce_s(nodes * node_gpus, bytes, link);
    case Pattern::kTree:
      return tree_all_reduce_s(nodes * node_gpus, bytes, link);
    case Pattern::kParameterServer:
      if (nodes < 2) return ring_all_reduce_s(node_gpus, bytes, link);
      return 2 * link.latency_s + node_gpus * ring_bytes_per_link(nodes, bytes) / link.bytes_per_s;
    default:
      return two_level_all_reduce_s(nodes, node_gpus, bytes, inside, across);
  }
}

Link fit_link_inside_node(std::span<const MeasuredAllReduce> measured) {
  LinkFit terms;
  for (const MeasuredAllReduce& one : measured) {
    if (one.gpus != one.gpus_per_node) continue;
    terms.add(2.0 * (one.gpus - 1), ring_bytes_per_link(one.gpus, one.bytes), one.seconds);
  }
  return terms.link();
}

Link fit_link_between_nodes(std::span<const MeasuredAllReduce> measured, const Link& inside) {
  LinkFit terms;
  for (const MeasuredAllReduce& one : measured) {
    const int32_t nodes = one.gpus / one.gpus_per_node;
    const double left_s = one.seconds - ring_all_reduce_s(one.gpus_per_node, one.bytes, inside);
    if (nodes < 2 || left_s <= 0) continue;
    terms.add(2.0 * (nodes - 1), ring_bytes_per_link(nodes, one.bytes), left_s);
  }
  return terms.link();
}

}  // namespace yard
