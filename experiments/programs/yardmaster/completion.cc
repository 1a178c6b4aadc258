// `yardmaster completion`: a script with all commands, options and registered names. Its function
// _yardmaster_words prints what may follow a command or an option, as lines "WORD<TAB>HELP".
#include <map>

#include "env/base/text/text.h"
#include "experiments/cli/arguments.h"
#include "experiments/programs/yardmaster/catalogue.h"

namespace yard {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kBash = R"bash(
_yardmaster() {
  local i=$COMP_CWORD word=${COMP_WORDS[COMP_CWORD]} command='' option='' name head='' lines
  # Bash splits words at "=" and ":", as in --policy=fifo and synthetic:habits.
  while ((i > 1)) && [[ ${COMP_WORDS[i]} == [=:] || ${COMP_WORDS[i - 1]} == [=:] ]]; do
    word=${COMP_WORDS[--i]}$word
  done
  ((i > 1)) && command=${COMP_WORDS[1]}
  if ((i > 2)) && [[ ${COMP_WORDS[2]} != -* ]] &&
    _yardmaster_words "$command ${COMP_WORDS[2]}" >/dev/null; then
    command+=" ${COMP_WORDS[2]}"
  fi
  if [[ $word == --*=* ]]; then
    option=${word%%=*} word=${word#*=}
  elif ((i > 2)); then
    option=${COMP_WORDS[i - 1]}
  fi
  if [[ $option == -* ]] && lines=$(_yardmaster_words "$command $option"); then
    [[ $word == *,* ]] && head=${word%,*},
  else
    lines=$(_yardmaster_words "$command")
  fi
  COMPREPLY=()
  while IFS=$'\t' read -r name _; do
    [[ -n $name && $head$name == "$word"* ]] || continue
    [[ $name == -* && $word != -* ]] && continue
    COMPREPLY+=("$head$name")
  done <<<"$lines"
  # Bash replaces only what follows the last "=" or ":".
  ((i < COMP_CWORD)) && COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*[=:]}"}"}")
  return 0
}
complete -o default -F _yardmaster yardmaster
)bash";

constexpr const char* kZsh = R"zsh(
_yardmaster() {
  local word=$words[CURRENT] command='' option='' lines line
  local -a names helps
  ((CURRENT > 2)) && command=$words[2]
  if ((CURRENT > 3)) && [[ $words[3] != -* ]] &&
    _yardmaster_words "$command $words[3]" >/dev/null; then
    command+=" $words[3]"
  fi
  if [[ $word == --*=* ]]; then
    option=${word%%=*}
    compset -P '*='
  elif ((CURRENT > 3)); then
    option=$words[CURRENT-1]
  fi
  if [[ $option == -* ]] && lines=$(_yardmaster_words "$command $option"); then
    compset -P '*,'
  else
    lines=$(_yardmaster_words "$command")
  fi
  for line in ${(f)lines}; do
    [[ $line == -* && $PREFIX != -* ]] && continue
    names+=("${line%%$'\t'*}")
    helps+=("${line/$'\t'/  -- }")
  done
  compadd -l -d helps -a names || _files
}
if [[ $funcstack[1] == _yardmaster ]]; then
  _yardmaster "$@"
else
  compdef _yardmaster yardmaster
fi
)zsh";

class Names {
 public:
  Words of_type(const std::string& type) {
    if (type == kPolicyType || type == kPoliciesType) return of_kind("policies");
    if (type == kClusterType) return of_kind("clusters");
    if (type == kRulesType) return of_kind("rules");
    Words out;
    if (type == kFormatType || type == kTraceType) {
      for (const std::string& name : of_kind("traces")) {
        if (name.starts_with("synthetic:") == (type == kTraceType)) out.push_back(name);
      }
    } else if (type.find('|') != type.npos) {
      for (const std::string_view word : split(type, '|')) out.emplace_back(word);
    }
    return out;
  }
  const Words& of_kind(const std::string& kind) {
    Words& out = listed_[kind];
    if (out.empty()) out = listed_names(kind);
    return out;
  }

 private:
  std::map<std::string, Words> listed_;
};

std::string case_of(const Words& keys, const Words& lines) {
  Words quoted;
  for (const std::string& key : keys) quoted.push_back(quote_for_shell(key));
  std::string out = "  " + join(quoted, "|") + ")";
  if (!lines.empty()) out += " printf '%s\\n'";
  for (const std::string& line : lines) out += " \\\n    " + quote_for_shell(line);
  return out + " ;;\n";
}

std::string words_function(std::span<const Command> commands) {
  Words top;
  Names names;
  std::map<Words, Words> keys_of;  // options by the words that may follow
  const std::vector<Description> all = describe(commands);
  for (const Command& command : commands) {
    top.push_back(std::string(command.name) + "\t" + command.help);
  }
  std::string cases = case_of({""}, top);
  for (const Description& one : all) {
    const std::string name = one["name"];
    Words lines;
    for (const Description& part : all) {
      const std::string path = part["name"];
      if (!path.starts_with(name + " ")) continue;
      lines.push_back(path.substr(name.size() + 1) + "\t" + part["about"].get<std::string>());
    }
    for (const auto& option : one["options"]) {
      const Words values = names.of_type(option["value"]);
      for (const std::string spelling : option["names"]) {
        if (!spelling.starts_with('-')) {
          lines.insert(lines.end(), values.begin(), values.end());
          continue;
        }
        lines.push_back(spelling + "\t" + option["help"].get<std::string>());
        if (option["value"] != "") keys_of[values].push_back(name + " " + spelling);
      }
    }
    cases += case_of({name}, lines);
  }
  for (const char* kind : {"policies", "traces", "clusters", "rules"}) {
    cases += case_of({std::string("list ") + kind}, names.of_kind(kind));
  }
  for (const auto& [words, keys] : keys_of) cases += case_of(keys, words);
  return "_yardmaster_words() {\n  case \"$1\" in\n" + cases + "  *) return 1 ;;\n  esac\n}\n";
}

}  // namespace

std::string completion_script(const std::string& shell, std::span<const Command> commands) {
  const std::string first = shell == "zsh" ? "#compdef yardmaster\n" : "";
  return first + "# Generated by `yardmaster completion " + shell + "`.\n\n" +
         words_function(commands) + (shell == "zsh" ? kZsh : kBash);
}

}  // namespace yard
