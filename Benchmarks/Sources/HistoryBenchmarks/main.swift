import Foundation
import Roost
import RoostCore

// Compares durable commits to a store with a history and to a store without one.
//
// The commits to the two stores alternate, so that a slow disk affects both. The program prints medians
// in microseconds and their ratio, and marks a ratio above the limit.

/// The maximum time of a commit with a history, as a multiple of a commit without one.
let limit = 1.25

let model = try ManagedObjectModel(entities: [
    EntityDescription(
        "Track",
        attributes: [
            AttributeDescription("title", type: .string), AttributeDescription("plays", type: .integer64),
            AttributeDescription("length", type: .double), AttributeDescription("added", type: .date),
            AttributeDescription("code", type: .string).with { $0.preservesValueInHistoryOnDeletion = true },
        ]
    ).with { $0.fetchIndexes = [FetchIndexDescription("byTitle", on: "title")] }
])

/// One of the two stores, with the times of its commits.
final class Side {
    let store: any PersistentStore
    let path: String
    var nextKey: Int64 = 1
    var microseconds: [Double] = []

    init(_ type: String, in directory: String, recordsHistory: Bool) throws {
        path = "\(directory)/\(type)-\(recordsHistory ? "history" : "plain")"
        store = try StoreRegistry.standard.create(
            StoreLocation(type: type, path: path), model: model,
            options: StoreOptions().with { $0.tracksHistory = recordsHistory ? true : nil })
    }

    func values(_ key: Int64, plays: Int64) -> [String: Value] {
        [
            "title": .string("A title of usual length \(key &* 7919 % 100_003)"), "plays": .int(plays),
            "length": .double(Double(key) / 3), "added": .date(Date(timeIntervalSinceReferenceDate: Double(key))),
            "code": .string("code \(key)"),
        ]
    }

    func commit(_ operation: String, count: Int64) throws {
        var changes = ChangeSet(model: model)
        switch operation {
        case "insert":
            for key in nextKey..<nextKey + count {
                try changes.insert(ObjectID("Track", key: key), values: values(key, plays: 0))
            }
            nextKey += count
        case "update":
            for key in nextKey - count..<nextKey {
                try changes.update(ObjectID("Track", key: key), version: 1, values: values(key, plays: 1))
            }
        default:
            for key in nextKey - count..<nextKey { changes.delete(ObjectID("Track", key: key), version: 2) }
        }
        let start = ContinuousClock.now
        _ = try store.commit(changes)
        let time = ContinuousClock.now - start
        microseconds.append(Double(time.components.attoseconds) / 1e12 + Double(time.components.seconds) * 1e6)
    }
}

/// Prints the times of both stores of each type, and returns whether a ratio is above the limit.
func compare() throws -> Bool {
    let name = "roost-history-\(UUID().uuidString)"
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    var isOverLimit = false
    for type in ["sqlite", "lmdb"] {
        let sides = [
            try Side(type, in: directory, recordsHistory: false), try Side(type, in: directory, recordsHistory: true),
        ]
        // Fills both stores first, so that no commit to an empty file is measured.
        for side in sides { for _ in 0..<20 { try side.commit("insert", count: 1000) } }
        for count in [1, 100, 1000] as [Int64] {
            let rounds = count == 1 ? 300 : count == 100 ? 100 : 30
            var times: [String: [[Double]]] = [:]
            for round in 0..<rounds {
                for operation in ["insert", "update", "delete"] {
                    for index in round % 2 == 0 ? [0, 1] : [1, 0] {
                        sides[index].microseconds = []
                        try sides[index].commit(operation, count: count)
                        times[operation, default: [[], []]][index] += sides[index].microseconds
                    }
                }
            }
            let medians = times.mapValues { $0.map { list in [list.sorted()[list.count / 2]] } }
            for operation in ["insert", "update", "delete"] {
                guard let pair = medians[operation]?.compactMap(\.first), pair.count == 2 else { continue }
                let quotient = pair[1] / pair[0]
                if quotient > limit { isOverLimit = true }
                print(
                    String(
                        format: "%@/%@-%d  %.0f µs  with history %.0f µs  %.2f%@", type, operation, Int(count),
                        pair[0], pair[1], quotient, quotient > limit ? "  above \(limit)" : ""))
            }
        }
        for side in sides { try side.store.close() }
    }
    return isOverLimit
}

exit(try compare() ? 1 : 0)
