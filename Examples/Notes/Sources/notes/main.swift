import Foundation
import NotesModel
import Roost

func write(_ message: String) { FileHandle.standardError.write(Data("\(message)\n".utf8)) }

func fail(_ message: String, status: Int32) -> Never {
    write(message)
    exit(status)
}

func run(_ arguments: [String]) throws {
    let command: Command? = arguments == ["session"] ? nil : try Command(arguments)
    guard command != .help else { return print(Command.usage) }
    let container = try PersistentContainer.notes()
    defer { try? container.close() }
    let book = NoteBook(container)
    guard let command else { return runSession(book) }
    for line in try command.run(book) { print(line) }
}

/// Runs the commands of the standard input.
///
/// An error ends only its command.
func runSession(_ book: NoteBook) {
    var session = Session(book)
    let isTerminal = isatty(STDIN_FILENO) != 0
    while !session.isOver {
        if isTerminal { print(session.prompt, terminator: "") }
        // The prompt and earlier lines must be printed before an error.
        fflush(nil)
        guard let line = readLine() else { return }
        do {
            for line in try session.run(line) { print(line) }
        } catch let error as UsageError {
            write("\(error) Use 'help' to see all commands.")
        } catch { write("\(error)") }
    }
}

do {
    try run(Array(CommandLine.arguments.dropFirst()))
} catch let error as UsageError {
    fail("\(error) Use 'notes help' to see all commands.", status: 2)
} catch let error as StoreError {
    fail("cannot open the notes: \(error.message)", status: 1)
} catch {
    fail("\(error)", status: 1)
}
