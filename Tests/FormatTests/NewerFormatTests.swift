import Foundation
import Roost
import RoostCore
import RoostMigration
import RoostStores
import Testing

@Suite("Files of newer programs")
struct NewerFormatTests {
    /// Replaces every occurrence of some bytes, and requires at least one.
    private func replace(_ old: [UInt8], by new: [UInt8], in bytes: [UInt8]) throws -> [UInt8] {
        var result = Data(bytes)
        try #require(result.firstRange(of: Data(old)) != nil)
        while let range = result.firstRange(of: Data(old)) { result.replaceSubrange(range, with: new) }
        return Array(result)
    }

    private func littleEndian(_ word: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }

    /// Returns an entry of the key-value engine: checksum, then version and key limit.
    private func entry(version: UInt64, keyLimit: UInt64) -> [UInt8] {
        let value = littleEndian(version | keyLimit << 32)
        return littleEndian(value.withUnsafeBytes { RecordHash.bytes($0) }) + value
    }

    private func raised(_ bytes: [UInt8], of kept: KeptStore) throws -> [UInt8] {
        // The version after the kept version marks stores that require features. This program reads both versions.
        let next = kept.version + 2
        switch kept.type {
        case "sqlite":
            var bytes = bytes
            #expect(Array(bytes[60..<64]) == [0, 0, 0, UInt8(kept.version)])
            bytes[63] = UInt8(next)
            return bytes
        case "lmdb":
            let limit = try #require(
                (64...511).first { limit in
                    Data(bytes).firstRange(of: Data(entry(version: UInt64(kept.version), keyLimit: UInt64(limit))))
                        != nil
                })
            return try replace(
                entry(version: UInt64(kept.version), keyLimit: UInt64(limit)),
                by: entry(version: UInt64(next), keyLimit: UInt64(limit)), in: bytes)
        case "json":
            let text = String(decoding: bytes, as: UTF8.self)
            let range = try #require(text.range(of: "\"formatVersion\": \(kept.version)"))
            return Array(text.replacingCharacters(in: range, with: "\"formatVersion\": \(next)").utf8)
        default: throw StoreError(.unknownStoreType, "no way to raise the version of '\(kept.type)'")
        }
    }

    private func expectRefusal(_ refusal: StoreError?, of newer: Int, reading version: Int) {
        #expect(refusal?.code == .unsupportedVersion)
        let message = refusal?.message ?? ""
        #expect(message.contains("format version \(newer)"), "\(message)")
        #expect(message.contains("reads \(version)") || message.contains("to \(version)"), "\(message)")
        #expect(message.contains("newer"), "\(message)")
    }

    static let newest = fileTypes.compactMap { type in
        KeptFiles.stores.filter { $0.type == type }.max { $0.version < $1.version }
    }

    @Test(
        "a store of a newer format is refused with an error that names both versions, and does not change",
        arguments: newest)
    func store(kept: KeptStore) throws {
        let folder = try Folder()
        let location = try kept.copy(to: folder)
        let bytes = try raised(try folder.bytes("store"), of: kept)
        try folder.write(bytes, to: "store")
        for isReadOnly in [true, false] {
            let options = StoreOptions(isReadOnly: isReadOnly)
            expectRefusal(
                error { try kept.kind.open(location, options: options).close() }, of: kept.version + 2,
                reading: kept.version + 1
            )
            expectRefusal(
                error { _ = try kept.kind.metadata(at: location, options: options) }, of: kept.version + 2,
                reading: kept.version + 1)
        }
        let manager = MigrationManager(registry: .standard)
        expectRefusal(
            error { _ = try manager.migrateInPlace(location, model: try KeptContent.nextModel()) },
            of: kept.version + 2,
            reading: kept.version + 1)
        expectRefusal(
            error { _ = try StoreMaintenance(registry: .standard).compact(location) }, of: kept.version + 2,
            reading: kept.version + 1)
        #expect(try folder.bytes("store") == bytes)
    }

    @Test(
        "a JSON store that requires an unknown feature is refused with an error that names the feature",
        arguments: newest.filter { $0.type == "json" })
    func feature(kept: KeptStore) throws {
        let folder = try Folder()
        let location = try kept.copy(to: folder)
        let text = String(decoding: try folder.bytes("store"), as: UTF8.self)
        let range = try #require(text.range(of: "\"formatVersion\": \(kept.version)"))
        let newer = "\"formatVersion\": \(kept.version + 1), \"requiredFeatures\": [\"history\", \"telepathy\"]"
        let bytes = Array(text.replacingCharacters(in: range, with: newer).utf8)
        try folder.write(bytes, to: "store")
        for isReadOnly in [true, false] {
            let refusal = error { try kept.kind.open(location, options: StoreOptions(isReadOnly: isReadOnly)).close() }
            #expect(refusal?.code == .unsupportedVersion)
            #expect(refusal?.message.contains("'telepathy'") == true, "\(refusal?.message ?? "")")
        }
        #expect(try folder.bytes("store") == bytes)
    }

    @Test(
        "a journal of a newer format is refused with an error that names both versions, and does not change",
        arguments: newest.filter { $0.type == "json" })
    func journal(kept: KeptStore) throws {
        let folder = try Folder()
        let location = try kept.copy("unclosed", to: folder)
        var bytes = try folder.bytes("unclosed-journal")
        #expect(bytes[8] == 1)
        bytes[8] = 2
        bytes.replaceSubrange(
            64..<72, with: littleEndian(Array(bytes[0..<64]).withUnsafeBytes { RecordHash.bytes($0) }))
        try folder.write(bytes, to: "unclosed-journal")
        for isReadOnly in [true, false] {
            let refusal = error { try kept.kind.open(location, options: StoreOptions(isReadOnly: isReadOnly)).close() }
            expectRefusal(refusal, of: 2, reading: 1)
        }
        #expect(try folder.bytes("unclosed-journal") == bytes)
    }

    @Test(
        "a dump of a newer format is refused with an error that names both versions, and creates nothing",
        arguments: fileTypes)
    func dump(into type: String) throws {
        let text = String(decoding: try KeptFiles.bytes("dump-1/content.jsonl"), as: UTF8.self)
        let range = try #require(text.range(of: "\"formatVersion\":1"))
        let newer = Array(text.replacingCharacters(in: range, with: "\"formatVersion\":2").utf8)
        let folder = try Folder()
        let refusal = error {
            try load(newer, into: .location(StoreLocation(type: type, path: folder.file("store"))))
        }
        expectRefusal(refusal, of: 2, reading: 1)
        #expect(try folder.names() == [])
    }

    @Test("model and mapping documents of a newer format are refused with errors that name both versions")
    func documents() throws {
        func raised(_ name: String) throws -> [UInt8] {
            let text = String(decoding: try KeptFiles.bytes(name), as: UTF8.self)
            let range = try #require(text.range(of: "\"formatVersion\": 1"))
            return Array(text.replacingCharacters(in: range, with: "\"formatVersion\": 2").utf8)
        }
        let model = try raised("model-1/model.roostmodel.json")
        expectRefusal(error { _ = try ManagedObjectModel(document: model) }, of: 2, reading: 1)
        let mapping = try raised("mapping-1/mapping.roostmapping.json")
        expectRefusal(error { _ = try MappingModel(document: mapping) }, of: 2, reading: 1)
    }
}
