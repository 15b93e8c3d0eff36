internal import RoostCore
internal import RoostFiles
internal import RoostKeyValue

/// A bulk load that writes the document directly, without building the store in memory.
///
/// The store must be empty and unpublished. If the model has subentities, the records do not arrive
/// in the document's order. The loader then sorts the text of the records in bounded memory.
///
/// If a batch is out of order or invalid, the loader passes the document written so far to the
/// key-value engine's loader, which continues the load.
final class DocumentLoader: BulkLoader {
    private enum State {
        case waiting
        case writing(UnfinishedDocument, DocumentText)
        /// The engine's own loader continues the load.
        case passing(any BulkLoader)
        case over
    }

    private let store: KeyValueStore
    private let storage: JSONStorage
    private let options: BulkLoadOptions
    private let metadata: StoreMetadata
    /// The write transaction, which is open until the load ends or passes to the engine's loader.
    private var place: (any KeyValueLongWrite)?
    private var state = State.waiting
    private var tally: StoreTally
    /// The last key of each hierarchy, by the index of its root entity.
    private var lastKeys: [Int: Int64]
    private var last = (entity: -1, key: Int64(0))
    private var lastLink: (relationship: Int, link: Link)?
    /// The targets of the last link's source, if the relationship is ordered.
    private var targets: Set<Int64> = []
    /// The unique values so far, or nil if the model has no constraints.
    private let uniqueValues: UniqueValueCheck?
    /// The records that are not written yet, or nil if the model has no subentities.
    private let sorter: DocumentRecordSorter?

    /// Begins the write transaction, or returns nil if the store is not empty.
    init?(_ store: KeyValueStore, storage: JSONStorage, options: BulkLoadOptions) throws(StoreError) {
        self.store = store
        self.storage = storage
        self.options = options
        uniqueValues = UniqueValueCheck(store)
        sorter = DocumentRecordSorter(store.model, directories: store.spillDirectories)
        let place = try storage.beginLongWrite(timeoutSeconds: storage.settings.timeoutSeconds)
        do throws(StoreError) {
            guard try storage.isUntouched() else {
                place.abort()
                return nil
            }
            metadata = try store.metadata()
            (tally, lastKeys) = try Self.beginning(store, options: options)
        } catch {
            place.abort()
            throw error
        }
        self.place = place
    }

    /// Returns the tally of the empty store, and the options' last keys by root entity index.
    private static func beginning(
        _ store: KeyValueStore, options: BulkLoadOptions
    ) throws(StoreError) -> (StoreTally, [Int: Int64]) {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        guard let tally = try snapshot.recordedTally() else {
            throw StoreError(.internalInconsistency, "The store '\(store.location)' has no tally.")
        }
        var lastKeys: [Int: Int64] = [:]
        for (name, key) in options.lastKeys {
            let root = try store.model.requireEntity(name).root
            lastKeys[root] = max(lastKeys[root] ?? 0, key)
        }
        return (tally, lastKeys)
    }

    deinit { abandon() }

    // MARK: Loading

    func append(_ records: RecordBatch) throws(StoreError) {
        try giveUpAfterErrors { () throws(StoreError) in
            if case .passing(let other) = state { return try other.append(records) }
            guard !records.isEmpty else { return }
            guard records.model.hasVersionHashes(of: metadata.model), follow(records) else {
                return try passOn().append(records)
            }
            if let sorter {
                try records.forEachRecord { (record) throws(StoreError) in try sorter.append(record) }
            } else {
                try write { (text) throws(StoreError) in
                    try records.forEachRecord { (record) throws(StoreError) in try text.append(record) }
                }
            }
            if let uniqueValues {
                try records.forEachRecord { (record) throws(StoreError) in try uniqueValues.add(record) }
            }
            tally.add(records)
            let end = records.count - 1
            last = (records.entityNumber(at: end), records.key(at: end))
            for index in 0..<records.count {
                let root = metadata.model.entities[records.entityNumber(at: index)].root
                lastKeys[root] = max(lastKeys[root] ?? 0, records.key(at: index))
            }
        }
    }

    /// Returns whether `records` follow everything appended so far, in the required order.
    private func follow(_ records: RecordBatch) -> Bool {
        guard lastLink == nil else { return false }
        if let sorter { return sorter.follow(records) }
        var (entity, key) = last
        for index in 0..<records.count {
            let next = (entity: records.entityNumber(at: index), key: records.key(at: index))
            guard next.key > 0, next.entity > entity || (next.entity == entity && next.key > key) else { return false }
            (entity, key) = next
        }
        return true
    }

