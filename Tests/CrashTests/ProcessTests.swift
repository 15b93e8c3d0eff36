import Foundation
import Roost
import RoostConformance
import RoostCore
import Testing

/// Two processes that use one store.
@Suite("Processes", .serialized)
struct ProcessTests {
    private static let hasLMDB = FileBackends.all.contains("lmdb")

    private func open(_ location: StoreLocation, timeout: Double = 0, mapSize: Int? = nil) throws -> any PersistentStore
    {
        var options = StoreOptions(timeoutSeconds: timeout)
        if let mapSize { options.typeOptions["mapSize"] = "\(mapSize)" }
        return try StoreRegistry.standard.open(location, options: options)
    }

    private func create(_ type: String, in bench: Bench) throws -> StoreLocation {
        let location = bench.location(type)
        try StoreRegistry.standard.create(location, model: try CrashWorkload.model).close()
        return location
    }

    private func requireState(_ store: any PersistentStore, is number: Int64) throws {
        var state = try CrashWorkload.State()
        try state.advance(to: number)
        if let difference = try store.contents().difference(from: state.contents) { Issue.record("\(difference)") }
        let damage = try store.integrityFindings().filter { $0.severity == .damage }
        #expect(damage.isEmpty, "\(damage)")
    }

    @Test(
        "an LMDB store still reads and writes after another process enlarges the map",
        .enabled(if: hasLMDB, "this build has no LMDB"))
    func mapGrowth() throws {
        let bench = try Bench()
        let location = try create("lmdb", in: bench)
        let store = try open(location, timeout: 5, mapSize: 1 << 20)
        let child = try Child("commit", at: location)
        _ = try #require(try child.number("ready"), "\(child.wait())")
        var acked: Int64 = 0
        while acked < 300 {
            acked = try #require(try child.number("acked"), "\(child.wait())")
            guard acked % 10 == 0 else { continue }
            let snapshot = try store.snapshot()
            let seen = try #require(try CrashWorkload.number(in: snapshot))
            snapshot.close()
            #expect(seen >= acked)
        }
        child.kill()
        while let more = try child.number("acked") { acked = more }
        _ = child.wait()
        // If the child died after writing a meta page but before informing readers, only a writer finds
        // the commit.
        _ = try store.reserveKeys(1, for: "Track")
        let found = CrashWorkload.number(in: try store.metadata())
        #expect(found == acked || found == acked + 1)
        _ = try store.commit(try CrashWorkload.transaction(found + 1))
        try requireState(store, is: found + 1)
        try store.close()
    }

    /// If the second process enlarged LMDB's lock file, the first process would read past the end
    /// of its map of that file.
    @Test(
        "a process that opens an LMDB store later uses the reader slots of the first process",
        .enabled(if: hasLMDB, "this build has no LMDB"))
    func readerSlots() throws {
        let bench = try Bench()
        let location = try create("lmdb", in: bench)
        let store = try StoreRegistry.standard.open(
            location, options: StoreOptions(timeoutSeconds: 5, typeOptions: ["maxReaders": "10"]))
        // Opening and closing LMDB's lock file would release the locks of this process.
        func size() throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: location.path + "-lock")[.size] as? Int
        }
        let before = try #require(try size())
        let child = try Child("hold", at: location, options: ["maxReaders=100000"])
        _ = try #require(try child.number("ready"), "\(child.wait())")
        #expect(try size() == before)
        _ = try store.commit(try CrashWorkload.transaction(1))
        try child.closeInput()
        let (status, errors) = child.wait()
        #expect(status == 0, "\(errors)")
        try requireState(store, is: 1)
        try store.close()
    }

    @Test(
        "a process killed with a snapshot open does not make an LMDB file grow without end",
        .enabled(if: hasLMDB, "this build has no LMDB"))
    func deadReader() throws {
        let bench = try Bench()
        let location = try create("lmdb", in: bench)
        let store = try open(location)
        for number in 1...Int64(30) { _ = try store.commit(try CrashWorkload.transaction(number)) }
        let child = try Child("hold", at: location)
        _ = try #require(try child.number("ready"), "\(child.wait())")
        child.kill()
        _ = child.wait()
        var sizes: [Int] = []
        for number in Int64(31)...400 {
            _ = try store.commit(try CrashWorkload.transaction(number))
            if number % 100 == 0 { sizes.append(try store.byteCount()) }
        }
        // Almost every object is deleted after at most 25 transactions, so the content hardly
        // grows.
        #expect(sizes[sizes.count - 1] < sizes[0] * 2, "\(sizes)")
        try requireState(store, is: 400)
        try store.close()
    }

    @Test(
        "a commit fails with `busy` while another process writes, and succeeds once that process is killed",
        arguments: FileBackends.shared)
    func deadWriter(type: String) throws {
        let bench = try Bench()
        let location = try create(type, in: bench)
        let store = try open(location, timeout: 0.2)
        _ = try store.commit(try CrashWorkload.transaction(1))
        let child = try Child("load", at: location)
        _ = try #require(try child.number("ready"), "\(child.wait())")
        let clock = ContinuousClock()
        let start = clock.now
        #expect(throws: StoreError.self) { _ = try store.commit(try CrashWorkload.transaction(2)) }
        let waited = clock.now - start
        #expect(waited >= .milliseconds(150) && waited < .seconds(5), "\(waited)")
        do {
            _ = try store.commit(try CrashWorkload.transaction(2))
        } catch { #expect(error.code == .busy) }
        let snapshot = try store.snapshot()
        #expect(try CrashWorkload.number(in: snapshot) == 1)
        snapshot.close()
        child.kill()
        _ = child.wait()
        _ = try store.commit(try CrashWorkload.transaction(2))
        try requireState(store, is: 2)
        try store.close()
    }

    @Test("processes that reserve keys at the same time never get the same key", arguments: FileBackends.shared)
    func keys(type: String) throws {
        let bench = try Bench()
        let location = try create(type, in: bench)
        let store = try open(location, timeout: 20)
        let children = [try Child("reserve", at: location), try Child("reserve", at: location)]
        var keys: [Int64] = []
        for child in children { _ = try #require(try child.number("ready"), "\(child.wait())") }
        for child in children { try child.closeInput() }
        for _ in 0..<300 { keys += Array(try store.reserveKeys(3, for: "Track")) }
        for child in children {
            while let key = try child.number("key") { keys.append(key) }
            let (status, errors) = child.wait()
            #expect(status == 0, "\(errors)")
        }
        #expect(keys.count == 300 * 3 + 2 * 300 * 7)
        #expect(Set(keys).count == keys.count)
        #expect(keys.allSatisfy { $0 > 0 })
        try store.close()
    }

    @Test(
        "processes that keep reopening a store do not block commits, and see the last one",
        arguments: FileBackends.shared)
    func openings(type: String) throws {
        let bench = try Bench()
        let location = try create(type, in: bench)
        let children = [try Child("reopen", at: location), try Child("reopen", at: location)]
        for child in children { _ = try #require(try child.number("ready"), "\(child.wait())") }
        for number in 1...100 {
            let store = try open(location, timeout: 60)
            _ = try store.commit(try CrashWorkload.transaction(Int64(number)))
            try store.close()
        }
        for child in children { try child.closeInput() }
        for child in children {
            var saw: [String] = []
            while let line = child.line() { if line.hasPrefix("saw ") { saw.append(line) } }
            let (status, errors) = child.wait()
            #expect(status == 0, "\(errors)")
            #expect(saw.last == "saw 100")
        }
        let store = try open(location, timeout: 60)
        try requireState(store, is: 100)
        try store.close()
    }
}
