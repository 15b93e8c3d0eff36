import Foundation
import Roost

/// The classic tutorial of Core Data, with Roost.
///
/// It covers a stack, objects, relationships, conflicts and an import in the background.
///
/// Usage: `Tutorial DIRECTORY`. The variable `ROOST_STORE` chooses the store, for example
/// `ROOST_STORE=lmdb:company.lmdb`. A relative path is relative to the directory. The output is the
/// same on every type of store.
@main struct Tutorial {
    static func main() async {
        do {
            guard CommandLine.arguments.count == 2 else { throw TutorialError("usage: Tutorial DIRECTORY") }
            try await run(in: CommandLine.arguments[1])
        } catch {
            FileHandle.standardError.write(Data("cannot finish the tutorial: \(error)\n".utf8))
            exit(1)
        }
    }

    @MainActor
    private static func run(in directory: String) async throws {
        let stack = try Stack(directory: directory)
        try await ObjectsChapter(stack: stack).run()
        try await RelationshipsChapter(stack: stack).run()
        try await ConflictsChapter(stack: stack).run()
        try await ImportChapter(stack: stack).run()
        try stack.destroy()
        print("The store is destroyed.")
    }
}

/// The error for a result that differs from the tutorial's expectation.
struct TutorialError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

func check(_ condition: Bool, _ expectation: String, line: Int = #line) throws {
    guard condition else { throw TutorialError("expected in line \(line): \(expectation)") }
}
