export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

/**
 * The scripts ask the command for the words that can follow. It prints one a line, with a tab and a description, and in the last line
 * what the shell adds: `:files`, `:folders` or `:none`.
 */
export const SCRIPTS: Readonly<Record<Shell, string>> = {
  // COMP_WORDS is split at = and :, which values contain. Bash replaces only the last part.
  bash: `_neuroscript() {
  local words=() word text rest last kind=none part=\${COMP_WORDS[COMP_CWORD]}
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    last=$((\${#words[@]} - 1))
    if [[ $last -ge 0 && ( $word == [=:]* || \${words[last]} == *[=:] ) ]]; then words[last]+=$word; else words+=("$word"); fi
  done
  [[ $part == [=:]* ]] && part=\${part##*[=:]}
  word=\${words[\${#words[@]} - 1]}
  COMPREPLY=()
  while IFS=$'\\t' read -r text rest; do
    case $text in
      :files | :folders | :none) kind=\${text#:} ;;
      *) COMPREPLY+=("\${text#"\${word%"$part"}"}") ;;
    esac
  done < <("$1" completion bash -- "\${words[@]}" 2>/dev/null)
  case $kind in
    files) compopt -o filenames 2>/dev/null; while read -r text; do COMPREPLY+=("$text"); done < <(compgen -f -- "$part") ;;
    folders) compopt -o filenames 2>/dev/null; while read -r text; do COMPREPLY+=("$text"); done < <(compgen -d -- "$part") ;;
  esac
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *[=:] ]] && compopt -o nospace 2>/dev/null
}
complete -F _neuroscript neuroscript
`,
  zsh: `#compdef neuroscript
_neuroscript() {
  local line text kind=none
  local -a whole open
  for line in "\${(@f)$("$words[1]" completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    text=\${line%%$'\\t'*}
    case $text in
      :files | :folders | :none) kind=\${text#:} ;;
      '') ;;
      *[=:]) open+=("\${text//:/\\\\:}:\${line#*$'\\t'}") ;;
      *) whole+=("\${text//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done
  (( $#whole )) && _describe neuroscript whole
  (( $#open )) && _describe neuroscript open -S ''
  case $kind in
    files) compset -P '*[=:]'; _files ;;
    folders) compset -P '*[=:]'; _files -/ ;;
  esac
}
if [[ $funcstack[1] == _neuroscript ]]; then _neuroscript; else compdef _neuroscript neuroscript; fi
`,
  fish: `function __neuroscript_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l before (string match -r '^.*[=:]' -- $words[-1])
  set -l part (string replace -r '^.*[=:]' '' -- $words[-1])
  for line in ($words[1] completion fish -- $words[2..-1] 2>/dev/null)
    switch $line
      case ':files*'
        for path in (__fish_complete_path $part)
          string join '' -- $before $path
        end
      case ':folders*'
        for path in (__fish_complete_directories $part)
          string join '' -- $before $path
        end
      case ':none*'
      case '*'
        echo $line
    end
  end
end
complete -c neuroscript -f -a '(__neuroscript_complete)'
`,
};
