internal import RoostCore

/// A conversation that reads typed statements and runs them.
struct ShellConversation {
    private let session: ShellSession
    private let input: any ShellInput
    /// Receives the typed lines of an open statement, for completion.
    private let note: (String) -> Void

    init(_ session: ShellSession, input: any ShellInput, note: @escaping (String) -> Void) {
        (self.session, self.input, self.note) = (session, input, note)
    }

    /// Runs statements until the user ends the shell.
    ///
    /// - Throws: Errors of reading; `cancelled` after a signal that ends the command; `OutputError`
    ///   if the reader of the results has ended.
    func run() throws {
        var buffer = ShellStatementBuffer()
        var typed = ""
        while true {
            note(typed)
            let line = try input.next(buffer.isOpen ? "  ...> " : prompt)
            switch line {
            case .interrupted: (buffer, typed) = (ShellStatementBuffer(), "")
            case .end:
                if try mayEnd() { return }
                (buffer, typed) = (ShellStatementBuffer(), "")
            case .line(let line):
                typed += line + "\n"
                let text: String?
                do throws(ShellSyntaxError) { text = try buffer.append(line) } catch {
                    session.console.printError(error.message)
                    typed = ""
                    continue
                }
                guard let text else {
                    if !buffer.isOpen { typed = "" }
                    continue
                }
                typed = ""
                input.remember(line.first?.isWhitespace == true ? line : text)
                try run(text)
                // A signal that arrived during a commit ends the shell only now.
                if Interruption.shared.wasInterrupted { throw StoreError(.cancelled, "Interrupted.") }
                if session.isEnded {
                    if try mayEnd() { return }
                    session.isEnded = false
                }
            }
        }
    }

    /// The prompt, with the number of changed objects.
    private var prompt: String {
        let count = session.changeCount
        return count == 0 ? "roost> " : "roost (\(count) changed)> "
    }

    /// Returns whether the shell may end; asks the user about uncommitted changes.
    private func mayEnd() throws -> Bool {
        guard session.changeCount > 0 else { return true }
        let objects = session.changeCount == 1 ? "1 changed object is" : "\(session.changeCount) changed objects are"
        switch try input.next("\(objects) not committed. Give the changes up? [y/N] ") {
        case .line(let answer): return ["y", "yes"].contains(answer.lowercased())
        case .interrupted: return false
        // The input has ended, so the user cannot answer.
        case .end: return true
        }
    }

    /// Runs the statements of a text, and prints the first error.
    private func run(_ text: String) throws {
        var failure: (any Error)?
        Interruption.shared.runningStatement {
            do {
                for statement in ShellStatementBuffer.statements(text) where !session.isEnded {
                    do { try session.run(statement.text) } catch let error as ShellSyntaxError {
                        throw ShellSyntaxError(error.message, at: error.column.map { $0 + statement.column })
                    }
                }
            } catch { failure = error }
        }
        let wasInterrupted = Interruption.shared.takeInterrupt()
        guard let failure else { return }
        try tell(failure, of: text, wasInterrupted: wasInterrupted)
    }

    private func tell(_ failure: any Error, of text: String, wasInterrupted: Bool) throws {
        let console = session.console
        switch failure {
        case let error as ShellSyntaxError:
            if let column = error.column { console.show(Self.mark(column, of: text)) }
            console.printError(error.message)
        case let error as UsageError: console.printError(ShellSession.inWords(error.message))
        case let error as ShellFailure: console.printError(error.message)
        case let error as OutputError:
            if case .interrupted = error.reason { return console.show("interrupted\n") }
            if case .readerGone = error.reason { throw error }
            console.printError("\(error)")
        case let error as StoreError:
            if error.code == .cancelled, wasInterrupted { return console.show("interrupted\n") }
            console.printError(RoostTool.line(error.message))
        default: console.printError("\(failure)")
        }
    }

    /// Returns the line that contains a column, and a mark below the column.
    static func mark(_ column: Int, of text: String) -> String {
        var rest = column
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            guard rest > line.count else {
                let visible = VisibleText.of(String(line))
                let before = VisibleText.of(String(line.prefix(rest)))
                return "  \(visible)\n  \(String(repeating: " ", count: DisplayWidth.of(before)))^\n"
            }
            rest -= line.count + 1
        }
        return ""
    }
}
