#include "env/base/config/registry.h"

#include <gtest/gtest.h>

namespace yard {
namespace {

struct Order {
  static constexpr const char* kKind = "order";
  struct Info {
    std::string help;
  };
  virtual ~Order() = default;
  virtual int first() const = 0;
};

struct Fifo : Order {
  explicit Fifo(const Settings& settings) { parse<Fifo>(settings); }
  Fifo() = default;
  void fields(auto&) {}
  int first() const override { return 0; }
};

struct Chosen : Order {
  struct Config {
    int first = 1;
    void fields(auto& f) { f("first", first, 0, 9, "whom to prefer"); }
  };
  explicit Chosen(const Settings& settings) : config(parse<Config>(settings)) {}
  int first() const override { return config.first; }
  Config config;
};

using Orders = Registry<Order>;
const Orders::Add<Fifo> kFifo{"fifo", {"as they came"}};
const Orders::Add<Chosen> kChosen{"chosen", {"as set"}};

TEST(Registry, MakesTheNamedEntryWithItsSettings) {
  Settings settings;
  settings.overlay("first=7");
  EXPECT_EQ(Orders::make("chosen", settings)->first(), 7);
  EXPECT_EQ(Orders::make("chosen", {})->first(), 1);
  EXPECT_EQ(Orders::make("fifo", {})->first(), 0);
  EXPECT_THROW(Orders::make("fifo", settings), InputError);
}

TEST(Registry, ListsNamesInOrderWithTheirInfo) {
  EXPECT_EQ(Orders::names(), (std::vector<std::string>{"chosen", "fifo"}));
  EXPECT_EQ(Orders::info("fifo").help, "as they came");
}

TEST(Registry, UnknownNameErrorListsKnownNames) {
  try {
    Orders::make("sjf", {});
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "order: expected one of: chosen, fifo, got 'sjf'");
  }
  EXPECT_THROW(Orders::info(""), InputError);
}

struct Unnamed {
  virtual ~Unnamed() = default;
};

TEST(Registry, RegistriesOfDifferentTypesAreSeparate) {
  using Empty = Registry<Unnamed, int>;
  EXPECT_TRUE(Empty::names().empty());
  EXPECT_THROW(Empty::make("fifo", {}), InputError);
}

TEST(RegistryDeathTest, DuplicateNameAborts) {
  EXPECT_DEATH((Orders::Add<Fifo>{"fifo", {""}}), "registered twice: fifo");
}

}  // namespace
}  // namespace yard
