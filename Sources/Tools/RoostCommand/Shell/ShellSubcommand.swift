internal import Foundation
internal import Roost
internal import RoostCore

extension Subcommand {
    static let shell = Subcommand(
        name: "shell", summary: "Query and change a store by statements, typed or from a script.", usage: "STORE",
        argumentCount: 1...1,
        discussion: """
            Opens STORE and runs statements, which are typed with editing, completion by Tab and a history, or come from standard
            input as a script. Changes are kept in memory, and written by 'commit', all or none.

            \(ShellHelp.statements)

            OBJECTS are an entity, one object as Album/5, or a variable, followed by positions and properties: a[0].artist.albums.
            Predicates, keys, lists and values are written as in 'roost fetch' and 'roost update'; see docs/predicates.md.
            The commands .entities, .schema, .mode, .read, .help and .quit are about the shell; .help explains each statement.

            A statement ends with the line, unless a bracket or a quote is open. A semicolon separates statements of one line. Lines
            that begin with -- or # are comments.

            In a script, the first error ends the shell. The error names the line, no later statement runs, and uncommitted changes
            are not written. The exit code is that of a command with the same error: 2 for a statement that cannot be understood, 3
            for an error of the store. It is 1 if the script ends without an error and something is not committed. Results are
            printed as in 'roost fetch'; in the modes json, jsonl and csv nothing else is printed.

            The history is in $XDG_STATE_HOME/roost/shell-history or ~/.local/state/roost/shell-history, and only the user
            can read it. Ctrl-C gives up what is typed or stops the statement that runs, Ctrl-D ends the shell.
            """,
        options: [
            CommandOption("read-only", help: "Open the store for reading; statements that change objects are refused.")
        ] + [.verbose] + StoreArguments.openingOptions,
        examples: [
            "roost shell music.sqlite", "roost shell lmdb:music.lmdb --read-only < report.txt",
            "echo \"update Album set price = 9.99 where price = NULL; commit\" | roost shell music.sqlite",
        ],
        run: runShell)

    @Sendable private static func runShell(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let text = arguments.positions[0]
        let type = try StoreRegistry.standard.type(
            named: StoreArguments.store(text, arguments: arguments).location.type)
        let isWritable = type.capabilities.contains(.writing) && !arguments.has("read-only")
        let isTyped = StandardInput.isTerminal
        return try StoreArguments.withStore(text, arguments: arguments, forWriting: isWritable) { store in
            let session = try ShellSession(store, console: console, isInteractive: isTyped)
            if isTyped { return try converse(session, console: console, name: text) }
            return try runScript(session, console: console)
        }
    }

    private static func runScript(_ session: ShellSession, console: Console) throws -> ExitCode {
        var code = ExitCode.success
        do {
            try ShellScript(session, input: StreamInput.standard(isPrompting: false), name: nil).run()
        } catch let failure as ShellFailure {
            if let output = failure.output {
                // An early end of the reading program is an error only if changes are lost.
                guard session.changeCount > 0 else { throw output }
                if case .system = output.reason { console.printError(failure.message) }
                code = .failure
            } else if failure.code == .interrupted {
                code = .interrupted
            } else {
                console.printError(failure.message)
                code = failure.code
            }
        } catch let error as StoreError where error.code == .cancelled {
            code = .interrupted
        }
        return lostChanges(session, console: console) && code == .success ? .finding : code
    }

    /// Prints a message about uncommitted changes, and returns whether there are any.
    private static func lostChanges(_ session: ShellSession, console: Console) -> Bool {
        let count = session.changeCount
        guard count > 0 else { return false }
        console.printError(
            "the changes of \(ShellSession.objects(count)) were not committed and are lost; the store is unchanged since the last commit"
        )
        return true
    }

    private static func converse(_ session: ShellSession, console: Console, name: String) throws -> ExitCode {
        try Interruption.shared.withSession {
            let history = ShellHistory(ShellHistory.path(ProcessInfo.processInfo.environment))
            if let problem = history.problem { console.printError("note: \(problem)") }
            let readOnly = session.store.isReadOnly ? ", read-only" : ""
            console.show("\(VisibleText.of(name))\(readOnly): .help lists the statements, Ctrl-D ends.\n")
            var input: any ShellInput = StreamInput.standard(isPrompting: true)
            var note: (String) -> Void = { _ in }
            #if Interactive
                let completer = ShellCompleter(session: session)
                if let editor = LineEditor(history, console: console, complete: { completer.answer($0) }) {
                    input = editor
                    note = { editor.context = $0 }
                }
            #endif
            do {
                try ShellConversation(session, input: input, note: note).run()
            } catch let error as StoreError where error.code == .cancelled {
                _ = lostChanges(session, console: console)
                return .interrupted
            }
            return .success
        }
    }
}
