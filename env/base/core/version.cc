// The only file that is recompiled when the commit changes.
#include "env/base/core/version.h"

#include "yard_build.h"
#include "yard_version.h"

namespace yard {
namespace {
constexpr BuildFact kFacts[] = {YARD_BUILD_FACTS};
}

std::string_view release_version() { return YARD_RELEASE; }

std::string_view source_commit() { return YARD_COMMIT; }

std::string version_line() { return "yardmaster " YARD_RELEASE " (commit " YARD_COMMIT ")"; }

std::span<const BuildFact> build_facts() { return kFacts; }

}  // namespace yard
