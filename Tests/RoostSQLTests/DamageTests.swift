import Foundation
import RoostCore
import RoostFiles
import RoostSQL
import RoostSQLite
import Testing

@Suite("Damaged SQLite stores")
struct DamageTests {
    /// Any damage gives a store error, the right data or a finding, but never a crash.
    @Test("a damaged SQLite file gives an error, a finding or the right data", arguments: 0..<4)
    func survivesDamage(part: Int) throws {
        let directory = try TemporaryDirectory()
        let type = SQLiteStoreType()
        let store = try type.create(
            directory.location("a"), model: try Models.music(),
            options: StoreOptions(typeOptions: ["pageSizeBytes": "512"]))
        try store.change { changes in
            for key in Int64(1)...12 {
                try changes.insert(
                    ObjectID("Track", key: key),
                    values: ["title": .string("title \(key)"), "i64": .int(key), "length": .double(Double(key))])
                try changes.insert(ObjectID("Album", key: key), values: ["title": .string("album \(key)")])
                try changes.add(Link(key, 13 - key), to: RelationshipName("Album", name: "similar"))
            }
        }
        let expected = try store.digest()
        try store.close()
        let original = try directory.bytes("a")
        var generator = SeededGenerator(seed: UInt64(part) + 1)
        var outcomes: [String: Int] = [:]
        for round in 0..<120 {
            var bytes = original
            if round % 10 == 0 {
                bytes.removeLast(Int.random(in: 1..<bytes.count, using: &generator))
            } else {
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= UInt8.random(
                        in: 1...255, using: &generator)
                }
            }
            try directory.write(bytes, to: "x")
            let outcome = try outcome(of: directory.location("x"), type: type, expecting: expected)
            outcomes[outcome, default: 0] += 1
            #expect(outcome != "wrong", "round \(round) of part \(part)")
            for name in try directory.names where name.hasPrefix("x") {
                try FileManager.default.removeItem(atPath: directory.file(name))
            }
        }
        #expect((outcomes["error"] ?? 0) > 0)
    }

    private func outcome(of location: StoreLocation, type: SQLiteStoreType, expecting expected: StoreDigest?) throws
        -> String
    {
        do {
            let store = try type.open(location, options: StoreOptions(timeoutSeconds: 0))
            defer { try? store.close() }
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            let recorded = try snapshot.recordedTally()
            let computed = try snapshot.computeTally()
            if computed == recorded, computed.digest == expected { return "right" }
            return try store.integrityFindings().isEmpty ? "wrong" : "found"
        } catch {
            #expect(error.code != .internalInconsistency, "\(error)")
            return "error"
        }
    }

    private struct SeededGenerator: RandomNumberGenerator {
        private var state: UInt64
        init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }
        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }
}
