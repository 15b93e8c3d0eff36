import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostMigration
import RoostStores

/// A process that CrashTests starts, watches and kills.
///
/// Its arguments are a command, the location of a store, and options of the store's type as
/// `name=value`. Each command writes `ready <n>` when it has begun:
///
/// - `commit`: continues the transactions of `CrashWorkload` until it is killed, and writes
///   `acked <n>` after each.
/// - `read`: reads the store until standard input ends, and writes `saw <n>` for each new state.
/// - `reopen`: like `read`, but opens the store again, read-only, for each read.
/// - `hold`: keeps a snapshot open until standard input ends. `hold-reading` opens the store
///   read-only.
/// - `load`: keeps a bulk load open until standard input ends.
/// - `reserve`: waits for the end of standard input, reserves keys, and writes `key <n>` for each.
///   `reserve-often` opens the store again for each key.
/// - `compact`: compacts the store until it is killed, and writes `compacted <n>` or `in-place <n>`
///   each time.
@main
struct CrashChild {
    static func main() {
        let arguments = CommandLine.arguments
        do {
            guard arguments.count >= 3, let location = StoreLocation(text: arguments[2]) else {
                throw StoreError(
                    .invalidRequest,
                    "usage: CrashChild commit|read|hold|hold-reading|load|reserve|reserve-often|reopen|compact type:path"
                )
            }
            var options = StoreOptions()
            for argument in arguments.dropFirst(3) {
                let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
                options.typeOptions[parts[0]] = parts.count > 1 ? parts[1] : ""
            }
            if arguments[1] == "compact" { try compact(location) }
            if arguments[1] == "reopen" { return try reopen(location) }
            if arguments[1] == "reserve-often" { return try reserveOften(location) }
            options.isReadOnly = arguments[1] == "hold-reading"
            let store = try StoreRegistry.standard.open(location, options: options)
            switch arguments[1] {
            case "commit": try commit(store)
            case "read": try read(store)
            case "hold", "hold-reading": try hold(try store.snapshot())
            case "load": try load(store)
            case "reserve": try reserve(store)
            default: throw StoreError(.invalidRequest, "unknown mode '\(arguments[1])'")
            }
        } catch {
            FileHandle.standardError.write(Data("CrashChild: \(error)\n".utf8))
            exit(3)
        }
    }

    private static func say(_ text: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
    }

    private static func commit(_ store: any PersistentStore) throws {
        var number = CrashWorkload.number(in: try store.metadata())
        try say("ready \(number)")
        while true {
            number += 1
            _ = try store.commit(try CrashWorkload.transaction(number))
            try say("acked \(number)")
        }
    }

    private static func compact(_ location: StoreLocation) throws -> Never {
        try say("ready 0")
        var number = 0
        while true {
            let report = try StoreMaintenance().compact(location)
            number += 1
            try say(report.inPlace ? "in-place \(number)" : "compacted \(number)")
        }
    }

    private static func hold(_ snapshot: any StoreSnapshot) throws {
        _ = try CrashWorkload.number(in: snapshot)
        try say("ready 0")
        _ = FileHandle.standardInput.readDataToEndOfFile()
        snapshot.close()
    }

    private static func load(_ store: any PersistentStore) throws {
        let loader = try store.bulkLoader(BulkLoadOptions())
        var batch = RecordBatch(model: store.model)
        try batch.append(ObjectID("Track", key: 1_000_000), version: 1, values: ["title": .string("never seen")])
        try loader.append(batch)
        try say("ready 0")
        _ = FileHandle.standardInput.readDataToEndOfFile()
        loader.abandon()
    }

    private static func reserve(_ store: any PersistentStore) throws {
        try say("ready 0")
        _ = FileHandle.standardInput.readDataToEndOfFile()
        var text = ""
        for _ in 0..<300 { for key in try store.reserveKeys(7, for: "Track") { text += "key \(key)\n" } }
        try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        try store.close()
    }

    private static func reserveOften(_ location: StoreLocation) throws {
        try say("ready 0")
        _ = FileHandle.standardInput.readDataToEndOfFile()
        for _ in 0..<40 {
            let store = try StoreRegistry.standard.open(location, options: StoreOptions(timeoutSeconds: 300))
            // Closing releases unused reserved keys, so a commit uses the key.
            let key = try store.reserveKeys(1, for: "Track").lowerBound
            var changes = ChangeSet(model: store.model)
            try changes.insert(ObjectID("Track", key: key), values: [:])
            _ = try store.commit(changes)
            try store.close()
            try say("key \(key)")
        }
    }

    private static func reopen(_ location: StoreLocation) throws {
        try look {
            let store = try StoreRegistry.standard.open(
                location, options: StoreOptions(isReadOnly: true, timeoutSeconds: 60))
            return (try store.snapshot(), { try store.close() })
        }
    }

    private static func read(_ store: any PersistentStore) throws {
        try look { (try store.snapshot(), {}) }
        try store.close()
    }

    /// Reads one snapshot after the other until the parent closes standard input.
    private static func look(_ next: () throws -> (any StoreSnapshot, () throws -> Void)) throws {
        let isOver = Mutex(false)
        Thread.detachNewThread {
            _ = FileHandle.standardInput.readDataToEndOfFile()
            isOver.withLock { $0 = true }
        }
        var (last, count) = (Int64(-1), 0)
        try say("ready 0")
        while true {
            let isLast = isOver.withLock { $0 }
            let (snapshot, close) = try next()
            guard let number = try CrashWorkload.number(in: snapshot) else {
                throw StoreError(.internalInconsistency, "a snapshot shows no state of any transaction, after \(last)")
            }
            snapshot.close()
            try close()
            guard number >= last else {
                throw StoreError(.internalInconsistency, "state \(number) after state \(last)")
            }
            if number > last { try say("saw \(number)") }
            last = number
            count += 1
            if isLast { break }
        }
        try say("read \(count)")
    }
}
