import Foundation
import RoostCore
import RoostJSONText
import Testing

@testable import RoostText

@Suite("The fast reader of records in the writer's format")
struct WrittenRecordTests {
    private let model: ManagedObjectModel

    init() throws { model = try TextSample.model() }

    /// The result of reading an array: the records with their bytes, or the error.
    private struct Result: Equatable {
        var records: [Record] = []
        var message: String?
        var code: StoreError.Code?
        var checksum: String?
        /// The number of records that the fast path read.
        var writtenCount = 0

        static func == (left: Self, right: Self) -> Bool {
            left.records == right.records && left.message == right.message && left.code == right.code
                && left.checksum == right.checksum
        }
    }

    private func read(_ text: [UInt8], of entity: Int, chunk: Int, asWritten: Bool) -> Result {
        var result = Result()
        var tokens = makeReader(text, chunk: chunk, computesChecksum: true)
        var reader = RecordTextReader(model: model)
        var batch = RecordBatch(model: model)
        do throws(StoreError) {
            try tokens.expect(.beginArray, "records")
            while true {
                if asWritten {
                    let before = batch.count
                    reader.readWritten(entity, from: &tokens, into: &batch)
                    result.writtenCount += batch.count - before
                }
                guard try tokens.nextElement() else { break }
                guard tokens.token == .beginObject else { throw tokens.mismatch("a record") }
                try reader.readMembers(entity, from: &tokens, into: &batch)
            }
            guard try tokens.next() == .end else { throw tokens.mismatch("the end") }
        } catch {
            result.message = error.message
            result.code = error.code
        }
        result.checksum = tokens.checksumBeforeToken().map { TextChecksum.text($0) }
        result.records = (0..<batch.count).map { batch.record(at: $0) }
        // After an error, the two ways of reading may have added different bytes to the checksum.
        if result.message != nil { result.checksum = nil }
        return result
    }

    /// Returns an array of random records of an entity, each on its own line, and their number.
    private func document(_ entity: EntityName, using random: inout SeededNumbers) throws -> (text: [UInt8], count: Int)
    {
        var batch = RecordBatch(model: model)
        while batch.count < 40 {
            try TextSample.appendRandomRecord(key: Int64(batch.count + 1), to: &batch, using: &random)
        }
        let number = try model.requireEntity(entity).number
        var text = TextBuffer()
        text.append("[")
        let writer = RecordTextWriter(model: model)
        var count = 0
        for index in 0..<batch.count where batch.entityNumber(at: index) == number {
            text.append(count == 0 ? "\n" : ",\n")
            try batch.withRecord(at: index) { (record) throws(StoreError) in try writer.append(record, to: &text) }
            count += 1
        }
        text.append("\n]")
        return (text.bytes, count)
    }

    @Test("the fast record reader gives the same records as the token reader", arguments: 0..<30)
    func sameRecords(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        for entity in ["Thing", "Person", "Child", "Box"] as [EntityName] {
            let (text, count) = try document(entity, using: &random)
            let number = try model.requireEntity(entity).number
            for chunk in [1, Int.random(in: 2...3000, using: &random), 1 << 20] {
                let plain = read(text, of: number, chunk: chunk, asWritten: false)
                let written = read(text, of: number, chunk: chunk, asWritten: true)
                #expect(plain.message == nil && plain.records.count == count)
                #expect(written == plain, "\(entity), chunks of \(chunk)")
                // Escapes and numbers of more than 18 digits are left to the token reader; boxes
                // have neither.
                if chunk == 1 << 20, entity == "Box" { #expect(written.writtenCount == count) }
            }
        }
    }

    @Test("the fast record reader reports the same errors as the token reader", arguments: 0..<60)
    func sameErrors(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let entity: EntityName = seed % 4 == 0 ? "Person" : "Thing"
        let number = try model.requireEntity(entity).number
        let (text, _) = try document(entity, using: &random)
        let pieces =
            [
                "0", "-", ".", "e1", "\"", "\\", " ", "\n", "\u{1}", ",", "}", "{", "]", "é", "null", "true", ": ",
                "00", "=",
                "99999999999999999999", "\\u0041",
            ].map { Array($0.utf8) } + [[0xC3], [0x80], [0xFF], [0], [0xED, 0xA0, 0x80]]
        for _ in 0..<60 {
            var damaged = text
            let place = Int.random(in: 0..<damaged.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: damaged.remove(at: place)
            case 1: damaged[place] = UInt8.random(in: 0...255, using: &random)
            case 2: damaged.removeSubrange(place...)
            default: damaged.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: place)
            }
            let chunk = Bool.random(using: &random) ? 1 << 20 : Int.random(in: 1...2000, using: &random)
            let plain = read(damaged, of: number, chunk: chunk, asWritten: false)
            let written = read(damaged, of: number, chunk: chunk, asWritten: true)
            #expect(written == plain, "at byte \(place): \(plain.message ?? "read"), \(written.message ?? "read")")
        }
    }

    @Test("the fast record reader reads each spelling of a number like the token reader")
    func readsNumberSpellings() throws {
        let number = try model.requireEntity("Thing").number
        let spellings = [
            "0", "-0", "1", "-1", "01", "1.", ".5", "1.50", "1e3", "1E+3", "1e", "1.5e-3", "123456789012345678",
            "1234567890123456789", "-9223372036854775808", "9223372036854775808", "9007199254740993", "0.1",
            "0.30000000000000004", "123456.789012345678", "1e400", "-0.0", "5e-324", "4.9406564584124654e-324", "+1",
            "0x1", "1 ", "32767", "32768", "-32769", "2147483648", "3.4028236e38",
        ]
        for key in ["double", "date", "float", "integer16", "integer32", "integer64", "owner", "box"] {
            for spelling in spellings {
                let text = Array("[\n{\"id\": 1, \"version\": 1, \"\(key)\": \(spelling)}\n]".utf8)
                let plain = read(text, of: number, chunk: 1 << 20, asWritten: false)
                #expect(read(text, of: number, chunk: 1 << 20, asWritten: true) == plain, "\(key): \(spelling)")
            }
        }
    }

    @Test("the fast record reader reads each key and version like the token reader")
    func readsKeysAndVersions() throws {
        let number = try model.requireEntity("Thing").number
        for key in ["0", "-1", "1.5", "9223372036854775807", "\"1\""] {
            for version in ["0", "4294967295", "4294967296", "-1", "null"] {
                let text = Array("[\n{\"id\": \(key), \"version\": \(version)}\n]".utf8)
                let plain = read(text, of: number, chunk: 1 << 20, asWritten: false)
                #expect(read(text, of: number, chunk: 1 << 20, asWritten: true) == plain, "\(key), \(version)")
            }
        }
    }

    @Test("the fast record reader reads nothing where no array element comes next")
    func readsNothingOutsideArray() throws {
        let number = try model.requireEntity("Box").number
        for text in ["{\"a\": [\n{\"id\": 1, \"version\": 1}\n]}", "[\n{\"id\": 1, \"version\": 1}\n]"] {
            var tokens = makeReader(Array(text.utf8), chunk: 1000)
            var reader = RecordTextReader(model: model)
            var batch = RecordBatch(model: model)
            while true {
                let before = batch.count
                let token = tokens.token
                reader.readWritten(number, from: &tokens, into: &batch)
                #expect(batch.count == before + (token == .beginArray && before == 0 ? 1 : 0))
                guard try tokens.next() != .end else { break }
            }
            #expect(batch.count == 1)
        }
    }
}
