internal import RoostCore

/// Statements of a file, or of standard input that is not a terminal.
struct ShellScript {
    private let session: ShellSession
    private let input: any ShellInput
    /// The name of the file, or nil for standard input.
    private let name: String?

    init(_ session: ShellSession, input: any ShellInput, name: String?) {
        (self.session, self.input, self.name) = (session, input, name)
    }

    /// Runs all statements.
    ///
    /// - Throws: ``ShellFailure`` with the line of the first statement that fails or is cancelled;
    ///   `cancelled` if the input reports Ctrl-C.
    func run() throws {
        var buffer = ShellStatementBuffer()
        while !session.isEnded {
            let line: ShellInputLine
            do { line = try input.next("") } catch { throw ShellFailure(error, in: name, line: buffer.firstLine) }
            switch line {
            case .interrupted: throw StoreError(.cancelled, "Interrupted.")
            case .end:
                guard !buffer.isOpen else {
                    throw ShellFailure(
                        ShellSyntaxError("a bracket or a quote is not closed"), in: name, line: buffer.firstLine)
                }
                return
            case .line(let line):
                do {
                    guard let text = try buffer.append(line) else { continue }
                    try run(text)
                } catch {
                    throw ShellFailure(error, in: name, line: buffer.firstLine)
                }
            }
        }
    }

    private func run(_ text: String) throws {
        for statement in ShellStatementBuffer.statements(text) where !session.isEnded {
            do { try session.run(statement.text) } catch let error as ShellSyntaxError {
                throw ShellSyntaxError(error.message, at: error.column.map { $0 + statement.column })
            }
            // A signal can arrive during a commit.
            if Interruption.shared.wasInterrupted { throw StoreError(.cancelled, "Interrupted.") }
        }
    }
}

struct ShellFailure: Error {
    /// The error with its position: `line 3, column 7: …`.
    let message: String
    let code: ExitCode
    /// The error of writing to standard output, if that failed.
    let output: OutputError?

    init(_ error: any Error, in file: String?, line: Int) {
        let place = file.map { "\($0):\(line)" } ?? "line \(line)"
        switch error {
        case let error as ShellFailure:
            (message, code, output) = ("\(place): \(error.message)", error.code, error.output)
        case let error as ShellSyntaxError:
            let column = error.column.map { ", column \($0 + 1)" } ?? ""
            (message, code, output) = ("\(place)\(column): \(error.message)", .usage, nil)
        case let error as UsageError:
            (message, code, output) = ("\(place): \(ShellSession.inWords(error.message))", .usage, nil)
        case let error as StoreError:
            (message, code, output) = (
                "\(place): \(RoostTool.line(error.message))", RoostTool.exitCode(of: error.code),
                error.underlying as? OutputError
            )
        case let error as OutputError: (message, code, output) = ("\(place): \(error)", .failure, error)
        default: (message, code, output) = ("\(place): \(error)", .failure, nil)
        }
    }
}
