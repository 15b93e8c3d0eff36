import Foundation
import Roost
import Testing

@testable import RoostMigration

@Suite("Association table")
struct AssociationTableTests {
    typealias Object = AssociationTable.Object

    private func table(_ memoryByteCount: Int = 8 << 20) throws -> AssociationTable {
        let model = try Sample.model()
        return AssociationTable(
            mappingCount: 2, from: model, to: model, memoryByteCount: memoryByteCount,
            directories: [FileManager.default.temporaryDirectory.path])
    }

    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    /// 36,000 bytes have room for 1500 runs of keys; further runs go to sorted levels in a file.
    @Test(
        "an association table answers as dictionaries do, in memory and in a file", arguments: [8 << 20, 36_000, 0],
        0..<4)
    func agreesWithDictionaries(memoryByteCount: Int, seed: Int) throws {
        var random = Generator(state: UInt64(seed) &* 977 &+ 5)
        let table = try table(memoryByteCount)
        // Entities 1 and 2 are in one hierarchy, 0 is in another.
        let entities = [0, 1, 2]
        var forward: [Object: [Object]] = [:]
        var backward: [Object: [Object]] = [:]
        var pairs = 0
        for round in 0..<3000 {
            let shape = seed % 4
            let key: Int64
            switch shape {
            case 0: key = Int64(round + 1)
            case 1: key = Int64.random(in: 1...400, using: &random)
            case 2: key = Int64(round / 2 + 1)
            default: key = Int64(3001 - round)
            }
            let source = Object(entity: shape == 1 ? entities.randomElement(using: &random) ?? 0 : 0, key: key)
            let isFresh = shape == 2 ? round % 2 == 1 : Bool.random(using: &random) && shape != 0
            let target = Object(
                entity: shape == 1 ? 3 : 1, key: isFresh ? Int64(100_000 + round) : (shape == 1 ? key % 50 + 1 : key))
            try table.associate(source, with: target, in: 1)
            // Lookups use hierarchy and key, so entities 1 and 2 share a place.
            forward[place(source), default: []].append(target)
            backward[target, default: []].append(source)
            pairs += 1
        }
        #expect(table.count(in: 1) == pairs)
        #expect(table.count(in: 0) == 0)
        let hasToSpill = memoryByteCount == 0 ? seed % 4 != 0 : memoryByteCount == 36_000 && seed % 4 == 3
        #expect(table.hasSpilled == hasToSpill || memoryByteCount == 36_000 && seed % 4 != 3)
        for (source, targets) in forward {
            var found: [Object] = []
            try table.appendDestinations(of: source, in: 1, to: &found)
            #expect(found.sorted(by: order) == targets.sorted(by: order))
        }
        for (target, sources) in backward {
            var found: [Object] = []
            try table.appendSources(of: target, in: 1, to: &found)
            #expect(found.sorted(by: order) == sources.sorted(by: order))
        }
        var none: [Object] = []
        try table.appendDestinations(of: Object(entity: 0, key: 1 << 40), in: 1, to: &none)
        try table.appendDestinations(of: Object(entity: 0, key: 1), in: 0, to: &none)
        #expect(none == [])
        let all = try table.destinations(in: 1)
        var listed: [Object] = []
        while let next = try all.next() { listed.append(next) }
        #expect(listed == Set(backward.keys).sorted(by: order))
    }

    private func place(_ object: Object) -> Object {
        Object(entity: object.entity == 1 ? 2 : object.entity, key: object.key)
    }

    private func order(_ left: Object, _ right: Object) -> Bool {
        (left.entity, left.key) < (right.entity, right.key)
    }

    @Test("an association table of objects that keep their keys does not spill")
    func keptKeysAreRuns() throws {
        let table = try table(0)
        for key in 1...100_000 {
            try table.associate(Object(entity: 0, key: Int64(key)), with: Object(entity: 1, key: Int64(key)), in: 0)
        }
        #expect(!table.hasSpilled)
        #expect(table.keepsKeys(in: 0, for: 1) && table.isInjective(in: 0))
        #expect(!table.keepsKeys(in: 0, for: 2))
        var found: [Object] = []
        try table.appendSources(of: Object(entity: 1, key: 77_777), in: 0, to: &found)
        #expect(found == [Object(entity: 0, key: 77_777)])
    }

    @Test("the file of an association table reuses its pages")
    func spillingIsCheap() throws {
        let table = try table(64 << 10)
        var random = Generator(state: 7)
        let count = 100_000
        for key in (1...count).shuffled(using: &random) {
            try table.associate(
                Object(entity: 0, key: Int64(key)),
                with: Object(entity: 1, key: Int64.random(in: 1...1_000_000, using: &random)), in: 0)
        }
        // An association takes 24 bytes for each side.
        let live = 2 * count * 24
        let (file, written) = table.spilledBytes
        #expect(file > live / 2 && file < 3 * live, "\(file) bytes for \(live)")
        #expect(written < 8 * live, "\(written) bytes for \(live)")
        var found: [Object] = []
        for key in 1...count { try table.appendDestinations(of: Object(entity: 0, key: Int64(key)), in: 0, to: &found) }
        #expect(found.count == count)
    }

    @Test("a list of destinations excludes objects that are associated while it is read")
    func listsAreFrozen() throws {
        let table = try table()
        for key: Int64 in [1, 3, 5] {
            try table.associate(Object(entity: 0, key: key), with: Object(entity: 1, key: key), in: 0)
        }
        let all = try table.destinations(in: 0)
        var keys: [Int64] = []
        while let next = try all.next() {
            keys.append(next.key)
            try table.associate(
                Object(entity: 0, key: next.key + 100), with: Object(entity: 1, key: next.key + 100), in: 0)
        }
        #expect(keys == [1, 3, 5])
        #expect(table.count(in: 0) == 6)
    }
}
