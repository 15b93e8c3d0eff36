public import RoostCore
import RoostFiles
internal import RoostQuery

/// CSV files as read-only stores: `csv:path`.
///
/// Rows are objects of entity `Row`, numbered from 1. Columns are its attributes, all of them
/// strings. A program may give its own model with one entity, whose attributes have the columns'
/// names and are strings, integers, floating-point numbers or Booleans. An empty field is null.
public struct CSVStoreType: ReadOnlyPersistentStoreType {
    /// Creates the type.
    public init() {}

    /// `csv`.
    public var name: String { "csv" }
    /// The capabilities: stores are persistent files that programs cannot write.
    public var capabilities: StoreCapabilities { StoreCapabilities(.persistence, .file) }

    /// Returns whether the file is not empty and its name ends with `.csv`; CSV has no magic bytes.
    public func recognizes(fileAt path: String) -> Bool {
        path.hasSuffix(".csv") && StoreFile.read(prefix: 1, of: path)?.isEmpty == false
    }

    /// Opens a file.
    ///
    /// Throws `notAStore` if the file has no valid header, `modelMismatch` if the model does not
    /// fit the columns, `invalidRequest` for a type option, or a read error.
    public func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        try requireKnown(options.typeOptions)
        var rows = CSVRows(try StoreFile.contents(of: location.path))
        guard let columns = rows.next(), !columns.isEmpty,
            let model = try? options.model
                ?? ManagedObjectModel(entities: [EntityDescription("Row", attributes: columns.map { .string($0) })])
        else { throw StoreError(.notAStore, "'\(location.path)' does not begin with a row of column names.") }
        guard model.entities.count == 1, model.relationships.isEmpty, !model.entities[0].isAbstract,
            model.entities[0].attributes.map(\.name).sorted() == columns.sorted(),
            model.entities[0].attributes.allSatisfy({ CSVRows.types.contains($0.type) })
        else {
            throw StoreError(.modelMismatch, "The model does not fit the columns of '\(location.path)'; omit it.")
        }
        return CSVStore(type: self, location: location, model: model, columns: columns)
    }
}

/// An open CSV file, which every snapshot reads again.
final class CSVStore: ReadOnlyPersistentStore {
    let type: any PersistentStoreType
    let location: StoreLocation
    let model: ManagedObjectModel
    let columns: [String]
    private let isClosed = Mutex(false)

    init(type: CSVStoreType, location: StoreLocation, model: ManagedObjectModel, columns: [String]) {
        (self.type, self.location, self.model, self.columns) = (type, location, model, columns)
    }

    func metadata() throws(StoreError) -> StoreMetadata {
        try requireOpen()
        // A CSV file contains no UUID, so the path and the columns determine it.
        let uuid = StoreUUID(derivedFrom: Array("\(location) \(columns)".utf8))
        return StoreMetadata(type: type.name, formatVersion: 1, storeUUID: uuid, model: model)
    }

    func snapshot() throws(StoreError) -> any StoreSnapshot {
        try requireOpen()
        var rows = CSVRows(try StoreFile.contents(of: location.path))
        guard rows.next() == columns else {
            throw StoreError(
                .storeReplaced, "'\(location.path)' has other columns than before; close it and open it again.")
        }
        return CSVSnapshot(self, rows: rows)
    }

    func byteCount() throws(StoreError) -> Int {
        try requireOpen()
        return try StoreFile.byteCount(at: location.path)
    }

    func close() throws(StoreError) { isClosed.withLock { $0 = true } }

    func requireOpen() throws(StoreError) {
        if isClosed.withLock({ $0 }) { throw StoreError(.closed, "The store '\(location)' was closed before.") }
    }
}

/// The whole file in memory, as it was at the snapshot.
final class CSVSnapshot: ScanningSnapshot {
    let store: CSVStore
    private let rows: CSVRows
    private var isClosed = false

    init(_ store: CSVStore, rows: CSVRows) { (self.store, self.rows) = (store, rows) }

    var model: ManagedObjectModel { store.model }

    func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
        try requireOpen()
        _ = (try model.requireEntity(entity), try model.requireEntity(id?.entity ?? entity))
        return CSVCursor(self, rows: rows, after: id?.key ?? 0)
    }

    func close() { isClosed = true }

    func requireOpen() throws(StoreError) {
        try store.requireOpen()
        if isClosed { throw StoreError(.closed, "The snapshot of '\(store.location)' was closed before.") }
    }
}

/// A cursor that converts rows to records.
final class CSVCursor: FillingRecordCursor {
    private let snapshot: CSVSnapshot
    private var rows: CSVRows
    private var key: Int64 = 0
    private let firstKey: Int64

    init(_ snapshot: CSVSnapshot, rows: CSVRows, after key: Int64) {
        (self.snapshot, self.rows, firstKey) = (snapshot, rows, key)
        super.init(model: snapshot.model)
    }

    override func requireOpen() throws(StoreError) { try snapshot.requireOpen() }

    override func fill(_ batch: inout RecordBatch) throws(StoreError) -> Bool {
        while !batch.isFull {
            guard let row = rows.next() else { return false }
            key += 1
            if key > firstKey { try append(row, to: &batch) }
        }
        return true
    }

    private func append(_ row: [String], to batch: inout RecordBatch) throws(StoreError) {
        let (entity, columns) = (snapshot.model.entities[0], snapshot.store.columns)
        let id = ObjectID(entity.name, key: key)
        var values: [String: Value] = [:]
        for (column, text) in zip(columns, row) where !text.isEmpty {
            values[column] = CSVRows.value(text, type: entity.attribute(column)?.type)
        }
        guard row.count == columns.count, values.count == row.count(where: { !$0.isEmpty }),
            (try? batch.append(id, values: values)) != nil
        else {
            throw StoreError(
                .corrupted, "Row \(key) of '\(snapshot.store.location.path)' does not fit its columns.",
                damagedObject: id)
        }
    }
}
