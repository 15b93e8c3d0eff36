import Foundation
import RoostCore
import Testing

@testable import RoostKeyValue

@Suite("External sorter")
struct ExternalSorterTests {
    private struct Entry: Comparable {
        var space: Int
        var key: [UInt8]
        var value: Int64
        static func < (a: Self, b: Self) -> Bool {
            if a.space != b.space { return a.space < b.space }
            if a.key != b.key { return a.key.lexicographicallyPrecedes(b.key) }
            return UInt64(bitPattern: a.value).byteSwapped < UInt64(bitPattern: b.value).byteSwapped
        }
    }

    private func drain(_ sorter: ExternalSorter) throws -> [Entry] {
        var all: [Entry] = []
        try sorter.drain { (arena) throws(StoreError) in
            try arena.forEach { (entry) throws(StoreError) in
                let key = EntryArena.key(of: entry)
                let value = EntryArena.value(of: entry).littleEndian64(at: 0).map { Int64(bitPattern: $0) }
                all.append(Entry(space: Int(key.first ?? 0), key: Array(key.dropFirst()), value: value ?? -1))
            }
        }
        return all
    }

    @Test(
        "the external sorter returns entries in order, in memory or after merges",
        arguments: [0, 1, 100, 6000, 40_000])
    func sortsInMemoryAndFiles(count: Int) throws {
        var generator = SeededGenerator(UInt64(count) + 1)
        let directory = FileManager.default.temporaryDirectory.appending(path: "roost-\(UUID())").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let sorter = ExternalSorter(memoryByteCount: 64 << 10, directories: [directory])
        var expected: [Entry] = []
        for index in 0..<count {
            let space = [KeySpace.links, .unique, .indexes].randomElement(using: &generator) ?? .links
            let keyCount = Int.random(in: 1...40, using: &generator)
            let key = (0..<keyCount).map { _ in UInt8.random(in: 0...3, using: &generator) }
            expected.append(Entry(space: space.position, key: key, value: Int64(index)))
            try sorter.append(StorageKey(key), number: Int64(index), in: space)
        }
        // Each run keeps a file open, so the sorter must merge runs early.
        #expect(sorter.spilledRunCount < ExternalSorter.fanIn)
        // The sorter's files have no names.
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
        #expect(try drain(sorter) == expected.sorted())
        #expect(try drain(sorter) == [])
    }

    @Test("the external sorter skips unusable directories, and fails if all are unusable")
    func skipsUnusableDirectories() throws {
        let sorter = ExternalSorter(
            memoryByteCount: 64 << 10, directories: ["/dev/null", FileManager.default.temporaryDirectory.path])
        for number in (0..<5000).reversed() { try sorter.append(StorageKey(number: number), in: .indexes) }
        #expect(try drain(sorter).map(\.key) == (0..<5000).map { StorageKey(number: $0).bytes })
        let hopeless = ExternalSorter(memoryByteCount: 64 << 10, directories: ["/dev/null"])
        let failure = code { for number in 0..<5000 { try hopeless.append(StorageKey(number: number), in: .indexes) } }
        #expect(failure == .ioFailure)
    }
}
