import Foundation
import RoostCore
import RoostFiles
import Testing

@testable import RoostJSON

/// A store that its writer did not close, and its state after each commit.
private struct Abandoned {
    let bench: Bench
    /// The states by number of commits in the journal.
    var states: [StoreTally] = []
    /// The byte offsets at which the journal's header and each of its frames end.
    var ends: [Int] = [JournalHeader.byteCount]
    let document: [UInt8]
    let journal: [UInt8]

    init(commits: Int = 3) throws {
        bench = try Bench()
        let first = try bench.create()
        try first.change { try $0.insert(ObjectID("Book", key: 1), values: ["title": "begin"]) }
        try first.close()
        document = try bench.bytes()
        var store: (any PersistentStore)? = try bench.open()
        try states.append(#require(store).state())
        for number in 1...commits {
            try store?.change { changes in
                try changes.insert(
                    ObjectID("Book", key: Int64(number) + 1),
                    values: ["title": "b", "cover": .data(Data(repeating: 0, count: number == commits ? 1100 : 20))])
            }
            try states.append(#require(store).state())
            ends.append(try bench.bytes("store-journal").count)
        }
        // Releases the store without closing it, like a killed process.
        store = nil
        journal = try bench.bytes("store-journal")
        #expect(try bench.bytes() == document)
    }

    /// Opens the store with another journal, and returns its state.
    func state(_ journal: [UInt8], readOnly: Bool = true) throws -> StoreTally {
        try bench.write(document)
        try bench.write(journal, to: "store-journal")
        let store = try bench.open(readOnly: readOnly)
        let state = try store.state()
        try store.close()
        return state
    }
}

@Suite("Journals of JSON stores")
struct JournalTests {
    @Test("commits of a killed writer are read from the journal, and a close merges them")
    func replaysAfterKill() throws {
        let abandoned = try Abandoned()
        let bench = abandoned.bench
        let reader = try bench.open(readOnly: true)
        #expect(try reader.state() == abandoned.states[3])
        try reader.close()
        #expect(try bench.bytes("store-journal") == abandoned.journal)
        let writer = try bench.open()
        #expect(try writer.state() == abandoned.states[3])
        try writer.change { try $0.insert(ObjectID("Tag", key: 9), values: [:]) }
        let last = try writer.state()
        try writer.close()
        #expect(try bench.names == ["store", "store.lock"])
        let again = try bench.open(readOnly: true)
        #expect(try again.state() == last)
        try again.close()
    }

    @Test("a journal truncated at any byte gives the state after its whole commits")
    func readsTruncatedJournal() throws {
        let abandoned = try Abandoned()
        for count in 0..<abandoned.journal.count {
            let whole = max(0, abandoned.ends.filter { $0 <= count }.count - 1)
            let state = try abandoned.state(Array(abandoned.journal.prefix(count)))
            #expect(state == abandoned.states[whole], "cut to \(count) bytes")
        }
    }

    @Test("a writer truncates an incomplete commit and continues after the last whole one")
    func continuesAfterTruncation() throws {
        let abandoned = try Abandoned()
        let bench = abandoned.bench
        for count in [3, 71, 72, 75, abandoned.ends[1] + 1, abandoned.ends[2] + 60] {
            try bench.write(abandoned.document)
            try bench.write(abandoned.journal.prefix(count), to: "store-journal")
            var store: (any PersistentStore)? = try bench.open()
            try store?.change { try $0.insert(ObjectID("Tag", key: 9), values: [:]) }
            let state = try store?.state()
            store = nil
            let reader = try bench.open(readOnly: true)
            #expect(try reader.state() == state, "cut to \(count) bytes")
            try reader.close()
        }
    }

    @Test("a journal with any byte changed is refused, and nothing is changed")
    func refusesChangedByte() throws {
        let abandoned = try Abandoned()
        let bench = abandoned.bench
        for index in abandoned.journal.indices {
            for mask in [UInt8(1) << UInt8(index % 8), 0xFF] {
                var journal = abandoned.journal
                journal[index] ^= mask
                try bench.write(journal, to: "store-journal")
                let error = #expect(throws: StoreError.self, "byte \(index) changed by \(mask)") {
                    try bench.open(readOnly: true).close()
                }
                #expect(error?.code == .corrupted, "byte \(index): \(String(describing: error))")
            }
        }
        #expect(try bench.bytes() == abandoned.document)
        try bench.write(abandoned.journal.dropLast() + [1], to: "store-journal")
        let error = try bench.refused()
        #expect(error.message.contains("byte \(abandoned.ends[2])"))
    }

    @Test("a zeroed sector in a journal means a crash in the last commit, and damage in earlier ones")
    func distinguishesZeros() throws {
        let abandoned = try Abandoned()
        var torn = 0
        var start = 0
        while start < abandoned.journal.count {
            let end = min(abandoned.journal.count, start + 512)
            var journal = abandoned.journal
            for index in max(start, abandoned.ends[2])..<max(end, abandoned.ends[2]) { journal[index] = 0 }
            if journal != abandoned.journal {
                #expect(try abandoned.state(journal) == abandoned.states[2], "zeros from \(start)")
                torn += 1
            }
            journal = abandoned.journal
            for index in start..<end { journal[index] = 0 }
            if start < abandoned.ends[2], journal != abandoned.journal {
                try abandoned.bench.write(journal, to: "store-journal")
                #expect(try abandoned.bench.refused(readOnly: true).code == .corrupted, "zeros from \(start)")
            }
            start = end
        }
        #expect(torn >= 2)
        // A file that was extended, but not filled.
        let longer = abandoned.journal + [UInt8](repeating: 0, count: 5000)
        #expect(try abandoned.state(longer) == abandoned.states[3])
        #expect(try abandoned.state(longer, readOnly: false) == abandoned.states[3])
        #expect(try abandoned.state([UInt8](repeating: 0, count: 600)) == abandoned.states[0])
    }

    @Test(
        "journal commits that are missing, duplicated or swapped are damage",
        arguments: [[1, 2], [0, 2], [0, 0, 1, 2], [1, 0, 2], [0, 1, 2, 2]])
    func refusesWrongOrder(of commits: [Int]) throws {
        let abandoned = try Abandoned()
        let (journal, ends) = (abandoned.journal, abandoned.ends)
        let frames: [[UInt8]] = [
            Array(journal[ends[0]..<ends[1]]), Array(journal[ends[1]..<ends[2]]), Array(journal[ends[2]...]),
        ]
        var wrong = Array(journal[..<ends[0]])
        for commit in commits { wrong += frames[commit] }
        try abandoned.bench.write(wrong, to: "store-journal")
        #expect(try abandoned.bench.refused(readOnly: true).code == .corrupted)
    }

    @Test("a journal beside another document is refused, and neither is changed")
    func refusesForeignDocument() throws {
        let abandoned = try Abandoned()
        let bench = abandoned.bench
        try bench.edit("store", replacing: "begin", with: "edited")
        let error = try bench.refused()
        #expect(error.code == .storeReplaced)
        #expect(error.message.contains("store-journal"))
        // The journal of another store.
        let other = try bench.create("other")
        try other.fill()
        try other.close()
        try bench.write(abandoned.journal, to: "other-journal")
        #expect(try bench.refused("other").message.contains("another store"))
        // Without its document, the store cannot be opened, and no store is created over the
        // journal.
        try FileManager.default.removeItem(atPath: bench.path())
        #expect(throws: StoreError.self) { _ = try bench.create() }
        #expect(try bench.bytes("store-journal") == abandoned.journal)
    }

    @Test("a journal that the document already contains is removed by the next writer")
    func removesFoldedJournal() throws {
        let abandoned = try Abandoned()
        let bench = abandoned.bench
        try bench.open().close()
        let folded = try bench.bytes()
        #expect(!(try bench.names).contains("store-journal"))
        for journal in [abandoned.journal, abandoned.journal + [1, 2, 3]] {
            try bench.write(journal, to: "store-journal")
            let reader = try bench.open(readOnly: true)
            #expect(try reader.state() == abandoned.states[3])
            try reader.close()
            #expect(try bench.names.contains("store-journal"))
            let writer = try bench.open()
            #expect(!(try bench.names).contains("store-journal"))
            #expect(try writer.state() == abandoned.states[3])
            try writer.close()
            #expect(try bench.bytes() == folded)
        }
        // The edited document still contains the journal's commits.
        try bench.edit("store", replacing: "begin", with: "edited")
        try bench.write(abandoned.journal, to: "store-journal")
        let writer = try bench.open()
        #expect(try writer.state().generation == abandoned.states[3].generation)
        try writer.close()
        // A journal that is shorter than the merged one is not recognized.
        try bench.write(folded)
        try bench.write(abandoned.journal.prefix(abandoned.ends[2]), to: "store-journal")
        #expect(try bench.refused().code == .storeReplaced)
    }

    @Test("a foreign file instead of the journal is refused and unchanged", arguments: [3, 71, 72, 500])
    func refusesForeignFile(byteCount: Int) throws {
        let abandoned = try Abandoned()
        try abandoned.bench.write([UInt8](repeating: 65, count: byteCount), to: "store-journal")
        #expect(try abandoned.bench.refused().code == .notAStore)
    }

    @Test("a store beside another store's journal is neither destroyed nor replaced")
    func keepsForeignJournal() throws {
        let (own, other) = (try Abandoned(), try Abandoned())
        let bench = own.bench
        try bench.create("new").close()
        try bench.write(other.journal, to: "store-journal")
        func code(_ body: () throws -> Void) -> StoreError.Code? {
            do { try body() } catch { return (error as? StoreError)?.code }
            return nil
        }
        #expect(code { try bench.type.destroy(bench.location()) } == .storeReplaced)
        #expect(
            code { try bench.type.replace(bench.location(), with: bench.location("new"), overwriting: true) }
                == .storeReplaced)
        #expect(
            code { try bench.type.replace(bench.location("gone"), with: bench.location(), overwriting: false) }
                == .storeReplaced)
        #expect(try bench.bytes("store-journal") == other.journal)
        #expect(try bench.bytes() == own.document)
    }

    @Test("destroying a JSON store removes its journal, even a damaged one")
    func destroysOwnJournal() throws {
        let own = try Abandoned()
        let bench = own.bench
        for journal in [own.journal, own.journal.prefix(50) + [0] + own.journal.dropFirst(51)] {
            try bench.write(own.document)
            try bench.write(journal, to: "store-journal")
            try bench.type.destroy(bench.location())
            #expect(try !bench.names.contains { $0.hasPrefix("store") })
        }
    }

    @Test("a journal of a newer format is refused")
    func refusesNewerFormat() throws {
        let abandoned = try Abandoned()
        var header = Array(abandoned.journal.prefix(JournalHeader.byteCount - 8))
        header[8] = 9
        header.append(word: header.checksum(0..<header.count))
        try abandoned.bench.write(header + abandoned.journal.dropFirst(header.count), to: "store-journal")
        #expect(try abandoned.bench.refused().code == .unsupportedVersion)
    }

    @Test("a check of a JSON store warns of an incomplete commit in the journal")
    func warnsOfIncompleteCommit() throws {
        let abandoned = try Abandoned()
        try abandoned.bench.write(abandoned.journal.dropLast(), to: "store-journal")
        let reader = try abandoned.bench.open(readOnly: true)
        defer { try? reader.close() }
        let findings = try reader.integrityFindings()
        #expect(findings.count == 1)
        #expect(findings.first?.severity == .warning)
        #expect(findings.first?.message.contains("never acknowledged") ?? false)
    }
}
