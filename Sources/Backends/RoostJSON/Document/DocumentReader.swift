internal import RoostCore
internal import RoostJSONText
internal import RoostKeyValue
internal import RoostMemory
internal import RoostText

struct LoadedDocument: Sendable {
    var storage: MemoryStorage
    var metadata: StoreMetadata
    var version: DocumentVersion
    var generation: Generation
    var foldedJournal: UInt64?
}

/// A reader of a whole document that fills a store in memory or a given loader.
///
/// Nothing is repaired. Errors are reported with line and column if possible.
struct DocumentReader: ~Copyable {
    private let file: DocumentFile
    private let location: StoreLocation
    private var head: DocumentHead
    private var loading: Loading?
    /// The history, which is loaded last.
    private var history: DocumentHistory?

    /// A closure that creates the loader of records and links, or nil to fill a new store.
    private let other: ((ManagedObjectModel) throws(StoreError) -> any BulkLoader)?

    private struct Loading {
        /// The store to fill, or nil if a given loader receives the records.
        let store: (storage: MemoryStorage, store: KeyValueStore)?
        let loader: any BulkLoader
        let model: ManagedObjectModel
    }

    private init(
        _ file: DocumentFile, location: StoreLocation,
        into other: ((ManagedObjectModel) throws(StoreError) -> any BulkLoader)? = nil
    ) {
        self.file = file
        self.location = location
        self.other = other
        head = DocumentHead()
    }

    /// Counts the contents of a newly written document, in constant memory.
    ///
    /// - Throws: `corrupted` if the document cannot be read or has no checksum.
    static func count(_ file: DocumentFile, location: StoreLocation) throws(StoreError) -> StoreTally {
        var reader = DocumentReader(file, location: location) { CountingLoader($0) }
        var tally = try reader.readChecked().finish()
        tally.generation = reader.head.generation
        return tally
    }

    /// Passes the records and links of a newly written document to a loader, without finishing the
    /// load.
    static func read(_ file: DocumentFile, location: StoreLocation, into loader: any BulkLoader) throws(StoreError) {
        var reader = DocumentReader(file, location: location) { _ in loader }
        _ = try reader.readChecked()
    }

    private mutating func readChecked() throws(StoreError) -> any BulkLoader {
        let pass = try readText()
        guard pass.isChecked else { throw StoreError(.corrupted, "'\(file.path)' has no checksum.") }
        return pass.loading.loader
    }

    /// Throws `notAStore` if a document does not begin like a store.
    static func requireRecognized(_ file: DocumentFile) throws(StoreError) {
        let start = try file.read(at: 0, count: DocumentFormat.prefixByteCount)
        guard DocumentFormat.isRecognized(start) else {
            let marks: [[UInt8]] = [[0xEF, 0xBB, 0xBF], [0xFE, 0xFF], [0xFF, 0xFE]]
            if marks.contains(where: { start.starts(with: $0) }) {
                throw StoreError(
                    .notAStore, "'\(file.path)' begins with a byte order mark; save it as UTF-8 without one.")
            }
            throw StoreError(
                .notAStore,
                "'\(file.path)' is not a JSON store of Roost: it does not begin with {\"format\": \"\(DocumentFormat.name)\"."
            )
        }
    }

    /// Reads the document.
    ///
    /// - Throws: `notAStore`, `unsupportedVersion`, `limitExceeded`; `corrupted`, if possible with
    ///   line, column, record and property.
    static func load(
        _ file: DocumentFile, location: StoreLocation, settings: JSONSettings
    ) throws(StoreError) -> LoadedDocument {
        try requireRecognized(file)
        guard file.byteCount <= settings.maximumDocumentBytes else {
            throw StoreError(
                .limitExceeded,
                "'\(file.path)' has \(file.byteCount) bytes, more than the \(settings.maximumDocumentBytes) that may be read; raise the option 'maximumDocumentBytes'."
            )
        }
        var reader = DocumentReader(file, location: location)
        do throws(StoreError) {
            return try reader.load()
        } catch {
            reader.loading?.loader.abandon()
            guard error.code != .unsupportedVersion else { throw error }
            throw try DocumentChecksum.explain(error, file: file)
        }
    }

