// Registry of classes by name. Static objects in the files which define the classes fill it:
//   const Registry<Policy, PolicyInfo>::Add<Fifo> kFifo{"fifo", {.level = "blind"}};
// A file which registers classes must be in a CMake OBJECT library: linkers drop static ones.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "env/base/config/settings.h"
#include "env/base/core/check.h"
#include "env/base/text/nearest_name.h"
#include "env/base/text/text.h"

namespace yard {

// `Interface` may have `static constexpr const char* kKind = "policy"`, the prefix of error
// messages. A registry is written before main() starts, and is read-only afterwards.
template <class Interface, class InfoT = typename Interface::Info, class Given = Settings>
class Registry {
 public:
  // Registers T, which has a constructor with a `const Given&`, or has no settings and a
  // constructor without arguments. A duplicate name aborts the program.
  template <class T>
  struct Add {
    Add(const std::string& name, InfoT info) {
      const auto make = [](const Given& given) -> std::unique_ptr<Interface> {
        if constexpr (std::is_constructible_v<T, const Given&>) {
          return std::unique_ptr<Interface>(new T(given));
        } else {
          parse<NoConfig>(given);
          return std::make_unique<T>();
        }
      };
      const bool fresh = entries().try_emplace(name, Entry{std::move(info), make}).second;
      YARD_CHECK(fresh, "registered twice: " + name);
    }
  };

  // Creates an instance. Throws InputError if the name is unknown or its class rejects `given`.
  static std::unique_ptr<Interface> make(std::string_view name, const Given& given) {
    return find(name).make(given);
  }

  static const InfoT& info(std::string_view name) { return find(name).info; }

  static bool has(std::string_view name) { return entries().contains(name); }

  // Returns the registered names, sorted.
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

  // A function-local static variable exists before the Add objects of any file are constructed.
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
