import Foundation
import Roost
import RoostCore
import RoostMigration
import RoostSystem

@testable import RoostImport

/// An importer of texts into stores in memory.
struct ImportBench {
    var options = TextImportOptions(entity: "Row", format: .csv)
    var model: ManagedObjectModel?
    /// The messages about rows that were left out.
    let reports = Mutex<[String]>([])

    init(_ configure: (inout TextImportOptions) -> Void = { _ in }) { configure(&options) }

    /// Returns an input that delivers a text in pieces of at most `pieceByteCount` bytes.
    static func input(_ bytes: [UInt8], pieceByteCount: Int = .max) throws -> ImportInput {
        var rest = bytes[...]
        return try ImportInput(spooling: "rows", inOneOf: [NSTemporaryDirectory(), "/tmp"]) {
            (buffer) throws(StoreError) in
            let piece = rest.prefix(min(buffer.count, pieceByteCount))
            buffer.copyBytes(from: piece)
            rest = rest.dropFirst(piece.count)
            return piece.count
        }
    }

    func content(_ bytes: [UInt8]) throws -> TextImport {
        let reports = reports
        let faults = FaultyRowList(options.faultyRows) { message in reports.withLock { $0.append(message) } }
        return try TextImport(try Self.input(bytes), options: options, model: model, faults: faults) {}
    }

    static func store(_ model: ManagedObjectModel) throws -> any PersistentStore {
        try StoreRegistry.standard.create(StoreLocation(type: "memory", path: UUID().uuidString), model: model)
    }

    func store(_ bytes: [UInt8]) throws -> any PersistentStore {
        let content = try content(bytes)
        let store = try Self.store(content.model)
        if content.canBeSent {
            _ = try MigrationManager(registry: .standard).make(.store(store), of: content, named: "rows")
        } else {
            _ = try content.insert(into: store)
        }
        return store
    }

    /// Imports a text, and returns each row's values by property, in the order of the keys.
    func rows(_ text: String) throws -> [[String: Value]] { try rows(Array(text.utf8)) }

    func rows(_ bytes: [UInt8]) throws -> [[String: Value]] {
        try Self.values(of: EntityName("Row"), in: try store(bytes))
    }

    static func records(of entity: EntityName, in store: any PersistentStore) throws -> [Record] {
        try Store(store, registry: .standard).read { try $0.fetch(FetchRequest(entity)) }
    }

    static func values(of entity: EntityName, in store: any PersistentStore) throws -> [[String: Value]] {
        try records(of: entity, in: store).map { $0.values() }
    }

    func message(_ text: String) -> String {
        do { return "no error: \(try rows(text))" } catch { return (error as? StoreError)?.message ?? "\(error)" }
    }

    /// Returns the type that is inferred for a column with these cells.
    func type(_ cells: String...) throws -> AttributeType? {
        try content(Array(("a,b\n" + cells.map { "\($0),\n" }.joined()).utf8)).model.entity("Row")?.attribute("a")?.type
    }
}
