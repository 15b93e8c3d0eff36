internal import RoostCore
internal import RoostKeyValue
internal import RoostMemory
internal import RoostText

/// What a document held.
struct LoadedDocument: Sendable {
    var storage: MemoryStorage
    var metadata: StoreMetadata
    var version: DocumentVersion
    var generation: UInt64
    var foldedJournal: UInt64?
}

/// Reads a document from its first to its last byte into trees in memory.
///
/// Everything that is wrong with it is an error with line and column, and nothing is repaired. Memory is that of the trees, of
/// one batch, and of what the engine sorts with.
struct DocumentReader: ~Copyable {
    private let file: DocumentFile
    private let url: StoreURL
    private var head: DocumentHead
    private var loading: Loading?

    /// A store that is being filled.
    private struct Loading {
        let storage: MemoryStorage
        let store: KeyValueStore
        let loader: any BulkLoader
        let model: ManagedObjectModel
    }

    private init(_ file: DocumentFile, url: StoreURL) {
        self.file = file
        self.url = url
        head = DocumentHead()
    }

    /// Reads the document.
    ///
    /// - Throws: `notAStore`, `unsupportedVersion`, `limitExceeded`; `corrupted` with line, column, record and property.
    static func load(
        _ file: DocumentFile, url: StoreURL, _ settings: JSONSettings
    ) throws(StoreError) -> LoadedDocument {
        guard DocumentFormat.isRecognised(try file.read(at: 0, count: DocumentFormat.prefixByteCount)) else {
            throw StoreError(
                .notAStore,
                "'\(file.path)' is not a JSON store of Roost: it does not begin with {\"format\": \"\(DocumentFormat.name)\".")
        }
        guard file.byteCount <= settings.maximumDocumentBytes else {
            throw StoreError(
                .limitExceeded,
                "'\(file.path)' has \(file.byteCount) bytes, more than the \(settings.maximumDocumentBytes) that may be read; raise the option 'maximumDocumentBytes'."
            )
        }
        var reader = DocumentReader(file, url: url)
        do throws(StoreError) {
            return try reader.load()
        } catch {
            reader.loading?.loader.abandon()
            guard error.code != .unsupportedVersion else { throw error }
            throw try DocumentChecksum.explain(error, file)
        }
    }

    private mutating func load() throws(StoreError) -> LoadedDocument {
        var text = file.reader(computesChecksum: true)
        try text.expect(.beginObject, "a document, an object,")
        var last: DocumentFormat.Member?
        var version: DocumentVersion?
        while try text.nextKey() {
            let member = try DocumentHead.member(text, after: last)
            last = member
            switch member {
            case .records, .links:
                try beginLoading(text)
                if member == .records { try readRecords(&text) } else { try readLinks(&text) }
            case .checksum: version = try DocumentChecksum.read(&text)
            default: try head.read(member, &text)
            }
        }
        guard try text.next() == .end else { throw text.mismatch("the end of the document") }
        try beginLoading(text)
        let isChecked = version != nil
        if version == nil {
            guard let value = text.checksumBeforeToken() else {
                throw StoreError(.internalInconsistency, "The checksum of '\(file.path)' was not computed.")
            }
            version = DocumentVersion(high: value.high, low: value.low, byteCount: text.tokenByteOffset)
        }
        guard let loading, let version else {
            throw StoreError(.internalInconsistency, "'\(file.path)' was not read as a whole.")
        }
        try finish(loading)
        // A program writes only references that its store holds; a person may have mistyped one.
        if !isChecked, let dangling = try loading.store.firstDanglingReference() {
            throw try DocumentPlaces(file, loading.model).error(dangling)
        }
        return LoadedDocument(
            storage: loading.storage, metadata: try loading.store.metadata(), version: version,
            generation: head.generation, foldedJournal: head.foldedJournal)
    }

    /// Makes the store that the records go into, when everything it is made of was read.
    private mutating func beginLoading(_ text: borrowing JSONTokenReader) throws(StoreError) {
        guard loading == nil else { return }
        let (uuid, model) = try head.require(text)
        let storage = MemoryStorage()
        let store = try KeyValueStore(
            creating: storage, type: JSONStoreType(), url: url, model: model,
            options: StoreOptions(storeUUID: uuid, userMetadata: head.userMetadata))
        let loader = try store.bulkLoader(BulkLoadOptions(lastKeys: try head.lastKeys(model, name: file.path)))
        loading = Loading(storage: storage, store: store, loader: loader, model: model)
    }

    private func finish(_ loading: Loading) throws(StoreError) {
        do throws(StoreError) {
            _ = try loading.loader.finish()
        } catch {
            guard let violation = error.violations.first else {
                throw StoreError(.corrupted, "'\(file.path)': \(error.message)", underlying: error.underlying)
            }
            throw try DocumentPlaces(file, loading.model).error(violation, error)
        }
        try loading.store.setGeneration(head.generation)
    }

    // MARK: Records and links

    private func readRecords(_ text: inout JSONTokenReader) throws(StoreError) {
        guard let loading else { return }
        let model = loading.model
        var records = RecordTextReader(model: model)
        var batch = RecordBatch(model: model)
        try text.expect(.beginObject, "the lists of records, an object,")
        while try text.nextKey() {
            guard let number = records.entity(text) else {
                throw text.unknown("entity", "'\(text.text)'", among: model.entities.map(\.name.text))
            }
            guard !model.entities[number].isAbstract else {
                throw text.error("entity '\(model.entities[number].name)' is abstract, so it has no records")
            }
            try text.expect(.beginArray, "the records of '\(model.entities[number].name)', an array,")
            while try text.nextElement() {
                guard text.token == .beginObject else { throw text.mismatch("a record, an object,") }
                try records.readMembers(number, from: &text, into: &batch)
                if batch.isFull { try load(&batch, loading) }
            }
        }
        try load(&batch, loading)
    }

    private func load(_ batch: inout RecordBatch, _ loading: Loading) throws(StoreError) {
        do throws(StoreError) {
            try loading.loader.append(batch)
        } catch {
            guard error.code == .duplicateObject else { throw error }
            throw try DocumentPlaces(file, loading.model).duplicate() ?? error
        }
        batch.removeAll()
    }

    private func readLinks(_ text: inout JSONTokenReader) throws(StoreError) {
        guard let loading else { return }
        let model = loading.model
        let names = model.linkRelationships.map(\.name.description)
        try text.expect(.beginObject, "the lists of links, an object,")
        while try text.nextKey() {
            let name = text.text
            guard let index = names.firstIndex(of: name) else {
                throw text.unknown("relationship with links", "'\(name)'", among: names)
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

extension JSONTokenReader {
    /// An error about a name that is not known, with the nearest one that is.
    func unknown(_ what: String, _ name: String, among names: [String]) -> StoreError {
        let hint = nearestName(to: String(name.dropFirst().dropLast()), among: names).map { "; did you mean '\($0)'?" }
        return error("there is no \(what) \(name)\(hint ?? "")")
    }
}
