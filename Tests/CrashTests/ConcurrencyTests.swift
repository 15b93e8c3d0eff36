import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostMigration
import RoostStores
import RoostSystem
import Testing

@testable import RoostFiles

@Suite("Concurrency", .serialized)
struct ConcurrencyTests {
    /// Eight threads and two more processes read while one thread writes.
    @Test(
        "readers in the writing process and in others see only whole transactions, in order",
        arguments: FileBackends.shared)
    func readingWhileWriting(type: String) throws {
        let bench = try Bench()
        let location = bench.location(type)
        let store = try StoreRegistry.standard.create(location, model: try CrashWorkload.model)
        defer { try? store.close() }
        let processes = [try Child("read", at: location), try Child("read", at: location)]
        for child in processes { _ = try #require(try child.number("ready"), "\(child.wait())") }

        let isOver = Mutex(false)
        let readers = (0..<8).map { _ in
            ReaderThread {
                var (last, count) = (Int64(-1), 0)
                while true {
                    let isLast = isOver.withLock { $0 }
                    let snapshot = try store.snapshot()
                    defer { snapshot.close() }
                    guard let number = try CrashWorkload.number(in: snapshot) else {
                        throw StoreError(
                            .internalInconsistency, "a snapshot shows no state of any transaction, after \(last)")
                    }
                    guard number >= last else {
                        throw StoreError(.internalInconsistency, "state \(number) after state \(last)")
                    }
                    (last, count) = (number, count + 1)
                    if isLast { return (last, count) }
                }
            }
        }
        let total: Int64 = 120
        do {
            defer { isOver.withLock { $0 = true } }
            for number in 1...total { _ = try store.commit(try CrashWorkload.transaction(number)) }
        }
        for reader in readers {
            let (last, count) = try reader.result()
            #expect(last == total)
            #expect(count > 0)
        }
        for child in processes {
            try child.closeInput()
            var (last, isDone) = (Int64(-1), false)
            while let line = child.line() {
                let parts = line.split(separator: " ")
                let number = try #require(parts.last.flatMap { Int64($0) }, "\(line)")
                if parts.first == "saw" { last = number }
                if parts.first == "read" { isDone = true }
            }
            let (status, errors) = child.wait()
            #expect(status == 0, "\(errors)")
            #expect(isDone, "\(errors)")
            #expect(last == total)
        }
        var state = try CrashWorkload.State()
        try state.advance(to: total)
        if let difference = try store.contents().difference(from: state.contents) { Issue.record("\(difference)") }
    }
}

/// Processes that use a JSON store, which only one process at a time may open for writing.
@Suite("One writer", .serialized)
struct OneWriterTests {
    @Test("programs that reopen a JSON store while it is written see only whole commits, in order")
    func reopening() throws {
        let bench = try Bench()
        let location = bench.location("json")
        var options = StoreOptions()
        // Makes the store write a new document every few commits.
        options.typeOptions["journalBytes"] = "20000"
        let store = try StoreRegistry.standard.create(location, model: try CrashWorkload.model, options: options)
        let children = [try Child("reopen", at: location), try Child("reopen", at: location)]
        for child in children { _ = try #require(try child.number("ready"), "\(child.wait())") }
        let total: Int64 = 150
        for number in 1...total { _ = try store.commit(try CrashWorkload.transaction(number)) }
        for child in children {
            try child.closeInput()
            var (last, count) = (Int64(-1), Int64(0))
            while let line = child.line() {
                let parts = line.split(separator: " ")
                let number = try #require(parts.last.flatMap { Int64($0) }, "\(line)")
                if parts.first == "saw" { last = number }
                if parts.first == "read" { count = number }
            }
            let (status, errors) = child.wait()
            #expect(status == 0, "\(errors)")
            #expect(last == total)
            #expect(count > 1)
        }
        var state = try CrashWorkload.State()
        try state.advance(to: total)
        if let difference = try store.contents().difference(from: state.contents) { Issue.record("\(difference)") }
        try store.close()
    }

    @Test(
        "a second writer of a JSON store fails at its timeout, or succeeds after the first is killed"
    )
    func secondWriter() throws {
        let bench = try Bench()
        let location = bench.location("json")
        try StoreRegistry.standard.create(location, model: try CrashWorkload.model).close()
        let child = try Child("load", at: location)
        _ = try #require(try child.number("ready"), "\(child.wait())")
        for timeout in [0, 0.3] {
            let clock = ContinuousClock()
            let start = clock.now
            let error = #expect(throws: StoreError.self) {
                _ = try StoreRegistry.standard.open(location, options: StoreOptions(timeoutSeconds: timeout))
            }
            #expect(error?.code == .busy)
            #expect(error?.message.contains("one writer") ?? false)
            #expect(clock.now - start >= .seconds(timeout * 0.8) && clock.now - start < .seconds(30))
        }
        let reader = try StoreRegistry.standard.open(location, options: StoreOptions(isReadOnly: true))
        #expect(CrashWorkload.number(in: try reader.metadata()) == 0)
        try reader.close()
        let next = ReaderThread {
            let store = try StoreRegistry.standard.open(location, options: StoreOptions(timeoutSeconds: 600))
            let receipt = try store.commit(try CrashWorkload.transaction(1))
            try store.close()
            return (Int64(receipt.generation.number), 1)
        }
        child.kill()
        _ = child.wait()
        #expect(try next.result().count == 1)
        let store = try StoreRegistry.standard.open(location)
        #expect(CrashWorkload.number(in: try store.metadata()) == 1)
        try store.close()
    }

