import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostMigration
import RoostStores
import Testing

@Suite("Maintenance", .serialized)
struct MaintenanceTests {
    private func create(_ type: String, in bench: Bench, transactions: Int64 = 0) throws -> StoreLocation {
        let location = bench.location(type)
        let store = try StoreRegistry.standard.create(location, model: try CrashWorkload.model)
        if transactions > 0 {
            for number in 1...transactions { _ = try store.commit(try CrashWorkload.transaction(number)) }
        }
        try store.close()
        return location
    }

    /// Requires exactly the first `number` transactions (any number if nil), and returns how many
    /// the store has.
    private func requireState(_ location: StoreLocation, is number: Int64?, at when: String) throws -> Int64 {
        let store = try StoreRegistry.standard.open(location, options: StoreOptions(isReadOnly: true))
        defer { try? store.close() }
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let found = try #require(try CrashWorkload.number(in: snapshot), "\(when): no state of any transaction")
        #expect(CrashWorkload.number(in: try store.metadata()) == found, "\(when): metadata of another state")
        if let number { #expect(found == number, "\(when)") }
        var state = try CrashWorkload.State()
        try state.advance(to: found)
        if let difference = try store.contents().difference(from: state.contents) {
            Issue.record("\(when): \(difference)")
        }
        #expect(try snapshot.computeTally().digest == state.digest, "\(when)")
        let damage = try checkStore(store).filter { $0.severity == .damage }
        #expect(damage.isEmpty, "\(when): \(damage)")
        return found
    }

    private func litter(_ bench: Bench) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: bench.directory.path).filter { $0.contains("roost-tmp") }
    }

    @Test("a backup made while another process commits holds exactly one state", arguments: FileBackends.all)
    func backupWhileWriting(type: String) throws {
        let bench = try Bench()
        let location = try create(type, in: bench)
        let child = try Child("commit", at: location)
        var acked = try #require(try child.number("ready"), "\(child.wait())")
        let backup = StoreLocation(type: type, path: bench.directory.appendingPathComponent("backup").path)
        // If only one process may write, this process has no store open.
        let original = FileBackends.shared.contains(type) ? try StoreRegistry.standard.open(location) : nil
        let uuid = try StoreRegistry.standard.type(named: type)
            .metadata(at: location, options: StoreOptions(isReadOnly: true)).storeUUID
        for round in 1...8 {
            for _ in 0..<5 { acked = try #require(try child.number("acked"), "\(child.wait())") }
            // Alternates between the file and the open store.
            let source = original.flatMap { round % 2 == 0 ? .store($0) : nil } ?? ConversionEndpoint.location(location)
            let report = try StoreMaintenance().backUp(source, to: backup, options: ConversionOptions(overwrites: true))
            #expect(report.verified)
            let found = try requireState(backup, is: nil, at: "round \(round)")
            #expect(found >= acked, "round \(round)")
            let copy = try StoreRegistry.standard.open(backup, options: StoreOptions(isReadOnly: true))
            #expect(try copy.metadata().storeUUID == uuid)
            try copy.close()
        }
        child.kill()
        while let more = try child.number("acked") { acked = more }
        _ = child.wait()
        try original?.close()
        #expect(try requireState(location, is: nil, at: "the original") >= acked)
        // A killed JSON writer may leave an unfinished document, which the next writer removes.
        try StoreRegistry.standard.open(location).close()
        #expect(try litter(bench) == [])
    }

    @Test(
        "a conversion or dump made while another process commits holds exactly one state",
        arguments: FileBackends.all)
    func convertWhileWriting(type: String) throws {
        let bench = try Bench()
        let location = try create(type, in: bench)
        let child = try Child("commit", at: location)
        var acked = try #require(try child.number("ready"), "\(child.wait())")
        let copy = StoreLocation(type: "sqlite", path: bench.directory.appendingPathComponent("copy").path)
        let loaded = StoreLocation(type: "sqlite", path: bench.directory.appendingPathComponent("loaded").path)
        let manager = MigrationManager()
        for round in 1...3 {
            for _ in 0..<3 { acked = try #require(try child.number("acked"), "\(child.wait())") }
            _ = try manager.convert(
                from: .location(location), to: .location(copy), options: ConversionOptions(overwrites: true))
            #expect(try requireState(copy, is: nil, at: "conversion \(round)") >= acked)
            let text = Mutex<[UInt8]>([])
            let store = try StoreRegistry.standard.open(location, options: StoreOptions(isReadOnly: true))
            try manager.dump(store) { (bytes) throws(StoreError) in
                let copy = copy bytes
                text.withLock { $0 += copy }
            }
            try store.close()
            _ = try manager.load(
                into: .location(loaded), from: "a dump", options: ConversionOptions(overwrites: true)
            ) { (buffer) throws(StoreError) in
                text.withLock { text in
                    let count = min(buffer.count, text.count)
                    buffer.copyBytes(from: text.prefix(count))
                    text.removeFirst(count)
                    return count
                }
            }
            #expect(try requireState(loaded, is: nil, at: "dump \(round)") >= acked)
        }
        child.kill()
        _ = child.wait()
    }

    @Test(
        "compaction of a store that is open elsewhere works in place or fails with `busy`",
        arguments: FileBackends.all)
    func compactWhileWriting(type: String) throws {
        let bench = try Bench()
        let location = try create(type, in: bench, transactions: 200)
        let child = try Child("commit", at: location)
        var acked = try #require(try child.number("ready"), "\(child.wait())")
        var wasDone = 0
        for _ in 0..<6 {
            acked = try #require(try child.number("acked"), "\(child.wait())")
            do throws(StoreError) {
                let report = try StoreMaintenance().compact(
                    location, options: ConversionOptions(timeoutSeconds: type == "sqlite" ? 60 : 0))
                #expect(report.inPlace)
                wasDone += 1
            } catch {
                #expect(error.code == .busy, "\(error)")
                #if os(Linux)
                    #expect(error.message.contains("(CrashChild)"), "\(error)")
                #endif
                #expect(
                    error.message.contains(location.path) && error.message.lowercased().contains("close"), "\(error)")
            }
        }
        #expect(wasDone == (type == "sqlite" ? 6 : 0))
        child.kill()
        while let more = try child.number("acked") { acked = more }
        _ = child.wait()
        let found = try requireState(location, is: nil, at: "after \(acked)")
        #expect(found == acked || found == acked + 1)
        #expect(try !StoreMaintenance().compact(location).inPlace)
        _ = try requireState(location, is: found, at: "compacted")
        #expect(try litter(bench) == [])
    }

    /// Only an SQLite store can be compacted while it is open.
    private static let compactions = FileBackends.all.flatMap { type in
        [false, true].filter { !$0 || type == "sqlite" }.map { (type, $0) }
    }

    @Test("a store whose compaction is killed 25 times keeps its content and accepts commits", arguments: compactions)
    func killed(type: String, isOpen: Bool) throws {
        let seed = seed(named: "ROOST_KILL_SEED")
        var random = SeededGenerator(seed: seed)
        let bench = try Bench()
        let location = try create(type, in: bench, transactions: 60)
        var state: Int64 = 60
        let holder = isOpen ? try StoreRegistry.standard.open(location) : nil
        for round in 1...25 {
            let child = try Child("compact", at: location)
            _ = try #require(try child.number("ready"), "\(child.wait())")
            for _ in 0..<random.below(3) {
                let line = try #require(child.line(), "round \(round), seed \(seed): \(child.wait())")
                #expect(line.hasPrefix(isOpen ? "in-place" : "compacted"), "round \(round), seed \(seed)")
            }
            // A busy loop of random length puts the kill at any moment of the compaction.
            var spin = random.below(12_000_000)
            while spin > 0 { spin -= 1 + Int(random.next() & 1) }
            child.kill()
            #expect(child.wait().status == -9)
            let when = "round \(round), seed \(seed)"
            _ = try requireState(location, is: state, at: when)
            let store = try holder ?? StoreRegistry.standard.open(location)
            state += 1
            _ = try store.commit(try CrashWorkload.transaction(state))
            if holder == nil { try store.close() }
        }
        try holder?.close()
        #expect(try !StoreMaintenance().compact(location).inPlace)
        _ = try requireState(location, is: state, at: "at the end")
        #expect(try litter(bench) == [])
    }
}
