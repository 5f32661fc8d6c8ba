#include "cmd/completion/shells.h"

namespace gangway::cmd {
namespace {

// Words are split at blanks alone: names of Kubernetes have dots, and `job/NAME` a slash.
constexpr char kBash[] = R"(# gangway completion bash: source <(gangway completion bash)
_gangway() {
  local cur=${COMP_WORDS[COMP_CWORD]} line word end=":4"
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :*) end=$line ;;
      *) word=${line%%$'\t'*}; [[ $word == "$cur"* ]] && COMPREPLY+=("$word") ;;
    esac
  done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [ "$end" = ":0" ] && [ ${#COMPREPLY[@]} -eq 0 ]; then compopt -o default 2>/dev/null; fi
}
complete -F _gangway gangway
)";
constexpr char kZsh[] = R"(#compdef gangway
# gangway completion zsh: source <(gangway completion zsh), or as the file _gangway in $fpath
_gangway() {
  local line end=":4"
  local -a found
  while IFS= read -r line; do
    case $line in
      :*) end=$line ;;
      *$'\t'*) found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
      *) found+=("${line//:/\\:}") ;;
    esac
  done < <(${words[1]} __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( ${#found} )); then _describe gangway found; elif [[ $end == ":0" ]]; then _files; fi
}
if [ "$funcstack[1]" = "_gangway" ]; then _gangway; else compdef _gangway gangway; fi
)";
constexpr char kFish[] = R"(# gangway completion fish: gangway completion fish | source
function __gangway_complete
  set -l typed (commandline -opc)
  set -e typed[1]
  gangway __complete $typed (commandline -ct) 2>/dev/null | string match -v -r '^:'
end
complete -c gangway -f -a '(__gangway_complete)'
complete -c gangway -s f -l filename -r -F
)";

}  // namespace

std::string LinesOf(absl::string_view shell) {
  return shell == "bash" ? kBash : shell == "zsh" ? kZsh : shell == "fish" ? kFish : "";
}

}  // namespace gangway::cmd
