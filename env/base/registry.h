// Names to makers, filled by the files that define the things:
//   const Registry<Policy, PolicyInfo>::Add<Fifo> kFifo{"fifo", {.level = "blind"}};
// Such a file belongs in a CMake OBJECT library: from a static one the linker drops it unasked.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "env/base/check.h"
#include "env/base/nearest.h"
#include "env/base/settings.h"
#include "env/base/text.h"

namespace yard {

// Interface may have `static constexpr const char* kKind = "policy"`: error messages begin with it.
// Written before main() starts, read-only after.
template <class Interface, class InfoT = typename Interface::Info, class Given = Settings>
class Registry {
 public:
  // Enters T, which has a constructor from `const Given&`. A name taken twice aborts.
  template <class T>
  struct Add {
    Add(const std::string& name, InfoT info) {
      const auto make = [](const Given& given) { return std::unique_ptr<Interface>(new T(given)); };
      const bool fresh = entries().try_emplace(name, Entry{std::move(info), make}).second;
      YARD_CHECK(fresh, "registered twice: " + name);
    }
  };

  // Throws InputError when nothing has the name or T refuses what it is given.
  static std::unique_ptr<Interface> make(std::string_view name, const Given& given) {
    return find(name).make(given);
  }

  static const InfoT& info(std::string_view name) { return find(name).info; }

  static bool has(std::string_view name) { return entries().contains(name); }

  // Sorted.
  static std::vector<std::string> names() {
    std::vector<std::string> out;
    for (const auto& [name, entry] : entries()) out.push_back(name);
    return out;
  }

 private:
  struct Entry {
    InfoT info;
    std::unique_ptr<Interface> (*make)(const Given&);
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  // Inside a function, so that it exists before the first Add of any file runs.
  static Entries& entries() {
    static Entries entries;
    return entries;
  }

  static const Entry& find(std::string_view name) {
    const auto it = entries().find(name);
    if (it != entries().end()) return it->second;
    std::string kind = "name";
    if constexpr (requires { Interface::kKind; }) kind = Interface::kKind;
    throw unknown_name(kind, names(), name);
  }
};

}  // namespace yard
