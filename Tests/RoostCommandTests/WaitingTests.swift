import Foundation
import Roost
import RoostMigration
import RoostSystem
import Testing

@testable import RoostFiles

@Suite("Commands that wait for a store in use", .serialized)
struct WaitingTests {
    /// A command that replaces the store `a`, which the test has open.
    struct Case: Sendable, CustomTestStringConvertible {
        let type: String
        let command: String

        var testDescription: String { "\(command) of \(type)" }
    }

    /// The commands for each type.
    ///
    /// Compacting an SQLite store is left out, because it can run while others have the store open.
    static let cases = Workplace.fileTypes.flatMap { type in
        ["compact", "convert", "load", "migrate", "backup"].map { Case(type: type, command: $0) }
    }.filter { $0.type != "sqlite" || $0.command != "compact" }

    private func start(
        _ command: String, on type: String, in place: Workplace, timeout: Int
    ) throws -> RunningCommand {
        let timeout = "--timeout=\(timeout)"
        switch command {
        case "compact": return try place.start(["compact", "a", timeout])
        case "load":
            return try place.start(
                ["load", "\(type):a", "--overwrite", timeout],
                through: ["/bin/sh", "-c", "exec \"$@\" < dump", "sh"])
        case "migrate":
            return try place.start(["migrate", "b", "--to=b", "--output=\(type):a", "--overwrite", timeout])
        default: return try place.start([command, "b", "\(type):a", "--overwrite", timeout])
        }
    }

    private func makePlace(_ type: String) throws -> Workplace {
        let place = try Workplace()
        try place.makeStore(type, named: "b", objects: 300)
        try #require(try place.roost("convert", "b", "\(type):a").code == 0)
        let dump = try place.roost("dump", "b")
        try place.write(Data(dump.output.utf8), to: "dump")
        return place
    }

    private func hold(_ type: String, in place: Workplace) throws -> any PersistentStore {
        try StoreRegistry.standard.open(
            StoreLocation(type: type, path: place.file("a")), options: StoreOptions(isReadOnly: true, timeoutSeconds: 0)
        )
    }

    /// Spins until a command waits for the store `a`, or ends.
    private func waitUntilWaiting(_ run: RunningCommand, in place: Workplace) throws {
        let file = try LockFile(forStoreAt: place.file("a"), region: .store, isWritable: false)
        while !file.isWaitedFor, run.process.isRunning { usleep(1_000) }
    }

    @Test(
        "a command that replaces an open store fails with --timeout=0, or waits for the store's close", arguments: cases
    )
    func waiting(example: Case) throws {
        let (type, command) = (example.type, example.command)
        let place = try makePlace(type)
        let held = try hold(type, in: place)
        try start(command, on: type, in: place, timeout: 0).wait().expectError(3)
        let run = try start(command, on: type, in: place, timeout: 600)
        try waitUntilWaiting(run, in: place)
        #expect(run.process.isRunning)
        try held.close()
        let result = try run.wait()
        #expect(result.code == 0, "\(result)")
        #expect(try place.roost("check", "a").code == 0)
        #expect(try place.names().filter { !["a", "a.lock", "b", "b.lock", "dump"].contains($0) } == [])
    }

    @Test("a command that waits for a store ends at Ctrl-C and leaves no file", arguments: cases)
    func interrupted(example: Case) throws {
        let (type, command) = (example.type, example.command)
        let place = try makePlace(type)
        let before = try place.bytes("a")
        let held = try hold(type, in: place)
        let run = try start(command, on: type, in: place, timeout: 600)
        try waitUntilWaiting(run, in: place)
        kill(run.process.processIdentifier, SIGINT)
        let result = try run.wait()
        #expect(result.code == 130, "\(result)")
        try held.close()
        #expect(try place.bytes("a") == before)
        #expect(try place.names().filter { !["a", "a.lock", "b", "b.lock", "dump"].contains($0) } == [])
    }

    @Test("a conversion waits for another one into the same store", arguments: Workplace.fileTypes)
    func claimed(type: String) throws {
        let place = try makePlace(type)
        let claim = try DestinationClaim.acquire(forStoreAt: place.file("new"))
        try place.roost("convert", "b", "\(type):new", "--timeout=0").expectError(
            3, containing: "is creating or replacing")
        let run = try place.start(["convert", "b", "\(type):new", "--timeout=600"])
        claim.release()
        let result = try run.wait()
        #expect(result.code == 0, "\(result)")
        #expect(try place.roost("diff", "b", "new").code == 0)
    }

    @Test(
        "compact of an SQLite store waits for a reader's snapshot",
        .enabled(if: Workplace.fileTypes.contains("sqlite")))
    func compactingBesideReader() throws {
        let place = try makePlace("sqlite")
        let held = try hold("sqlite", in: place)
        var snapshot = try held.snapshot()
        _ = try snapshot.recordedTally()
        let refused = try place.roost("compact", "a", "--timeout=0")
        #expect(refused.code == 0 && refused.output.contains("Other readers still use"), "\(refused)")
        snapshot.close()
        snapshot = try held.snapshot()
        // The command writes the new content into the log, then waits for readers of the old content.
        let before = try StoreFile.byteCount(at: place.file("a-wal"))
        let run = try place.start(["compact", "a", "--timeout=600"])
        while try StoreFile.byteCount(at: place.file("a-wal")) <= before, run.process.isRunning { usleep(1_000) }
        #expect(run.process.isRunning)
        snapshot.close()
        let result = try run.wait()
        #expect(result.code == 0 && !result.output.contains("Other readers still use"), "\(result)")
        try held.close()
        #expect(try place.names() == ["a", "a.lock", "b", "b.lock", "dump"])
    }

    @Test(
        "a second update of a JSON store waits for the first writer", .enabled(if: Workplace.fileTypes.contains("json"))
    )
    func jsonWriter() throws {
        let place = try makePlace("json")
        let location = StoreLocation(type: "json", path: place.file("a"))
        let held = try StoreRegistry.standard.open(location, options: StoreOptions(timeoutSeconds: 0))
        let update = ["update", "a", "Track", "--set=title = \"x\"", "--yes", "--quiet"]
        try place.start(update + ["--timeout=0"]).wait().expectError(3, containing: "one writer")
        let runs = try (0..<3).map { _ in try place.start(update + ["--timeout=600"]) }
        let stopped = try place.start(update + ["--timeout=600"])
        // An early signal may kill the program.
        kill(stopped.process.processIdentifier, SIGINT)
        let interrupted = try stopped.wait()
        #expect(interrupted.code == 130 || interrupted.wasKilled, "\(interrupted)")
        try held.close()
        for run in runs {
            let result = try run.wait()
            #expect(result.code == 0, "\(result)")
        }
    }
}
