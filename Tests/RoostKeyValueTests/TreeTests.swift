import RoostCore
import Testing

@testable import RoostKeyValue
@testable import RoostMemory

/// A sorted array with the same operations as a tree.
private struct SortedArray: Equatable {
    var entries: [(key: [UInt8], value: [UInt8])] = []

    static func == (left: Self, right: Self) -> Bool {
        left.entries.elementsEqual(right.entries) { $0.key == $1.key && $0.value == $1.value }
    }

    func position(_ key: [UInt8]) -> (Int, Bool) {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].key.lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
        }
        return (low, low < entries.count && entries[low].key == key)
    }

    mutating func put(_ key: [UInt8], _ value: [UInt8]) {
        let (index, exists) = position(key)
        if exists { entries[index].value = value } else { entries.insert((key, value), at: index) }
    }

    mutating func remove(_ key: [UInt8]) -> Bool {
        let (index, exists) = position(key)
        if exists { entries.remove(at: index) }
        return exists
    }
}

extension KeyValueReader {
    fileprivate func entries(_ space: KeySpace, from start: [UInt8] = []) throws -> SortedArray {
        var all = SortedArray()
        let cursor = try cursor(in: space)
        guard try start.isEmpty ? cursor.next() : cursor.seek(to: StorageKey(start)) else { return all }
        repeat { all.entries.append((Array(cursor.key), Array(cursor.value))) } while try cursor.next()
        return all
    }

    /// Returns all entries, read by ``KeyValueCursor/visit(_:)``, at most `count` in each call.
    fileprivate func visitedEntries(_ space: KeySpace, atOnce count: Int) throws -> SortedArray {
        var all = SortedArray()
        let cursor = try cursor(in: space)
        while try cursor.next() {
            var left = count
            let shouldContinue = try cursor.visit { (key, value) throws(StoreError) in
                all.entries.append((Array(key), Array(value)))
                left -= 1
                return left > 0
            }
            guard shouldContinue else { break }
            #expect(Array(cursor.key) == all.entries.last?.key && Array(cursor.value) == all.entries.last?.value)
        }
        #expect(cursor.key.isEmpty)
        #expect(try !cursor.visit { (_, _) throws(StoreError) in true })
        return all
    }
}

@Suite("B+trees in memory")
struct TreeTests {
    @Test("random changes to a B+tree and its snapshots agree with a sorted array", arguments: 1...6)
    func agreesWithSortedArray(seed: UInt64) throws {
        var generator = SeededGenerator(seed)
        let storage = MemoryStorage()
        var model = SortedArray()
        var snapshots: [(reader: any KeyValueReader, model: SortedArray)] = []
        // Small values make deep trees, large ones make pages of one entry.
        let largest = seed % 2 == 0 ? 40 : 5000
        for round in 0..<60 {
            let isShrinking = round % 20 >= 12
            var changes: [(key: [UInt8], value: [UInt8]?)] = []
            for _ in 0..<Int.random(in: 1...400, using: &generator) {
                let keyCount = Int.random(in: 1...(seed % 3 == 0 ? 300 : 4), using: &generator)
                var key = (0..<keyCount).map { _ in UInt8.random(in: 0...9, using: &generator) }
                if isShrinking, let known = model.entries.randomElement(using: &generator) { key = known.key }
                let valueCount = Int.random(in: 0...largest, using: &generator)
                let isRemoval = Int.random(in: 0..<10, using: &generator) < (isShrinking ? 9 : 2)
                changes.append((key, isRemoval ? nil : [UInt8](repeating: UInt8(round), count: valueCount)))
            }
            let isAborted = round % 7 == 3
            var removed: [Bool] = []
            var next = model
            for (key, value) in changes {
                if let value { next.put(key, value) } else { removed.append(next.remove(key)) }
            }
            do {
                let found = try storage.write(timeoutSeconds: 0) { [changes] (writer) throws(StoreError) in
                    var removed: [Bool] = []
                    for (key, value) in changes {
                        if let value {
                            try writer.put(StorageKey(key), value, in: .records)
                        } else {
                            removed.append(try writer.delete(StorageKey(key), in: .records))
                        }
                    }
                    if isAborted { throw StoreError(.cancelled, "on purpose") }
                    return removed
                }
                #expect(found == removed)
                model = next
            } catch {
                #expect(error.code == .cancelled && isAborted)
            }
            if round % 9 == 0 { snapshots.append((try storage.read(), model)) }
            #expect(try storage.integrityFindings() == [])
        }
        let reader = try storage.read()
        #expect(try reader.entries(.records) == model)
        for count in [1, 7, .max] { #expect(try reader.visitedEntries(.records, atOnce: count) == model) }
        for (reader, model) in snapshots { #expect(try reader.entries(.records) == model) }
        try expectSeeks(in: reader, likeIn: model, using: &generator)
    }

    /// Expects that reads and seeks of random keys agree with the sorted array.
    private func expectSeeks(
        in reader: any KeyValueReader, likeIn model: SortedArray, using generator: inout SeededGenerator
    ) throws {
        for _ in 0..<200 {
            let key = (0..<3).map { _ in UInt8.random(in: 0...9, using: &generator) }
            let (index, exists) = model.position(key)
            #expect(try reader.value(of: StorageKey(key), in: .records) == (exists ? model.entries[index].value : nil))
            var rest = SortedArray()
            rest.entries = Array(model.entries[index...].prefix(3))
            let cursor = try reader.cursor(in: .records)
            var found = SortedArray()
            if try cursor.seek(to: StorageKey(key)) {
                repeat {
                    found.entries.append((Array(cursor.key), Array(cursor.value)))
                } while try found.entries.count < 3 && cursor.next()
            }
            #expect(found == rest)
        }
    }

    @Test("keys inserted nearly in descending order into a B+tree are found", arguments: [1, 8, 600])
    func insertsInDescendingOrder(byteCount: Int) throws {
        let storage = MemoryStorage()
        var expected = SortedArray()
        try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
            for number in (10_000..<14_000).reversed() {
                // Every second key is greater than the key before it.
                let key = Array("\(number ^ 1)".utf8)
                try writer.put(StorageKey(key), [UInt8](repeating: 1, count: byteCount), in: .links)
                guard try writer.contains(StorageKey(key), in: .links) else {
                    throw StoreError(.internalInconsistency, "\(number) is not there")
                }
            }
        }
        for number in 10_000..<14_000 {
            expected.entries.append((Array("\(number)".utf8), [UInt8](repeating: 1, count: byteCount)))
        }
        #expect(try storage.integrityFindings().isEmpty)
        let reader = try storage.read()
        #expect(try reader.entries(.links) == expected)
        for number in 10_000..<14_000 {
            #expect(try reader.contains(StorageKey("\(number)".utf8), in: .links))
        }
        try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
            for number in 10_000..<14_000 {
                guard try writer.delete(StorageKey("\(number)".utf8), in: .links) else {
                    throw StoreError(.internalInconsistency, "\(number) cannot be deleted")
                }
            }
        }
        #expect(try storage.read().entries(.links) == SortedArray())
    }