    /// Returns the contents of a document as a read-only store in memory, even if another file has
    /// replaced the document.
    ///
    /// - Throws: The errors of ``load(_:location:settings:)``; `busy` if the file was changed after
    ///   it was opened.
    static func store(
        _ file: DocumentFile, location: StoreLocation, settings: JSONSettings
    ) throws(StoreError) -> KeyValueStore {
        try file.requireUnchanged()
        let loaded = try load(file, location: location, settings: settings)
        try file.requireUnchanged()
        return try KeyValueStore(
            opening: loaded.storage, type: JSONStoreType(), location: location, options: StoreOptions(isReadOnly: true))
    }

    private mutating func load() throws(StoreError) -> LoadedDocument {
        let (loading, version, isChecked) = try readText()
        guard let (storage, store) = loading.store else {
            throw StoreError(.internalInconsistency, "'\(file.path)' was not read into a store.")
        }
        try finish(loading)
        try store.setGeneration(head.generation, lastKeys: try head.lastKeys(loading.model, name: file.path))
        if let history, let settings = history.settings {
            if isChecked {
                try store.loadHistory(settings, parts: history.parts)
            } else {
                // The history does not contain manual edits, so older history tokens expire.
                let old = try HistorySettings(settings)
                var anew = HistorySettings(after: head.generation, time: old.startTime, retention: old.retention)
                anew.startMark = UInt32(truncatingIfNeeded: version.low)
                try store.loadHistory(try anew.bytes, parts: [])
            }
        }
        let metadata = try store.metadata()
        if isChecked, let tail = try DocumentTail(file, model: metadata.model, generation: head.generation) {
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            guard try snapshot.recordedTally() == tail.tally else { throw DocumentTail.mismatch(file) }
        }
        // Without a checksum, the document may have been edited by hand and refer to
        // missing objects.
        if !isChecked, let dangling = try store.firstDanglingReference() {
            throw try DocumentPlaces(file, model: loading.model).error(dangling)
        }
        return LoadedDocument(
            storage: storage, metadata: metadata, version: version, generation: head.generation,
            foldedJournal: head.foldedJournal)
    }

    private mutating func readText() throws(StoreError) -> (
        loading: Loading, version: DocumentVersion, isChecked: Bool
    ) {
        var text = file.reader(computesChecksum: true)
        try text.expect(.beginObject, "a document, an object,")
        var last: DocumentFormat.Member?
        var version: DocumentVersion?
        while try text.nextKey() {
            let member = try DocumentHead.member(text, after: last, isLoading: loading != nil)
            last = member
            switch member {
            case .records: try readRecords(&text, loading: try beginLoading(text))
            case .links: try readLinks(&text, loading: try beginLoading(text))
            case .history where other == nil: history = try DocumentHistory(&text)
            case .checksum: version = try DocumentChecksum.read(&text, file: file)
            default: try head.read(member, text: &text)
            }
        }
        guard try text.next() == .end else { throw text.mismatch("the end of the document") }
        let loading = try beginLoading(text)
        if let version { return (loading, version, true) }
        guard let value = text.checksumBeforeToken() else {
            throw StoreError(.internalInconsistency, "The checksum of '\(file.path)' was not computed.")
        }
        return (
            loading, DocumentVersion(high: value.high, low: value.low, byteCount: text.tokenByteOffset), false
        )
    }

    /// Returns the current load, and begins it at the first call.
    private mutating func beginLoading(_ text: borrowing JSONTokenReader) throws(StoreError) -> Loading {
        if let loading { return loading }
        let (uuid, model) = try head.require(text)
        let begun: Loading
        if let other {
            begun = Loading(store: nil, loader: try other(model), model: model)
        } else {
            let storage = MemoryStorage()
            let store = try KeyValueStore(
                creating: storage, type: JSONStoreType(), location: location, model: model,
                options: StoreOptions().with {
                    $0.storeUUID = uuid
                    $0.userMetadata = head.userMetadata
                })
            begun = Loading(
                store: (storage, store), loader: try store.bulkLoader(BulkLoadOptions()), model: model)
        }
        loading = begun
        return begun
    }

