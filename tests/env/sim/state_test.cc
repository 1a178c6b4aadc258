// The block of a state: its layout, copies and comparison, and that playing allocates nothing.
#include "env/sim/state/state.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "env/base/core/error.h"
#include "env/sim/rules/digest.h"
#include "env/sim/state/tables.h"
#include "tests/support/scene.h"

namespace {

std::atomic<int64_t> num_allocations{0};

void* counted(size_t bytes, size_t align) {
  ++num_allocations;
  void* block = align <= alignof(std::max_align_t)
                    ? std::malloc(bytes == 0 ? 1 : bytes)
                    : std::aligned_alloc(align, (bytes + align - 1) / align * align);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

// Replace the operators of the whole test program to count allocations. GCC 12 takes the pairs for
// mismatched where it inlines only one of the two (its bug 103993).
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(size_t bytes) { return counted(bytes, 1); }
void* operator new[](size_t bytes) { return counted(bytes, 1); }
void* operator new(size_t bytes, std::align_val_t a) { return counted(bytes, size_t(a)); }
void* operator new[](size_t bytes, std::align_val_t a) { return counted(bytes, size_t(a)); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  ++num_allocations;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new[](size_t bytes, const std::nothrow_t& t) noexcept {
  return operator new(bytes, t);
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }
void operator delete[](void* block, size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, size_t, std::align_val_t) noexcept { std::free(block); }

namespace yard::testing {
namespace {

TEST(Sizes, PartsAreLimitedByWhatJobsCanHold) {
  std::vector<JobLine> lines(2000, {0, 1, 10});
  std::vector<Job> jobs = jobs_of(lines);
  RoleGroup group;
  group.count = 1000;
  group.task.cpu_milli = 10;
  jobs[7].gpus = 0;
  jobs[7].groups = {group};
  group.count = 20;
  jobs[8].gpus = 0;
  jobs[8].groups = {group};
  const Scene scene("1x4", jobs);
  EXPECT_EQ(sizes_for(scene.fixed(), 2000).parts, 4 + 1000 + 20);
  EXPECT_EQ(sizes_for(scene.fixed(), 1).parts, 4 + 1000);
}

TEST(Sizes, TooManyPartsAreRejected) {
  std::vector<Job> jobs = jobs_of({{0, 0, 10}, {0, 0, 10}, {0, 0, 10}});
  for (size_t j = 0; j < jobs.size(); ++j) {
    RoleGroup group;
    group.min_count = 1;
    group.max_count = INT32_MAX - static_cast<int32_t>(j);
    group.task.cpu_milli = 10;
    jobs[j].groups = {group};
  }
  const Scene scene("1x4", jobs);
  EXPECT_THROW(sizes_for(scene.fixed(), 2), InputError);
}

static_assert(std::is_trivially_copyable_v<SimState> && std::is_trivially_copyable_v<StateHeader>);

TEST(State, ColumnsAreAlignedContiguousAndFillTheBlock) {
  for (const StateSizes& z : {StateSizes{1, 1, 1, 1, 1}, StateSizes{37, 5, 33, 3, 8},
                              StateSizes{1000, 4097, 32776, 7, 64}}) {
    auto* base = reinterpret_cast<std::byte*>(kColumnAlign);  // an address to count from
    SimState s = state_in_block(base, z);
    const std::byte* end = base;
    int columns = 0;
    for_each_column(s, z, [&](auto* column, int64_t length, Extent) {
      const auto* at = reinterpret_cast<const std::byte*>(column);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(at) % kColumnAlign, 0u);
      EXPECT_GE(at, end) << "columns overlap";
      EXPECT_LT(at - end, static_cast<int64_t>(kColumnAlign)) << "a gap";
      end = at + static_cast<size_t>(length) * sizeof(*column);
      ++columns;
    });
    EXPECT_LE(static_cast<size_t>(end - base), state_bytes(z));
    EXPECT_LT(state_bytes(z), static_cast<size_t>(end - base) + kColumnAlign);
    // A column missing from the list is a null pointer here, and garbage everywhere else.
    constexpr int kFields = 32;  // of the records
    EXPECT_EQ(sizeof(SimState), static_cast<size_t>(columns + kFields) * sizeof(void*));
  }
}

class CopiedState : public ::testing::TestWithParam<const char*> {};

TEST_P(CopiedState, ContinuesAsTheOriginalAtEveryEvent) {
  const Scene scene("3x4+1x8", random_jobs(Rng(6), {.count = 30}));
  const auto policy = make_policy(GetParam());
  SceneRunner runner(scene, *policy);
  SceneRunner copy(scene, *policy);
  int event = 0;
  while (runner.step()) {
    copy.copy_from(runner);
    ASSERT_EQ(digest(scene.fixed(), copy.state()), digest(scene.fixed(), runner.state()));
    if (event++ % 5 != 0) continue;
    SceneRunner other(scene, *policy);
    other.copy_from(runner);
    while (copy.step()) {
      ASSERT_TRUE(other.step());
      ASSERT_EQ(digest(scene.fixed(), other.state()), digest(scene.fixed(), copy.state()));
    }
  }
  ASSERT_FALSE(runner.failed());
  // Every copy ends as the original does, so checking the last one is enough.
  EXPECT_EQ(total_jct_us(scene, copy.jobs()), total_jct_us(scene, runner.jobs()));
  EXPECT_EQ(digest(scene.fixed(), copy.state()), digest(scene.fixed(), runner.state()));
}

INSTANTIATE_TEST_SUITE_P(Policies, CopiedState, ::testing::Values("greedy", "srtf", "las"),
                         [](const auto& info) { return std::string(info.param); });

TEST(State, CopyUsesOnlyLiveData) {
  const Scene scene("2x4", random_jobs(Rng(7), {.count = 200}));
  const auto policy = make_policy("greedy");
  SceneRunner runner(scene, *policy);
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(runner.step());
  const StateSizes z = runner.world().sizes();
  std::vector<uint64_t> words(state_bytes(z) / 8 + 16, 0xABABABABABABABABu);
  auto* base =
      reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(words.data()) + 63) / 64 * 64);
  SimState to = state_in_block(base, z);
  copy_state(z, runner.state(), to);
  EXPECT_EQ(digest(scene.fixed(), to), digest(scene.fixed(), runner.state()));
  EXPECT_EQ(broken_invariant(scene.fixed(), to), "");
  ASSERT_LT(to.head->high_water, z.slots);
  EXPECT_EQ(to.job[z.slots - 1], static_cast<int32_t>(0xABABABABu))
      << "a slot never used was copied";
}

TEST(Digest, DependsOnTheStateNotItsHistory) {
  // Two jobs wait; the later one is in the lower slot in one world and in the higher in the other.
  const Scene scene("1x4", jobs_of({{0, 1, 100}, {0, 2, 100}, {0, 3, 100}}));
  World a(scene.fixed(), 3), b(scene.fixed(), 3);
  a.reset(0, 3);
  b.reset(0, 3);
  for (const int32_t j : {0, 1, 2}) arrive(scene.fixed(), a.state(), j);
  // Slots 0 and 1 were in use before and are freed in reverse order.
  SimState& s = b.state();
  for (int i = 0; i < 2; ++i) take_slot(scene.fixed(), s);
  for (const int32_t slot : {0, 1}) {
    s.phase[slot] = Phase::kDone;
    release_slot(s, slot);
  }
  for (const int32_t j : {0, 1, 2}) arrive(scene.fixed(), s, j);
  for (World* world : {&a, &b}) {
    world->state().head->arrived = 3;
    EXPECT_EQ(broken_invariant(scene.fixed(), world->state()), "");
  }
  EXPECT_NE(a.state().job[0], b.state().job[0]) << "the histories should differ";
  EXPECT_EQ(digest(scene.fixed(), a.state()), digest(scene.fixed(), b.state()));

  const auto slot_of = [](const World& w, int32_t j) {
    for (int32_t slot = 0;; ++slot) {
      if (w.state().job[slot] == j) return slot;
    }
  };
  const Piece piece{0, 2};
  start(scene.fixed(), a.state(), slot_of(a, 1), &piece, 1);
  EXPECT_NE(digest(scene.fixed(), a.state()), digest(scene.fixed(), b.state()));
  start(scene.fixed(), b.state(), slot_of(b, 1), &piece, 1);
  EXPECT_EQ(digest(scene.fixed(), a.state()), digest(scene.fixed(), b.state()));
  preempt(scene.fixed(), a.state(), slot_of(a, 1));
  EXPECT_NE(digest(scene.fixed(), a.state()), digest(scene.fixed(), b.state()));
}

TEST(Digest, DependsOnTheOrderOfTheQueue) {
  const Scene scene("1x4", jobs_of({{0, 1, 100}, {0, 1, 100}}));
  World world(scene.fixed(), 2);
  world.reset(0, 2);
  SimState& s = world.state();
  for (const int32_t j : {0, 1}) arrive(scene.fixed(), s, j);
  const uint64_t before = digest(scene.fixed(), s);
  queue_remove(s, 0);
  queue_append(s, 0);
  EXPECT_NE(digest(scene.fixed(), s), before);
}

TEST(World, AllocatesNothingAfterItsFirstEpisode) {
  // Enough nodes and jobs to reveal a growing buffer.
  const Scene scene("20x8", random_jobs(Rng(8), {.count = 500, .mean_gap_s = 10}));
  World world(scene.fixed(), scene.size());
  Draft draft(world.fixed(), world.state());
  const View view(world.fixed(), world.state(), InformationLevel::kBlind);
  const auto fifo = make_policy("fifo");
  Memory memory;
  const Truth truth = scene.truth();
  int64_t allocated = -1;
  for (int episode = 0; episode < 2; ++episode) {
    const int64_t before = num_allocations;
    world.reset(0, scene.size());
    int32_t preempted = 0;
    while (!all_done(world.state())) {
      ASSERT_TRUE(world.advance(truth));
      draft.reset();
      if (view.num_holders() > 0 && preempted < 50) preempted += draft.preempt(view.holder_slot(0));
      fifo->decide(view, memory, draft);
    }
    allocated = num_allocations - before;
  }
  EXPECT_EQ(allocated, 0);
}

}  // namespace
}  // namespace yard::testing
