internal import Roost
internal import RoostCore

extension Subcommand {
    static let completions = Subcommand(
        name: "completions", summary: "Print a script that completes roost's command lines in a shell.",
        usage: "bash|zsh|fish", argumentCount: 1...1,
        discussion: """
            Completes commands, options and their values, types and paths of stores, the names of stores in the configuration,
            and entities. The script runs the program on the command line, so a new version does not require a new script.

            bash  Add to ~/.bashrc:  eval "$(roost completions bash)"
            zsh   Add to ~/.zshrc, below compinit:  source <(roost completions zsh)
            fish  Run once:  roost completions fish > ~/.config/fish/completions/roost.fish
            """,
        options: [.verbose], examples: ["roost completions bash", "source <(roost completions zsh)"],
        run: runCompletions)

    @Sendable private static func runCompletions(
        _ arguments: ParsedArguments, console: Console
    ) throws -> ExitCode {
        let name = arguments.positions[0]
        guard let shell = CompletionShell(rawValue: name) else {
            let names = CompletionShell.allCases.map(\.rawValue)
            let hint = nearestName(to: name, among: names).map { "did you mean '\($0)'?" } ?? "it is bash, zsh or fish"
            throw UsageError("unknown shell '\(name)'; \(hint)")
        }
        try console.print(shell.script)
        return .success
    }
}

enum CompletionShell: String, CaseIterable {
    case bash, zsh, fish

    var script: String {
        switch self {
        case .bash:
            """
            # Completion of roost for Bash; ~/.bashrc evaluates it.
            _roost() {
                local candidate
                COMPREPLY=()
                while IFS= read -r candidate; do
                    [[ -z $candidate ]] || COMPREPLY+=("$candidate")
                done < <("${1/#\\~\\//$HOME/}" \(Completer.commandName) bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
                # No blank after a word that can continue.
                if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/:=] ]]; then
                    compopt -o nospace 2>/dev/null
                fi
            }
            complete -F _roost roost
            """
        case .zsh:
            """
            #compdef roost
            # Completion of roost for Zsh; source it in ~/.zshrc below compinit.
            _roost() {
                local -a whole open whole_text open_text
                local line text help prefix=""
                # A leading ~/ stays as it was typed.
                if [[ $PREFIX == '~/'* ]]; then
                    prefix='~/'
                fi
                while IFS= read -r line; do
                    [[ -n $line ]] || continue
                    text=${line%%$'\\t'*}
                    help=${line#*$'\\t'}
                    text=${text#$prefix}
                    [[ -z $help ]] && help=$text || help="$text -- $help"
                    if [[ $text == *[/:=] ]]; then
                        open+=("$text") open_text+=("$help")
                    else
                        whole+=("$text") whole_text+=("$help")
                    fi
                done < <(${(Q)words[1]/#\\~\\//$HOME/} \(Completer.commandName) words "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
                [[ -z $prefix ]] || compset -P '\\~/'
                (( ${#whole} )) && compadd -l -d whole_text -a whole
                (( ${#open} )) && compadd -l -S '' -d open_text -a open
            }
            compdef _roost roost
            """
        case .fish:
            """
            # Completion of roost for Fish; save it as ~/.config/fish/completions/roost.fish.
            function __roost_complete
                set -l words (commandline -opc)
                set -l program $words[1]
                set -e words[1]
                set -l current (commandline -ct | string unescape)
                $program \(Completer.commandName) words $words "$current" 2>/dev/null
            end
            complete -c roost -f -a '(__roost_complete)'
            """
        }
    }
}
