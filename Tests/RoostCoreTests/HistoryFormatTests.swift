import Foundation
import RoostSystem
import Testing

@testable import RoostCore

final class MemoryHistory: HistoryEntryWriter {
    var settings: [UInt8]?
    var parts: [HistoryPlace: [UInt8]] = [:]

    func historySettings() throws(StoreError) -> [UInt8]? { settings }
    func historyBytes(at place: HistoryPlace) throws(StoreError) -> [UInt8]? { parts[place] }
    func historyPlace(from place: HistoryPlace) throws(StoreError) -> HistoryPlace? {
        parts.keys.filter { $0 >= place }.min()
    }
    func lastHistoryPosition() throws(StoreError) -> UInt64? { parts.keys.max()?.position }
    func setHistorySettings(_ bytes: [UInt8]?) throws(StoreError) { settings = bytes }
    func putHistory(_ bytes: [UInt8], at place: HistoryPlace) throws(StoreError) { parts[place] = bytes }
    func removeHistory(before place: HistoryPlace, limit: Int) throws(StoreError) -> Int {
        let removed = parts.keys.filter { $0 < place }.sorted().prefix(limit)
        for place in removed { parts[place] = nil }
        return removed.count
    }
}

@Suite("The format of histories")
struct HistoryFormatTests {
    private let model: ManagedObjectModel
    private let uuid = StoreUUID()