    func append(_ links: LinkBatch) throws(StoreError) {
        try giveUpAfterErrors { () throws(StoreError) in
            if case .passing(let other) = state { return try other.append(links) }
            guard !links.links.isEmpty else { return }
            guard let (relationship, normalized) = following(links) else { return try passOn().append(links) }
            try writeSorted()
            try write { (text) throws(StoreError) in
                for link in normalized.links { try text.append(link, of: relationship) }
            }
            tally.add(normalized)
        }
    }

    /// Returns the normalized links, or nil if they are invalid or do not follow all earlier links
    /// in the document's order.
    private func following(_ links: LinkBatch) -> (ManagedObjectModel.Relationship, LinkBatch)? {
        let relationships = metadata.model.relationships
        guard relationships.indices.contains(links.relationship), relationships[links.relationship].ownsLinks else {
            return nil
        }
        let relationship = relationships[links.relationship]
        var normalized = LinkBatch(relationship: relationship.number)
        for link in links.links {
            let link = relationship.normalized(link)
            guard link.source > 0, link.target > 0 else { return nil }
            if let (number, before) = lastLink {
                guard number <= relationship.number else { return nil }
                if number == relationship.number {
                    guard (before.source, before.order, before.target) < (link.source, link.order, link.target) else {
                        return nil
                    }
                }
                if number != relationship.number || before.source != link.source { targets = [] }
            }
            // Links must ascend, so only an ordered relationship could repeat a pair, at another position.
            guard !relationship.isOrdered || targets.insert(link.target).inserted else { return nil }
            lastLink = (relationship.number, link)
            normalized.links.append(link)
        }
        return (relationship, normalized)
    }

    /// Runs `body` with the document's text; the first call begins the document.
    private func write(_ body: (inout DocumentText) throws(StoreError) -> Void) throws(StoreError) {
        switch state {
        case .waiting:
            var counted = tally
            try counted.countCommit()
            let document = try UnfinishedDocument(for: storage.path, settings: storage.settings)
            do throws(StoreError) {
                var text = try DocumentText(
                    document.output, metadata: metadata, generation: counted.generation, foldedJournal: nil)
                try body(&text)
                state = .writing(document, text)
            } catch {
                document.discard()
                throw error
            }
        case .writing(let document, var text):
            try body(&text)
            state = .writing(document, text)
        case .passing, .over: throw .loadIsOver(store.location)
        }
    }

    private func writeSorted() throws(StoreError) {
        try sorter?.drain { (record, entity) throws(StoreError) in
            try write { (text) throws(StoreError) in try text.append(record, of: entity) }
        }
    }

    /// Passes the written content to the engine's own loader, which continues the load.
    private func passOn() throws(StoreError) -> any BulkLoader {
        if case .over = state { throw .loadIsOver(store.location) }
        try writeSorted()
        let before = state
        if case .over = before { throw .loadIsOver(store.location) }
        place?.abort()
        place = nil
        let other = try store.bulkLoader(options)
        state = .passing(other)
        if case .writing(let document, var text) = before {
            defer { document.discard() }
            _ = try text.finish(DocumentTail(tally, lastKeys: [:]))
            _ = try document.output.finish()
            try DocumentReader.read(try DocumentFile(at: document.path), location: store.location, into: other)
        }
        return other
    }

    // MARK: Ending

    func finish() throws(StoreError) -> StoreTally {
        try giveUpAfterErrors { () throws(StoreError) in
            if case .passing = state {} else { try writeSorted() }
            switch state {
            case .writing where try uniqueValues?.hasRepeated() == true:
                // Different values may have equal hashes, so the engine compares the values.
                let tally = try passOn().finish()
                state = .over
                return tally
            case .writing(let document, var text):
                try tally.countCommit()
                let version = try text.finish(DocumentTail(tally, lastKeys: lastKeys))
                let draft = try document.finish(version, tally: tally, foldedJournal: nil)
                state = .over
                try storage.publishLoaded(draft)
                place?.abort()
                place = nil
                return tally
            case .waiting, .passing:
                let other = if case .passing(let other) = state { other } else { try passOn() }
                let tally = try other.finish()
                state = .over
                return tally
            case .over: throw .loadIsOver(store.location)
            }
        }
    }

    func abandon() {
        switch state {
        case .writing(let document, _): document.discard()
        case .passing(let other): other.abandon()
        case .waiting, .over: break
        }
        state = .over
        place?.abort()
        place = nil
    }

    private func giveUpAfterErrors<Result>(
        _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try storage.requireOpen()
        if case .over = state { throw .loadIsOver(store.location) }
        do throws(StoreError) {
            return try body()
        } catch {
            abandon()
            throw error
        }
    }

}
