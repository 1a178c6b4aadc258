// What kube-scheduler binds with the extender's scores, against its own scores alone.
#include <gtest/gtest.h>

#include "serving/kubernetes/extender.h"
#include "tests/serving/kubernetes/kube_scheduler.h"

namespace yard::testing {
namespace {

using kubernetes::Extender;
using nlohmann::json;

constexpr int kPods = 200;

// When the extender hears which GPUs are in use.
enum class Reports { kNever, kFirst, kAlways };

AskExtender asking(Extender& extender) {
  return [&extender](std::string_view verb, const std::string& body) {
    const kubernetes::ExtenderAnswer answer = extender.answer(verb, body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json::parse(answer.body);
  };
}

int bound_of_200(const KubeOptions& options, Reports reports = Reports::kNever, double cores = 0) {
  Extender extender({});
  const AskExtender ask = asking(extender);
  KubeScheduler scheduler(options, ask);
  if (reports != Reports::kNever) ask("state", scheduler.list().dump());
  int bound = 0;
  for (KubePod pod : pods_in_turn(kPods)) {
    pod.cores = cores * pod.gpus;
    pod.mem_gib = 8 * pod.cores;
    bound += scheduler.schedule(pod) >= 0;
    if (reports == Reports::kAlways) ask("state", scheduler.list().dump());
  }
  return bound;
}

TEST(KubePacking, DefaultScoresStrandGpus) {
  for (const double cores : {0., 4., 10.}) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      const int bound = bound_of_200({.weight = 0, .seed = seed}, Reports::kNever, cores);
      std::printf("default scores, %g cores a GPU, seed %d: %d of 200\n", cores,
                  static_cast<int>(seed), bound);
    }
  }
}

TEST(KubePacking, Ours) {
  for (const bool names : {false, true}) {
    for (const Reports reports : {Reports::kNever, Reports::kFirst, Reports::kAlways}) {
      for (const double weight : {0.5, 1., 5.}) {
        for (const double cores : {0., 4., 10.}) {
          std::string line;
          for (uint64_t seed = 1; seed <= 6; ++seed) {
            line += " " + std::to_string(bound_of_200({.names_only = names,
                                                       .weight = weight,
                                                       .asks_filter = seed % 2 == 0,
                                                       .seed = seed},
                                                      reports, cores));
          }
          std::printf("names %d reports %d weight %g cores %g:%s\n", names,
                      static_cast<int>(reports), weight, cores, line.c_str());
        }
      }
    }
  }
}

}  // namespace
}  // namespace yard::testing
