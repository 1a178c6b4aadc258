// `yardmaster version` names every library that a bug report needs.
#include "env/base/core/version.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace yard {
namespace {

TEST(Version, NamesTheLibrariesItWasBuiltWith) {
  for (const char* name : {"compiler", "build_type", "libtorch", "grpc", "protobuf", "yaml-cpp",
                           "eigen", "openssl", "zlib", "cuda"}) {
    const auto fact = std::ranges::find(build_facts(), std::string_view(name), &BuildFact::name);
    ASSERT_NE(fact, build_facts().end()) << name;
    EXPECT_FALSE(fact->value.empty()) << name;
  }
}

TEST(Version, EveryLibraryHasAVersionOrNone) {
  for (const BuildFact& fact : build_facts()) {
    if (fact.name == "compiler" || fact.name == "build_type" || fact.name == "target") continue;
    EXPECT_TRUE(fact.value == "none" || std::isdigit(static_cast<unsigned char>(fact.value[0])))
        << fact.name << " is '" << fact.value << "'";
  }
}

TEST(Version, CommitIsKnownOrMarkedAsUnknown) {
  EXPECT_FALSE(source_commit().empty());
  EXPECT_EQ(source_commit().find('@'), std::string_view::npos) << "a template was not filled in";
  EXPECT_TRUE(std::isdigit(static_cast<unsigned char>(release_version()[0])));
}

}  // namespace
}  // namespace yard
