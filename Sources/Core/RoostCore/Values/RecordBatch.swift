/// A reusable, contiguous buffer of records.
///
/// Cursors and loaders pass batches, so dynamic dispatch and allocation happen once per batch. All
/// records in a batch have a valid structure. The checksums of records from files were verified.
///
/// ```swift
/// let cursor = try snapshot.fetch(FetchRequest("Track", where: "plays > 3"))
/// var batch = RecordBatch(model: snapshot.model)
/// while try cursor.next(into: &batch) {
///     for index in 0..<batch.count { print(try batch.value("title", at: index)) }
/// }
/// ```
public struct RecordBatch: Sendable {
    /// The number of bytes at which a cursor stops filling a batch; the last record may exceed it.
    package static let capacityBytes = 256 * 1024
    package static let capacityCount = 1024

    @usableFromInline
    struct Entry: BitwiseCopyable, Sendable {
        @usableFromInline var offset: Int
        @usableFromInline var count: Int
        @usableFromInline var key: Int64
        @usableFromInline var entity: Int32
    }

    /// The model of the records.
    public let model: ManagedObjectModel
    @usableFromInline var arena = ReusedArray<UInt8>()
    @usableFromInline var entries = ReusedArray<Entry>()
    /// The layout of the record being built, which starts at `buildOffset`.
    var buildLayout: RecordLayout?
    @usableFromInline var buildOffset = 0
    var buildKey: Int64 = 0
    var buildVersion: UInt32 = 0
    /// The index of the first tail field that can still be set.
    var buildNextVariable = 0
    var buildFieldCount = 0
    /// The offset in `arena` where the tail of the record being built starts.
    var buildTailOffset = 0

    /// Creates an empty batch for records of `model`.
    public init(model: ManagedObjectModel) { self.model = model }

    /// The number of records.
    public var count: Int { entries.count }
    /// Whether the batch has no records.
    public var isEmpty: Bool { entries.isEmpty }
    package var byteCount: Int { arena.count }
    /// Whether a cursor should stop filling the batch.
    public var isFull: Bool { entries.count >= Self.capacityCount || arena.count >= Self.capacityBytes }

    /// Removes all records, but keeps the memory.
    public mutating func removeAll() {
        entries.removeAll()
        arena.removeAll()
        buildLayout = nil
    }

    /// Returns the ID of the record at `index`.
    public func id(at index: Int) -> ObjectID {
        ObjectID(model.entities[Int(entries[index].entity)].name, key: entries[index].key)
    }

    /// Returns the key of the record at `index`.
    @inlinable public func key(at index: Int) -> Int64 { entries[index].key }

    @inlinable package func entityNumber(at index: Int) -> Int { Int(entries[index].entity) }

    /// Returns the version of the record at `index`.
    public func version(at index: Int) -> UInt32 { withRecord(at: index) { $0.version } }

    /// Returns the value of a property of the record at `index`; throws `unknownProperty`.
    public func value(_ name: String, at index: Int) throws(StoreError) -> Value {
        try withRecord(at: index) { (record) throws(StoreError) in try record.value(name) }
    }

    /// Returns the non-null values of the record at `index`, by property name.
    public func values(at index: Int) -> [String: Value] { withRecord(at: index) { $0.values() } }

    /// Returns a copy of the record at `index` that is independent of the batch.
    public func record(at index: Int) -> Record {
        withRecord(at: index) { Record($0, model: model) }
    }
}

/// One record that owns its bytes.
///
/// ```swift
/// let albums = try store.fetch("Album", where: "year > 1970", sortedBy: ["title"])
/// for album in albums {
///     print(album.id, album["title"], album["year"])
/// }
/// ```
public struct Record: Sendable, Hashable {
    package let bytes: [UInt8]
    let key: Int64
    let layout: RecordLayout
    let model: ManagedObjectModel

    package init(_ record: RecordReader, model: ManagedObjectModel) {
        (bytes, key, layout, self.model) = (Array(record.bytes), record.key, record.layout, model)
    }

    /// The object's identity.
    public var id: ObjectID { ObjectID(layout.entity, key: key) }
    /// The number of times the object was written.
    public var version: UInt32 { withReader { $0.version } }

    /// Runs `body` with a reader, which is valid only inside `body`.
    package func withReader<Result, Failure: Error>(
        _ body: (RecordReader) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withBytes { (bytes) throws(Failure) in
            try body(RecordReader(unchecked: bytes, key: key, model: model))
        }
    }

    /// Returns the value of a property; throws `unknownProperty`.
    public func value(_ name: String) throws(StoreError) -> Value {
        try withReader { (reader) throws(StoreError) in try reader.value(name) }
    }

    /// Returns the values that are not null, by property name.
    public func values() -> [String: Value] { withReader { $0.values() } }

    /// Whether both records have the same key and the same bytes, including the version.
    public static func == (left: Record, right: Record) -> Bool { left.key == right.key && left.bytes == right.bytes }

    /// Hashes consistently with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(bytes)
    }
}
