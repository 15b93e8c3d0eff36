import Foundation
import RoostCore
import RoostFiles
import Testing

@testable import RoostJSON

@Suite("JSON documents")
struct DocumentTests {
    private func smallModel() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription("A", attributes: [AttributeDescription("s", type: .string)])
        ])
    }

    private func small(_ bench: Bench) throws -> [UInt8] {
        let store = try bench.type.create(bench.location(), model: try smallModel(), options: StoreOptions())
        try store.change { try $0.insert(ObjectID("A", key: 1), values: ["s": "x\u{E9}"]) }
        try store.close()
        return try bench.bytes()
    }

    @Test("two JSON stores with the same UUID and contents have the same bytes")
    func equalBytes() throws {
        let bench = try Bench()
        let options = StoreOptions().with { $0.storeUUID = StoreUUID() }
        for name in ["a", "b"] {
            let store = try bench.create(name, options: options)
            try store.fill()
            try store.close()
        }
        #expect(try bench.bytes("a") == bench.bytes("b"))
    }

    @Test("opening, reading and closing a JSON store does not write to its document")
    func readingWritesNothing() throws {
        let bench = try Bench()
        let filled = try bench.create("a")
        try filled.fill()
        try filled.close()
        let before = try bench.bytes("a")
        let status = try FileIdentity(at: bench.path("a"))
        let store = try bench.open("a")
        _ = try store.state()
        try store.close()
        #expect(try FileIdentity(at: bench.path("a")).isUnchanged(since: status))
        #expect(try bench.bytes("a") == before)
    }

    @Test("each record and each link has a line of its own")
    func writesOneRecordPerLine() throws {
        let bench = try Bench()
        let store = try bench.create("a")
        try store.fill()
        try store.close()
        let lines = try bench.text("a").split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("{\"id\": ") }.count == 8)
        #expect(lines.contains { $0.hasPrefix("[2, 1") })
    }

    @Test("a document truncated at any byte is refused and unchanged")
    func refusesTruncated() throws {
        let bench = try Bench()
        let document = try small(bench)
        for count in document.indices {
            let cut = Array(document.prefix(count))
            try bench.write(cut)
            let error = #expect(throws: StoreError.self, "cut to \(count) bytes") {
                try bench.open(readOnly: true).close()
            }
            #expect(
                [.notAStore, .corrupted].contains(error?.code), "cut to \(count) bytes: \(String(describing: error))")
            #expect(try bench.bytes() == cut)
        }
        for count in [0, 1, document.count / 2, document.count - 1] {
            try bench.write(document.prefix(count))
            try bench.refused()
        }
    }

    @Test("a document without checksum may lack its last line break, and nothing else")
    func refusesTruncatedWithoutChecksum() throws {
        let bench = try Bench()
        _ = try small(bench)
        try bench.edit("store", replacing: "\"s\"", with: "\"s\"")
        let document = try bench.bytes()
        let reader = try bench.open(readOnly: true)
        let state = try reader.state()
        try reader.close()
        for count in document.indices {
            try bench.write(document.prefix(count))
            if count == document.count - 1 {
                let store = try bench.open(readOnly: true)
                #expect(try store.state() == state)
                try store.close()
            } else {
                #expect(throws: StoreError.self, "cut to \(count) bytes") { try bench.open(readOnly: true).close() }
            }
        }
    }

    @Test("a document with any byte changed is refused")
    func refusesChangedByte() throws {
        let bench = try Bench()
        let document = try small(bench)
        for index in document.indices {
            for mask in [UInt8(1) << UInt8(index % 8), 0xFF] {
                var changed = document
                changed[index] ^= mask
                try bench.write(changed)
                #expect(throws: StoreError.self, "byte \(index) changed by \(mask)") {
                    try bench.open(readOnly: true).close()
                }
            }
        }
    }

    @Test("the refusal of a changed document says which line to remove after an edit")
    func adviceForChangedDocument() throws {
        let bench = try Bench()
        let document = try small(bench)
        var changed = document
        changed[document.count / 2] ^= 1
        try bench.write(changed)
        let error = try bench.refused()
        #expect(error.code == .corrupted)
        #expect(error.message.contains("remove the line"), "\(error)")
        // Even an edit that leaves a valid document is refused.
        try bench.write(String(decoding: document, as: UTF8.self).replacingOccurrences(of: "x", with: "y").utf8)
        #expect(try bench.refused().message.contains("remove the line"))
        try bench.write(document + [UInt8(ascii: "\n")])
        #expect(try bench.refused().message.contains("remove the line"))
    }

    @Test(
        "an empty file or an incomplete document is never opened as a store",
        arguments: ["", " ", "\n\n\t \n", "{}", "{\"format\": \"roost-json\"", "null", "[]"])
    func refusesEmptyFile(text: String) throws {
        let bench = try Bench()
        try bench.write(text.utf8)
        let error = try bench.refused()
        #expect([.notAStore, .corrupted].contains(error.code))
    }

    @Test("extreme numbers, control characters and bytes survive in a JSON store")
    func keepsExtremeValues() throws {
        let bench = try Bench()
        let numbers: [Double] = [
            .nan, -.nan, Double(nan: 7, signaling: false), .infinity, -.infinity, -0.0, 0, .leastNonzeroMagnitude,
            .greatestFiniteMagnitude, 0.1, 1e22, 9007199254740992, -1.0000000000000002,
        ]
        let odd = "\u{0}\u{1F}\u{7F}\u{2028}\u{FEFF}\u{FFFF}\u{10FFFF}\"\\/"
        let allBytes = Data([UInt8](0...255))
        let store = try bench.create()
        try store.change { changes in
            for (index, number) in numbers.enumerated() {
                try changes.insert(
                    ObjectID("Book", key: Int64(index) + 1),
                    values: [
                        "weight": .double(number), "pages": .int(index % 2 == 0 ? 2_147_483_647 : -2_147_483_648),
                        "title": .string(odd + "\(index)"), "cover": .data(allBytes),
                    ])
            }
            try changes.insert(ObjectID("Book", key: .max - 1), values: [:])
        }
        let state = try store.state()
        try store.close()
        let again = try bench.open()
        #expect(try again.state() == state)
        try again.close()
    }

    @Test("a document larger than maximumDocumentBytes is neither written nor read")
    func limitsDocumentSize() throws {
        let bench = try Bench()
        let store = try bench.create(options: StoreOptions(typeOptions: ["maximumDocumentBytes": "20000"]))
        try store.fill()
        let error = #expect(throws: StoreError.self) {
            try store.change { changes in
                try changes.insert(
                    ObjectID("Book", key: 50), values: ["cover": .data(Data(repeating: 1, count: 1 << 21))])
            }
        }
        #expect(error?.code == .limitExceeded)
        let state = try store.state()
        try store.close()
        let reader = try bench.open(options: ["maximumDocumentBytes": "20000"])
        #expect(try reader.state() == state)
        try reader.close()
        let refused = #expect(throws: StoreError.self) { _ = try bench.open(options: ["maximumDocumentBytes": "4096"]) }
        #expect(refused?.code == .limitExceeded)
    }

    @Test(
        "an unknown or invalid option of a JSON store is named and refused",
        arguments: [
            ("journalByte", "1"), ("journalBytes", "x"), ("journalBytes", "1"), ("maximumDocumentBytes", "-5"),
        ])
    func refusesInvalidOption(name: String, value: String) throws {
        let bench = try Bench()
        try bench.create().close()
        let error = #expect(throws: StoreError.self) { _ = try bench.open(options: [name: value]) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("'\(name)'") ?? false)
    }
}