    init() throws {
        model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Person",
                attributes: [
                    AttributeDescription("email", type: .string).with { $0.preservesValueInHistoryOnDeletion = true },
                    AttributeDescription("age", type: .integer64),
                ], relationships: [.toMany("friends", to: "Person", inverse: "friends")])
        ])
    }

    private func recorder() -> HistoryRecorder {
        HistoryRecorder(.commit, model: model, author: "a", contextName: nil, clock: { 5 })
    }

    private func commit(
        _ number: UInt64, to history: MemoryHistory, body: (inout HistoryRecorder) throws -> Void
    ) throws {
        if history.settings == nil {
            try HistoryMaintenance.begin(nil, at: Generation(number: number - 1), in: history)
        }
        var recorder = recorder()
        try body(&recorder)
        try recorder.finish(
            try #require(history.settings), from: Generation(number: number - 1), to: Generation(number: number),
            in: history)
    }

    private func transactions(_ history: MemoryHistory, at number: UInt64) throws -> [HistoryTransaction] {
        let reader = try HistoryReader(
            history, model: model, storeUUID: uuid, generation: Generation(number: number))
        let cursor = try reader.cursor(HistoryRequest())
        var transactions: [HistoryTransaction] = []
        while let transaction = try cursor.next() { transactions.append(transaction) }
        return transactions
    }

    private func recordEverything(_ recorder: inout HistoryRecorder) throws {
        var batch = RecordBatch(model: model)
        try batch.append(ObjectID("Person", key: 7), version: 1, values: ["email": "e", "age": .int(1)])
        try batch.append(ObjectID("Person", key: 7), version: 2, values: ["email": "e", "age": .int(2)])
        try batch.withRecord(at: 0) { old in
            batch.withRecord(at: 1) { recorder.update(old, to: $0) }
            try recorder.delete(old)
        }
        recorder.insert(.max, entity: 0)
        let number = try #require(model.linkRelationships.first).number
        recorder.link(Link(1, 2), of: number, isAdded: true)
        recorder.link(Link(.max, 1), of: number, isAdded: false)
    }

    @Test("history bytes keep numbers of every size and optional texts")
    func numbers() throws {
        var bytes = HistoryBytes()
        let unsigned: [UInt64] = [0, 1, 127, 128, 1 << 32, 1 << 63, .max]
        let signed: [Int64] = [0, -1, 1, 63, -64, .max, .min]
        for number in unsigned { bytes.append(number: number) }
        for number in signed { bytes.append(signed: number) }
        for text in [nil, "", "ä"] { bytes.append(text: text) }
        var reader = HistoryBytesReader(bytes.bytes)
        for number in unsigned { #expect(try reader.number() == number) }
        for number in signed { #expect(try reader.signed() == number) }
        for text in [nil, "", "ä"] { #expect(try reader.text() == text) }
        #expect(reader.isAtEnd)
    }

    @Test("a history keeps inserts, updates, deletes and changes of links")
    func changes() throws {
        let history = MemoryHistory()
        try commit(1, to: history) { try recordEverything(&$0) }
        let transaction = try #require(try transactions(history, at: 1).first)
        #expect(transaction.changes.map(\.kind) == [.update, .delete, .insert])
        #expect(transaction.changes.map(\.id.key) == [7, 7, .max])
        #expect(transaction.changes[0].changedProperties == ["age"])
        #expect(transaction.changes[1].preservedValues == ["email": "e"])
        #expect(transaction.linkChanges.map(\.isAdded) == [true, false])
        #expect(transaction.linkChanges.map(\.source.key) == [1, .max])
        #expect(try history.historyFindings(model, at: Generation(number: 1)).isEmpty)
    }

    @Test("a history takes at most 30 bytes for one insert and 1040 for 1000")
    func size() throws {
        let history = MemoryHistory()
        try commit(1, to: history) { $0.insert(1, entity: 0) }
        #expect(try #require(history.parts[HistoryPlace(1)]).count <= 30)
        try commit(2, to: history) { recorder in for key in 2...1001 { recorder.insert(Int64(key), entity: 0) } }
        #expect(try #require(history.parts[HistoryPlace(2)]).count <= 1040)
    }

    @Test("a history with a changed byte or a missing end is reported as damage")
    func damage() throws {
        let history = MemoryHistory()
        try commit(1, to: history) { try recordEverything(&$0) }
        let sound = try #require(history.parts[HistoryPlace(1)])
        for index in sound.indices {
            for bytes in [
                sound.enumerated().map { $0.offset == index ? $0.element ^ 0x41 : $0.element },
                Array(sound.prefix(index)),
            ] {
                history.parts[HistoryPlace(1)] = bytes
                let error = #expect(throws: StoreError.self) { _ = try transactions(history, at: 1) }
                #expect(error?.code == .corrupted)
                #expect(try history.historyFindings(model, at: Generation(number: 1)).map(\.severity) == [.damage])
            }
        }
    }

    @Test("a history with wrong content under a valid checksum is read or reported as corrupted")
    func readsSealedNonsense() throws {
        let history = MemoryHistory()
        try commit(1, to: history) { try recordEverything(&$0) }
        let sound = try #require(history.parts[HistoryPlace(1)])
        func seal(_ content: [UInt8]) -> [UInt8] {
            let checksum = content.historyChecksum(from: 0)
            return (0..<8).map { UInt8(truncatingIfNeeded: checksum >> (8 * $0)) } + content
        }
        for index in 8..<sound.count {
            for byte: UInt8 in [0, 1, 5, 6, 0x7F, 0x80, 0xFF] {
                var content = Array(sound[8...])
                content[index - 8] = byte
                history.parts[HistoryPlace(1)] = seal(content)
                do { _ = try transactions(history, at: 1) } catch let error as StoreError {
                    #expect(error.code == .corrupted, "\(error)")
                }
                history.parts[HistoryPlace(1)] = seal(Array(content.prefix(index - 8)))
                do { _ = try transactions(history, at: 1) } catch let error as StoreError {
                    #expect(error.code == .corrupted, "\(error)")
                }
            }
        }
    }

    @Test("a history stores a large transaction in bounded parts, and a missing part is damage")
    func parts() throws {
        let history = MemoryHistory()
        try commit(1, to: history) { recorder in
            for key in 1...40_000 { recorder.insert(Int64(key) * 1_000_000_000, entity: 0) }
        }
        #expect(history.parts.count > 2)
        #expect(history.parts.values.allSatisfy { $0.count < HistoryPart.capacityByteCount + 100 })
        #expect(try transactions(history, at: 1).map(\.changes.count).reduce(0, +) == 40_000)
        for place in history.parts.keys {
            let bytes = history.parts.removeValue(forKey: place)
            #expect(throws: StoreError.self) { _ = try transactions(history, at: 1) }
            #expect(try history.historyFindings(model, at: Generation(number: 1)).map(\.severity) == [.damage])
            history.parts[place] = bytes
        }
    }

    @Test("all parts of a history are listed, even one with the highest number")
    func highestPart() throws {
        let history = MemoryHistory()
        for number: UInt64 in 1...2 { try commit(number, to: history) { $0.insert(Int64(number), entity: 0) } }
        for place in [HistoryPlace(1, part: .max), HistoryPlace(.max, part: .max)] {
            history.parts[place] = HistoryPart.bytes(place, header: nil, changes: [])
        }
        var places: [HistoryPlace] = []
        try history.forEachHistoryPart { (parts) throws(StoreError) in
            for part in parts { places.append(part.place) }
        }
        #expect(places == history.parts.keys.sorted() && places.count == 4)
        #expect(try history.historyFindings(model, at: Generation(number: 2)).map(\.severity) == [.damage])
    }

    @Test("entries that an interrupted removal left are not damage, and the next removal deletes them")
    func interruptedRemoval() throws {
        let history = MemoryHistory()
        for number: UInt64 in 1...3 { try commit(number, to: history) { $0.insert(Int64(number), entity: 0) } }
        let token = try transactions(history, at: 3)[1].token
        func remove() throws -> Bool {
            try HistoryMaintenance.remove(
                .token(token), model: model, storeUUID: uuid, at: Generation(number: 3), in: history)
        }
        let all = history.parts
        #expect(try remove())
        // The start has moved, but the entries of the removed transactions still exist.
        history.parts = all
        #expect(try history.historyFindings(model, at: Generation(number: 3)).isEmpty)
        #expect(try transactions(history, at: 3).map { $0.changes.map(\.id.key) } == [[3]])
        #expect(try remove())
        #expect(Array(history.parts.keys) == [HistoryPlace(3)])
    }

    @Test("a commit that skipped the history expires older tokens and restarts the history")
    func gap() throws {
        let history = MemoryHistory()
        try commit(1, to: history) { $0.insert(1, entity: 0) }
        func reader(at number: UInt64) throws -> HistoryReader {
            try HistoryReader(history, model: model, storeUUID: uuid, generation: Generation(number: number))
        }
        let token = try reader(at: 1).currentToken()
        // Generation 2 is missing.
        #expect(try history.historyFindings(model, at: Generation(number: 2)).map(\.severity) == [.warning])
        let early = #expect(throws: StoreError.self) {
            _ = try reader(at: 2).cursor(HistoryRequest(after: token))
        }
        #expect(early?.code == .historyExpired)
        try commit(3, to: history) { $0.insert(3, entity: 0) }
        let late = #expect(throws: StoreError.self) { _ = try reader(at: 3).cursor(HistoryRequest(after: token)) }
        #expect(late?.code == .historyExpired)
        #expect(try transactions(history, at: 3).map { $0.changes.map(\.id.key) } == [[3]])
        #expect(try history.historyFindings(model, at: Generation(number: 3)).isEmpty)
    }

    @Test("a history without the last commits refuses reads and removals by date as expired, but can be removed")
    func operationsInGap() throws {
        let history = MemoryHistory()
        try commit(1, to: history) { $0.insert(1, entity: 0) }
        // Generation 2 is missing.
        let now = Generation(number: 2)
        func remove(_ bound: HistoryBound) throws -> Bool {
            try HistoryMaintenance.remove(bound, model: model, storeUUID: uuid, at: now, in: history)
        }
        let reading = #expect(throws: StoreError.self) { _ = try transactions(history, at: 2) }
        #expect(reading?.code == .historyExpired)
        let dated = #expect(throws: StoreError.self) {
            let reader = try HistoryReader(history, model: model, storeUUID: uuid, generation: now)
            _ = try reader.cursor(HistoryRequest().with { $0.startDate = .distantPast })
        }
        #expect(dated?.code == .historyExpired)
        let removal = #expect(throws: StoreError.self) { _ = try remove(.date(.distantFuture)) }
        #expect(removal?.code == .historyExpired)
        #expect(try remove(.everything))
        #expect(history.parts.isEmpty)
        #expect(try history.historyFindings(model, at: now).isEmpty)
        #expect(try transactions(history, at: 2).isEmpty)
    }

    @Test("history settings are the same after writing and reading")
    func settings() throws {
        var settings = HistorySettings(after: Generation(number: .max), time: -7)
        settings.startByteCount = .max
        #expect(try HistorySettings(try settings.bytes) == settings)
        settings.firstTime = .max
        settings.retention = HistoryRetention(days: 0.5, byteCount: 9)
        #expect(try HistorySettings(try settings.bytes) == settings)
    }

    @Test(
        "bytes that are not the settings of a history are reported as corrupted",
        arguments: ["", "{}", "{\"start\":1}"])
    func wrongSettings(text: String) {
        let error = #expect(throws: StoreError.self) { _ = try HistorySettings(Array(text.utf8)) }
        #expect(error?.code == .corrupted && error?.message.hasPrefix("The store's history is damaged") == true)
    }
}
