import Foundation
import NotesModel
import Roost

func fail(_ message: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(status)
}

func run(_ arguments: [String]) throws {
    let command = try Command(arguments)
    guard command != .help else { return print(Command.usage) }
    let container = try PersistentContainer.notes()
    defer { try? container.close() }
    for line in try command.run(NoteBook(container)) { print(line) }
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