    private func finish(_ loading: Loading) throws(StoreError) {
        do throws(StoreError) {
            _ = try loading.loader.finish()
        } catch {
            guard let violation = error.violations.first else {
                if error.code == .duplicateObject,
                    let found = try DocumentPlaces(file, model: loading.model).duplicateLink()
                {
                    throw found
                }
                throw error.withMessage("'\(file.path)': \(error.message)", code: .corrupted)
            }
            throw try DocumentPlaces(file, model: loading.model).error(violation, error: error)
        }
    }

    // MARK: Records and links

    private func readRecords(_ text: inout JSONTokenReader, loading: Loading) throws(StoreError) {
        let model = loading.model
        var records = RecordTextReader(model: model)
        var batch = RecordBatch(model: model)
        try text.expect(.beginObject, "the lists of records, an object,")
        while try text.nextKey() {
            guard let number = records.entity(text) else {
                throw text.unknown("entity", name: "'\(text.text)'", among: model.entities.map(\.name.text))
            }
            guard !model.entities[number].isAbstract else {
                throw text.error("entity '\(model.entities[number].name)' is abstract, so it has no records")
            }
            try text.expect(.beginArray, "the records of '\(model.entities[number].name)', an array,")
            while true {
                records.readWritten(number, from: &text, into: &batch)
                if batch.isFull { try load(&batch, loading: loading) }
                guard try text.nextElement() else { break }
                guard text.token == .beginObject else { throw text.mismatch("a record, an object,") }
                try records.readMembers(number, from: &text, into: &batch)
                if batch.isFull { try load(&batch, loading: loading) }
            }
        }
        try load(&batch, loading: loading)
    }

    private func load(_ batch: inout RecordBatch, loading: Loading) throws(StoreError) {
        do throws(StoreError) {
            try loading.loader.append(batch)
        } catch {
            guard error.code == .duplicateObject else { throw error }
            throw try DocumentPlaces(file, model: loading.model).duplicate() ?? error
        }
        batch.removeAll()
    }

    private func readLinks(_ text: inout JSONTokenReader, loading: Loading) throws(StoreError) {
        let model = loading.model
        let names = model.linkRelationships.map(\.name.description)
        try text.expect(.beginObject, "the lists of links, an object,")
        while try text.nextKey() {
            let name = text.text
            guard let index = names.firstIndex(of: name) else {
                throw text.unknown("relationship with links", name: "'\(name)'", among: names)
            }
            let relationship = model.linkRelationships[index]
            var batch = LinkBatch(relationship: relationship.number)
            try text.expect(.beginArray, "the links of '\(name)', an array,")
            while try text.nextElement() {
                batch.links.append(try LinkText.read(from: &text, of: relationship))
                if batch.isFull {
                    try loading.loader.append(batch)
                    batch.removeAll()
                }
            }
            try loading.loader.append(batch)
        }
    }
}

private final class CountingLoader: BulkLoader {
    private var tally: StoreTally

    init(_ model: ManagedObjectModel) { tally = StoreTally(model: model) }

    func append(_ records: RecordBatch) throws(StoreError) {
        records.forEachRecord { tally.entities[$0.entityNumber].add($0.computedContentHash) }
    }

    func append(_ links: LinkBatch) throws(StoreError) { tally.add(links) }
    func finish() throws(StoreError) -> StoreTally { tally }
    func abandon() {}
}

extension JSONTokenReader {
    /// Returns an error about an unknown name, with the nearest known name.
    func unknown(_ what: String, name: String, among names: [String]) -> StoreError {
        let hint = nearestName(to: String(name.dropFirst().dropLast()), among: names).map { "; did you mean '\($0)'?" }
        return error("there is no \(what) \(name)\(hint ?? "")")
    }
}
