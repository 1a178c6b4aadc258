#include "experiments/scenario/variation.h"

#include <algorithm>

#include "env/base/core/error.h"
#include "env/base/text/text.h"

namespace yard {

Allows parse_allows(const std::vector<std::string>& words, const std::string& where) {
  const auto has = [&](const char* word) { return std::ranges::find(words, word) != words.end(); };
  for (const std::string& word : words) {
    if (word == "start" || word == "preempt" || word == "move") continue;
    throw InputError(where, "start, preempt or move", "'" + word + "'");
  }
  if (!has("start"))
    throw InputError(where, "start, optionally with preempt and move", join(words));
  if (has("move") && !has("preempt")) {
    throw InputError(where, "preempt together with move, since a move stops a job", join(words));
  }
  return {.preempt = has("preempt"), .move = has("move")};
}

std::vector<std::string> words_of(const Allows& allows) {
  std::vector<std::string> out = {"start"};
  if (allows.preempt) out.emplace_back("preempt");
  if (allows.preempt && allows.move) out.emplace_back("move");
  return out;
}

std::string text_of(const Variation& variation) {
  std::vector<std::string> parts;
  if (variation.allows != Allows{}) {
    std::string words;
    for (const std::string& word : words_of(variation.allows)) {
      words += (words.empty() ? "" : "+") + word;
    }
    parts.push_back(words);
  }
  if (variation.cluster != 1) parts.push_back("cluster x " + shortest(variation.cluster));
  if (variation.load != 1) parts.push_back("load x " + shortest(variation.load));
  return join(parts);
}

}  // namespace yard
