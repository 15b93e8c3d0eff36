import RoostConformance
import Testing

@Suite("Disk model")
struct DiskModelTests {
    private func record(
        _ kind: TraceRecord.Kind, at path: String = "", to other: String = "", inode: UInt64 = 1, offset: Int = 0,
        data: String = "", isDurable: Bool = false
    ) -> TraceRecord {
        TraceRecord(
            kind: kind, isDurable: isDurable, path: path, other: other, offset: offset, inode: inode,
            data: Array(data.utf8))
    }

    /// Returns the contents of `name` in many states after the records; "–" for a missing file.
    private func contents(
        of name: String, under model: DiskModel, after records: [TraceRecord], from tree: [DiskFile] = []
    ) -> Set<String> {
        var disk = DiskState(model, tree: tree)
        for record in records { disk.apply(record) }
        var found: Set<String> = []
        for seed in 1...20 as ClosedRange<UInt64> {
            var random = SeededGenerator(seed: seed)
            for number in 0..<disk.variantCount(random: 4) {
                let image = disk.variant(number, using: &random).files[name]
                found.insert(image.map { String(decoding: $0.contents ?? [], as: UTF8.self) } ?? "–")
            }
        }
        return found
    }

    @Test("flushed data survive a power cut, and other data may or may not", arguments: DiskModel.allCases)
    func unflushed(model: DiskModel) {
        let old = DiskFile(path: "a", contents: Array("old".utf8), inode: 1)
        #expect(contents(of: "a", under: model, after: [record(.written, data: "new")], from: [old]) == ["old", "new"])
        #expect(
            contents(
                of: "a", under: model, after: [record(.written, data: "new"), record(.synced, at: "a")], from: [old])
                == [
                    "new"
                ])
        #expect(
            contents(of: "a", under: model, after: [record(.written, data: "new", isDurable: true)], from: [old]) == [
                "new"
            ])
    }

    @Test("a new name is durable once its file is flushed (journaled disk) or its directory (strict disk)")
    func newNames() {
        let records = [record(.created, at: "a"), record(.written, data: "new"), record(.synced, at: "a")]
        #expect(contents(of: "a", under: .journaled, after: records) == ["new"])
        #expect(contents(of: "a", under: .strict, after: records) == ["–", "new"])
        #expect(contents(of: "a", under: .strict, after: records + [record(.syncedDirectory, at: "")]) == ["new"])
    }

    @Test("names become durable in order on a journaled disk, and in any order on a strict disk")
    func orderOfNames() {
        let tree = [DiskFile(path: "a", contents: [1], inode: 1), DiskFile(path: "b", contents: [2], inode: 2)]
        func names(_ model: DiskModel) -> Set<String> {
            var disk = DiskState(model, tree: tree)
            disk.apply(record(.renamed, at: "a", to: "c"))
            disk.apply(record(.unlinked, at: "b", inode: 0))
            var found: Set<String> = []
            for seed in 1...50 as ClosedRange<UInt64> {
                var random = SeededGenerator(seed: seed)
                for number in 0..<disk.variantCount(random: 4) {
                    found.insert(disk.variant(number, using: &random).files.keys.sorted().joined())
                }
            }
            return found
        }
        #expect(names(.journaled) == ["ab", "bc", "c"])
        #expect(names(.strict) == ["ab", "bc", "c", "a"])
    }

    @Test("data that a failed flush lost are not written by the next flush", arguments: DiskModel.allCases)
    func failedFlush(model: DiskModel) {
        let old = DiskFile(path: "a", contents: Array("old".utf8), inode: 1)
        let failed = [record(.written, data: "new"), record(.failedSync, at: "a"), record(.synced, at: "a")]
        #expect(contents(of: "a", under: model, after: failed, from: [old]) == ["old", "new"])
        let again = failed + [record(.written, data: "new"), record(.synced, at: "a")]
        #expect(contents(of: "a", under: model, after: again, from: [old]) == ["new"])
        let durable = failed + [record(.written, data: "now", isDurable: true)]
        #expect(contents(of: "a", under: model, after: durable, from: [old]) == ["now"])
    }

    @Test("each block of an unflushed file may be old or new, and all its names show the same blocks")
    func tornFiles() {
        let old = String(repeating: "o", count: 8192)
        var disk = DiskState(.journaled, tree: [DiskFile(path: "a", contents: Array(old.utf8), inode: 1)])
        disk.apply(record(.linked, at: "b"))
        disk.apply(record(.written, data: String(repeating: "n", count: 8192)))
        var found: Set<String> = []
        for seed in 1...50 as ClosedRange<UInt64> {
            var random = SeededGenerator(seed: seed)
            for number in 0..<disk.variantCount(random: 4) {
                let files = disk.variant(number, using: &random).files
                let text = String(decoding: files["a"]?.contents ?? [], as: UTF8.self)
                if let other = files["b"] { #expect(other.contents == files["a"]?.contents) }
                found.insert("\(text.first ?? "–")\(text.last ?? "–")")
            }
        }
        #expect(found == ["oo", "on", "no", "nn"])
    }
}
