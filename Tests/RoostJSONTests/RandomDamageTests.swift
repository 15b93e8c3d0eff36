import Foundation
import RoostCore
import RoostStores
import Testing

@testable import RoostJSON

/// Random numbers that a seed determines.
private struct Numbers {
    var state: UInt64

    mutating func below(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return limit > 0 ? Int((state >> 33) % UInt64(limit)) : 0
    }

    /// Changes, doubles, inserts or removes some bytes.
    mutating func damage(_ bytes: inout [UInt8]) {
        for _ in 0...below(3) {
            let place = below(bytes.count)
            let length = min(1 + below(20), bytes.count - place)
            switch below(5) {
            case 0: bytes[place] = UInt8(truncatingIfNeeded: below(256))
            case 1: bytes.removeSubrange(place..<place + length)
            case 2: bytes.insert(contentsOf: bytes[place..<place + length], at: below(bytes.count))
            case 3:
                let marks: [String] = [
                    "{", "}", "[", "]", ",", ":", "\"", "null", "-1", "9e99", "\\u0000", "1", "true",
                ]
                bytes.insert(contentsOf: Array(marks[below(marks.count)].utf8), at: place)
            default: bytes[place] ^= 1 << UInt8(below(8))
            }
        }
    }
}

/// Reading a store whose damage no checksum reveals may give any result, or any error except
/// `internalInconsistency`, but must not trap.
@Suite("Random damage to JSON stores")
struct RandomDamageTests {
    private let seed: UInt64

    /// `ROOST_SEED` repeats a run.
    init() {
        seed = ProcessInfo.processInfo.environment["ROOST_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...999_999)
        // After a trap, only this line shows the seed.
        print("random damage: ROOST_SEED=\(seed)")
    }

    private func read(_ bench: Bench, readOnly: Bool = true) throws {
        do {
            let store = try bench.open(readOnly: readOnly)
            defer { try? store.close() }
            _ = try checkStore(store)
        } catch let error as StoreError {
            #expect(error.code != .internalInconsistency, "ROOST_SEED=\(seed): \(error)")
        }
    }

    @Test("a randomly damaged document without checksum is read or refused without a crash")
    func survivesDamagedDocument() throws {
        let bench = try Bench()
        let store = try bench.create()
        try store.fill()
        try store.close()
        try bench.edit("store", replacing: "\"q\\\"", with: "\"q\\\"")
        let text = try bench.text()
        // Without the long runs of A, most damage hits meaningful bytes.
        let whole = Array(text.replacingOccurrences(of: String(repeating: "A", count: 100), with: "").utf8)
        var numbers = Numbers(state: seed)
        for _ in 0..<800 {
            var bytes = whole
            numbers.damage(&bytes)
            try bench.write(bytes)
            try read(bench)
        }
    }

    @Test("a randomly damaged journal with valid checksums is read or refused without a crash")
    func survivesDamagedJournal() throws {
        let bench = try Bench()
        var store: (any PersistentStore)? = try bench.create()
        try store?.fill()
        store = nil
        let journal = try bench.bytes("store-journal")
        let head = Array(journal[..<JournalHeader.byteCount])
        let payload = Array(journal[(JournalHeader.byteCount + JournalFrame.headByteCount)...])
        let document = try bench.bytes()
        var numbers = Numbers(state: seed)
        for _ in 0..<400 {
            var bytes = payload
            numbers.damage(&bytes)
            bytes += [UInt8](repeating: 0, count: (8 - bytes.count % 8) % 8)
            let frame = JournalFrame(of: bytes, at: head.count, chain: JournalHeader.check(head))
            try bench.write(document)
            try bench.write(head + frame.bytes + bytes, to: "store-journal")
            try read(bench)
        }
    }
}