    @Test("appending in order fills B+tree pages, and appending a lower key is refused")
    func fillsPages() throws {
        let storage = MemoryStorage()
        try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
            for key in Int64(1)...20_000 {
                try StorageKey(record: key, root: 0).withBytes { (bytes) throws(StoreError) in
                    try writer.append(bytes, bytes, in: .records)
                }
            }
        }
        #expect(try storage.integrityFindings() == [])
        // Each entry needs 20 bytes and 16 for its slot; little more is allowed.
        #expect(try storage.byteCount() < 20_000 * 48)
        let failure = code {
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                try StorageKey(record: 7, root: 0).withBytes { (bytes) throws(StoreError) in
                    try writer.append(bytes, bytes, in: .records)
                }
            }
        }
        #expect(failure == .invalidRequest)
    }

    @Test("a B+tree cursor continues after its key when entries change")
    func cursorContinuesAcrossWrites() throws {
        let storage = MemoryStorage()
        let left = try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
            for key in Int64(1)...3000 { try writer.put(StorageKey(record: key, root: 0), [1], in: .records) }
            let cursor = try writer.cursor(in: .records)
            var seen: [Int64] = []
            while try cursor.next() {
                let key = cursor.key.recordPlace?.key ?? 0
                seen.append(key)
                // Removes this entry or the next entry.
                try writer.delete(StorageKey(record: key % 3 == 0 ? key : key + 1, root: 0), in: .records)
            }
            return seen
        }
        var expected: [Int64] = []
        var gone: Set<Int64> = []
        for key in Int64(1)...3000 where !gone.contains(key) {
            expected.append(key)
            gone.insert(key % 3 == 0 ? key : key + 1)
        }
        #expect(left == expected)
        #expect(try storage.integrityFindings() == [])
    }

    @Test("a second B+tree writer waits and then throws busy; readers do not wait")
    func writersWaitInTurn() throws {
        let storage = MemoryStorage()
        let long = try storage.beginLongWrite(timeoutSeconds: 0)
        try long.perform { (writer) throws(StoreError) in try writer.put(StorageKey([1]), [1], in: .meta) }
        #expect(code { _ = try storage.beginLongWrite(timeoutSeconds: 0.01) } == .busy)
        #expect(try storage.read().value(of: StorageKey([1]), in: .meta) == nil)
        try long.commit()
        long.abort()
        #expect(try storage.read().value(of: StorageKey([1]), in: .meta) == [1])
        let wasThere = try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
            try writer.delete(StorageKey([1]), in: .meta)
        }
        #expect(wasThere)
    }

    @Test("a long B+tree write released without commit leaves nothing")
    func releasesWithoutCommit() throws {
        let storage = MemoryStorage()
        do {
            let long = try storage.beginLongWrite(timeoutSeconds: 0)
            try long.perform { (writer) throws(StoreError) in try writer.put(StorageKey([1]), [1], in: .meta) }
        }
        let found = try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
            try writer.contains(StorageKey([1]), in: .meta)
        }
        #expect(!found)
    }

    @Test("a thousand B+tree writes on threads are kept, and readers see whole commits")
    func keepsWritesOfThreads() async throws {
        let storage = MemoryStorage()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for step in 0..<250 {
                        try storage.write(timeoutSeconds: 60) { (writer) throws(StoreError) in
                            let (a, b) = (StorageKey([0, UInt8(worker)]), StorageKey([1, UInt8(worker)]))
                            for key in [a, b] { try writer.put(key, number: Int64(step), in: .records) }
                            let total = try writer.number(of: StorageKey([9]), in: .meta) ?? 0
                            try writer.put(StorageKey([9]), number: total + 1, in: .meta)
                        }
                    }
                }
                group.addTask {
                    for _ in 0..<250 {
                        let reader = try storage.read()
                        for worker in UInt8(0)..<4 {
                            let first = try reader.number(of: StorageKey([0, worker]), in: .records)
                            #expect(try reader.number(of: StorageKey([1, worker]), in: .records) == first)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try storage.read().number(of: StorageKey([9]), in: .meta) == 1000)
    }
}