    @Test("programs that update a JSON store at the same time all get their turn")
    func manyWriters() throws {
        let bench = try Bench()
        let location = bench.location("json")
        try StoreRegistry.standard.create(location, model: try CrashWorkload.model).close()
        let children = [try Child("reserve-often", at: location), try Child("reserve-often", at: location)]
        for child in children { _ = try #require(try child.number("ready"), "\(child.wait())") }
        for child in children { try child.closeInput() }
        var keys: [Int64] = []
        for child in children {
            while let key = try child.number("key") { keys.append(key) }
            let (status, errors) = child.wait()
            #expect(status == 0, "\(errors)")
        }
        #expect(keys.count == 2 * 40 && Set(keys).count == keys.count)
    }
}

@Suite("Exclusive use beside busy readers", .serialized)
struct BusyReaderTests {
    @Test(
        "a conversion and a compaction get their turn beside processes that keep reopening the store",
        arguments: FileBackends.all)
    func turns(type: String) throws {
        let bench = try Bench()
        let location = bench.location(type)
        let source = StoreLocation(type: type, path: location.path + "-source")
        for place in [location, source] {
            try StoreRegistry.standard.create(place, model: try CrashWorkload.model).close()
        }
        let children = try (0..<3).map { _ in try Child("reopen", at: location) }
        for child in children { _ = try #require(try child.number("ready"), "\(child.wait())") }
        let options = ConversionOptions(overwrites: true, timeoutSeconds: 120)
        let total: Int64 = 12
        for number in 1...total {
            let store = try StoreRegistry.standard.open(source)
            _ = try store.commit(try CrashWorkload.transaction(number))
            try store.close()
            _ = try MigrationManager().convert(from: .location(source), to: .location(location), options: options)
            if number.isMultiple(of: 3) { _ = try StoreMaintenance().compact(location, options: options) }
        }
        for child in children { try child.closeInput() }
        for child in children {
            var last = ""
            while let line = child.line() { if line.hasPrefix("saw ") { last = line } }
            let (status, errors) = child.wait()
            #expect(status == 0, "\(errors)")
            #expect(last == "saw \(total)")
        }
    }

    /// An open SQLite store is compacted in place, so only its conversion waits.
    private static let waits = FileBackends.all.flatMap { type in
        [true, false].filter { $0 || type != "sqlite" }.map { (type, $0) }
    }

    @Test("a conversion and a compaction wait for a process that has the store open", arguments: waits)
    func waiting(type: String, isConversion: Bool) throws {
        let bench = try Bench()
        let location = bench.location(type)
        let source = StoreLocation(type: type, path: location.path + "-source")
        for place in [location, source] {
            try StoreRegistry.standard.create(place, model: try CrashWorkload.model).close()
        }
        let child = try Child("hold-reading", at: location)
        _ = try #require(try child.number("ready"), "\(child.wait())")
        @Sendable func run(_ timeout: Double) throws -> (last: Int64, count: Int) {
            let options = ConversionOptions(overwrites: true, timeoutSeconds: timeout)
            if isConversion {
                _ = try MigrationManager().convert(
                    from: .location(source), to: .location(location), options: options)
            } else {
                _ = try StoreMaintenance().compact(location, options: options)
            }
            return (0, 1)
        }
        let refusal = #expect(throws: StoreError.self) { try run(0) }
        #expect(refusal?.code == .busy)
        let waiting = ReaderThread { try run(600) }
        try waitUntilRequested(location)
        try child.closeInput()
        #expect(child.wait().status == 0)
        #expect(try waiting.result().count == 1)
    }

    /// Waits until an operation waits for the exclusive lock.
    private func waitUntilRequested(_ location: StoreLocation) throws {
        let file = try LockFile(forStoreAt: location.path, region: .store, isWritable: false)
        while !file.isWaitedFor { usleep(1_000) }
    }
}

private final class ReaderThread: Sendable {
    private let outcome: Mutex<Result<(last: Int64, count: Int), any Error>?> = Mutex(nil)
    private let group = DispatchGroup()

    init(_ body: @escaping @Sendable () throws -> (last: Int64, count: Int)) {
        group.enter()
        Thread.detachNewThread { [self] in
            let result = Result { try body() }
            outcome.withLock { $0 = result }
            group.leave()
        }
    }

    func result() throws -> (last: Int64, count: Int) {
        group.wait()
        guard let result = outcome.withLock({ $0 }) else {
            throw StoreError(.internalInconsistency, "the thread ended without a result")
        }
        return try result.get()
    }
}
