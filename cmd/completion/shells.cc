#include "cmd/completion/shells.h"

namespace gangway::cmd {
namespace {

// Each gives the program the words as they were typed, the last one as far as it goes, and is answered with what may
// stand there, or behind the `=` of `--flag=`; ":0" says that files may. A home that was typed as ~ is put in.
//
// bash splits words at `=` and `:`, too, and puts in place what stands behind the last of them.
constexpr char kBash[] = R"(# gangway completion bash: source <(gangway completion bash)
_gangway() {
  local program=${COMP_WORDS[0]} cur line word split="" end=":4" i
  local -a typed=()
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ ${#typed[@]} -gt 0 && -n $word && ( -n $split || -z ${word//[=:]/} ) ]]; then
      typed[${#typed[@]}-1]+=$word
    else
      typed+=("$word")
    fi
    split=""
    [[ -z $word || -n ${word//[=:]/} ]] || split=1
  done
  [[ $program != \~/* ]] || program=$HOME/${program:2}
  cur=${typed[${#typed[@]}-1]}
  [[ $cur != -*=* ]] || cur=${cur#*=}
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :*) end=$line ;;
      *) word=${line%%$'\t'*}; [[ $word == "$cur"* ]] && COMPREPLY+=("$word") ;;
    esac
  done < <("$program" __complete "${typed[@]}" 2>/dev/null)
  if [ "$end" = ":0" ] && [ ${#COMPREPLY[@]} -eq 0 ]; then compopt -o default 2>/dev/null; fi
}
complete -F _gangway gangway
)";
constexpr char kZsh[] = R"(#compdef gangway
# gangway completion zsh: source <(gangway completion zsh), or as the file _gangway in $fpath
_gangway() {
  local program=${words[1]} line end=":4"
  local -a found
  [[ $program != \~/* ]] || program=$HOME/${program:2}
  while IFS= read -r line; do
    case $line in
      :*) end=$line ;;
      *$'\t'*) found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
      *) found+=("${line//:/\\:}") ;;
    esac
  done < <("$program" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
  [[ ${words[CURRENT]} != -*=* ]] || compset -P '*='
  if (( ${#found} )); then _describe gangway found; elif [[ $end == ":0" ]]; then _files; fi
}
if [ "$funcstack[1]" = "_gangway" ]; then _gangway; else compdef _gangway gangway; fi
)";
constexpr char kFish[] = R"(# gangway completion fish: gangway completion fish | source
function __gangway_complete
  set -l typed (commandline -opc)
  set -e typed[1]
  set -l begun (commandline -ct)
  set -l lines (gangway __complete $typed "$begun" 2>/dev/null)
  set -l flag (printf '%s' "$begun" | string match -r -- '^-[^=]*=')
  if test "$lines" = ":0"
    set lines (__fish_complete_path (printf '%s' "$begun" | string replace -r -- '^-[^=]*=' ''))
  end
  for line in $lines
    string match -q -- ':*' $line; or echo "$flag$line"
  end
end
complete -c gangway -f -a '(__gangway_complete)'
)";

}  // namespace

std::string LinesOf(absl::string_view shell) {
  return shell == "bash" ? kBash : shell == "zsh" ? kZsh : shell == "fish" ? kFish : "";
}

}  // namespace gangway::cmd
