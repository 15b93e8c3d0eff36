import Foundation
import Roost
import RoostMigration
import RoostSystem
import Testing

@testable import RoostFiles

/// Commands that need a store alone, while this process has it open.
@Suite("A command that waits for a store in use", .serialized)
struct WaitingTests {
    /// The command, on the store `a`, which another process has open, and the store `b`.
    private static let commands = ["compact", "convert", "load", "migrate", "backup"]

    private func start(
        _ place: Workplace, _ command: String, _ type: String, timeout: Int
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
        try place.makeStore(type, "b", objects: 300)
        try #require(try place.roost("convert", "b", "\(type):a").code == 0)
        let dump = try place.roost("dump", "b")
        try place.write(Data(dump.output.utf8), to: "dump")
        return place
    }

    /// Opens the store `a` as a reader does.
    private func hold(_ place: Workplace, _ type: String) throws -> any PersistentStore {
        try StoreRegistry.standard.open(
            StoreLocation(type: type, path: place.file("a")), options: StoreOptions(isReadOnly: true, timeoutSeconds: 0)
        )
    }

    /// Spins until a command says that it waits for the store `a`, or ends.
    private func waitUntilWaiting(_ place: Workplace, _ run: RunningCommand) throws {
        let file = try LockFile(forStoreAt: place.file("a"), region: .store, isWritable: false)
        while !file.isWaitedFor, run.process.isRunning { usleep(1_000) }
    }

    @Test(
        "ends at once without a timeout, and continues as soon as the store is closed",
        arguments: Workplace.fileTypes, Self.commands)
    func waiting(type: String, command: String) throws {
        // An SQLite store is compacted while others read it.
        guard type != "sqlite" || command != "compact" else { return }
        let place = try makePlace(type)
        let held = try hold(place, type)
        try start(place, command, type, timeout: 0).wait().expectError(3)
        let run = try start(place, command, type, timeout: 600)
        try waitUntilWaiting(place, run)
        #expect(run.process.isRunning)
        try held.close()
        let result = try run.wait()
        #expect(result.code == 0, "\(result)")
        #expect(try place.roost("check", "a").code == 0)
        #expect(try place.names().filter { !["a", "a.lock", "b", "b.lock", "dump"].contains($0) } == [])
    }

    @Test("is ended by Ctrl-C, and leaves no trace", arguments: Workplace.fileTypes, Self.commands)
    func interrupted(type: String, command: String) throws {
        guard type != "sqlite" || command != "compact" else { return }
        let place = try makePlace(type)
        let before = try place.bytes("a")
        let held = try hold(place, type)
        let run = try start(place, command, type, timeout: 600)
        try waitUntilWaiting(place, run)
        kill(run.process.processIdentifier, SIGINT)
        let result = try run.wait()
        #expect(result.code == 130, "\(result)")
        try held.close()
        #expect(try place.bytes("a") == before)
        #expect(try place.names().filter { !["a", "a.lock", "b", "b.lock", "dump"].contains($0) } == [])
    }

    @Test("waits for another conversion into the same store", arguments: Workplace.fileTypes)
    func claimed(type: String) throws {
        let place = try makePlace(type)
        let claim = try DestinationClaim.acquire(forStoreAt: place.file("new"))
        try place.roost("convert", "b", "\(type):new", "--timeout=0").expectError(3, containing: "under way")
        let run = try place.start(["convert", "b", "\(type):new", "--timeout=600"])
        claim.release()
        let result = try run.wait()
        #expect(result.code == 0, "\(result)")
        #expect(try place.roost("diff", "b", "new").code == 0)
    }

    @Test(
        "compacts an SQLite store beside a reader, for whose view it waits",
        .enabled(if: Workplace.fileTypes.contains("sqlite")))
    func compactingBesideReader() throws {
        let place = try makePlace("sqlite")
        let held = try hold(place, "sqlite")
        var snapshot = try held.snapshot()
        _ = try snapshot.recordedTally()
        let refused = try place.roost("compact", "a", "--timeout=0")
        #expect(refused.code == 0 && refused.output.contains("Others still read"), "\(refused)")
        snapshot.close()
        snapshot = try held.snapshot()
        // The new content is in the log when the old one is waited for.
        let before = try StoreFile.byteCount(at: place.file("a-wal"))
        let run = try place.start(["compact", "a", "--timeout=600"])
        while try StoreFile.byteCount(at: place.file("a-wal")) <= before, run.process.isRunning { usleep(1_000) }
        #expect(run.process.isRunning)
        snapshot.close()
        let result = try run.wait()
        #expect(result.code == 0 && !result.output.contains("Others still read"), "\(result)")
        try held.close()
        #expect(try place.names() == ["a", "a.lock", "b", "b.lock", "dump"])
    }

    @Test("a second update of a JSON store waits for the first", .enabled(if: Workplace.fileTypes.contains("json")))
    func jsonWriter() throws {
        let place = try makePlace("json")
        let location = StoreLocation(type: "json", path: place.file("a"))
        let held = try StoreRegistry.standard.open(location, options: StoreOptions(timeoutSeconds: 0))
        let update = ["update", "a", "Track", "--set=title = \"x\"", "--yes", "--quiet"]
        try place.start(update + ["--timeout=0"]).wait().expectError(3, containing: "one writer")
        let runs = try (0..<3).map { _ in try place.start(update + ["--timeout=600"]) }
        let stopped = try place.start(update + ["--timeout=600"])
        // A signal that comes before the program can take it ends it at once, which is as well.
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
