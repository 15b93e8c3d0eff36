internal import RoostCore

/// Writes a prepared change inside one write transaction.
///
/// Problems are checked in this order: versions, last places
/// (``ConflictDetection/requireLastPlaces()``), taken keys, unique values, missing objects, denied
/// deletes. The first kind of problem found is thrown, which rolls the transaction back. The error
/// lists all problems of this kind; for last places and taken keys, only the first.
struct ChangeApplication {
    private let change: PreparedChange
    private let plan: StorePlan
    private let model: ManagedObjectModel
    private let writer: any KeyValueWriter
    private let requirements: ConflictDetection
    private var tally: StoreTally
    private var hasChanged = false
    private var conflicts = ChangeConflicts()
    /// The remaining objects whose references deny a delete.
    private var denials = DeleteDenials()
    /// The entries to remove for the current object.
    private var gone = EntryArena()
    /// The entries to write after all removals, except unique values.
    private var pending = EntryArena()
    /// The unique values to write after all removals.
    ///
    /// An object can take a value that another object of the change loses.
    private var claims = UniquenessClaims()
    private var scratch: [UInt8] = []
    /// The history's settings and the recorder of the changes; nil if the store records no history.
    private var history: (settings: [UInt8], recorder: HistoryRecorder)?

    init(
        _ change: PreparedChange, plan: StorePlan, writer: any KeyValueWriter, clock: (@Sendable () -> Int64)?
    ) throws(StoreError) {
        self.change = change
        self.plan = plan
        self.model = change.model
        self.writer = writer
        requirements = ConflictDetection(change: change, reader: writer)
        tally = try MetaSpace.readTally(change.model, reader: writer)
        guard let settings = try KeyValueHistory(writer).historySettings() else { return }
        let changes = change.changes
        history = (
            settings,
            HistoryRecorder(
                .commit, model: change.model, author: changes.author, contextName: changes.contextName, clock: clock)
        )
    }

    /// Writes all changes, and returns the generations before and after.
    mutating func run() throws(StoreError) -> (previous: Generation, now: Generation) {
        let previous = tally.generation
        let unchanged = try requirements.unchangedConflicts()
        try writeUpdates()
        // Links are removed before objects, because a removed link does not deny a delete.
        if conflicts.isEmpty {
            for batch in change.removedLinks {
                for link in batch.links { try remove(link, relationship: batch.relationship) }
            }
        }
        try writeDeletes()
        conflicts.append(unchanged)
        try conflicts.throwIfAny()
        try requirements.requireLastPlaces()
        try writeInserts()
        try putPending()
        try requirements.requireObjects()
        for batch in change.addedLinks {
            for link in batch.links { try add(link, relationship: batch.relationship) }
        }
        if change.changes.requiresUnreferencedDeletes { try requirements.findReferences(&denials) }
        try denials.throwIfAny()
        try writeUserMetadata()
        try raiseLastKeys()
        guard hasChanged else { return (previous, previous) }
        try tally.countCommit()
        try MetaSpace.writeTally(tally, writer: writer)
        if let settings = history?.settings {
            try history?.recorder.finish(
                settings, from: previous, to: tally.generation, in: KeyValueHistory(writer))
        }
        return (previous, tally.generation)
    }

    // MARK: Records

    private mutating func writeUpdates() throws(StoreError) {
        let updates = change.changes.updates
        for item in change.updates {
            try updates.withRecord(at: item.position) { (new) throws(StoreError) in try update(item, new: new) }
        }
    }

    private mutating func update(_ item: PreparedChange.Item, new: RecordReader) throws(StoreError) {
        var isWritten = false
        try writer.withRecord(item.place.key, root: item.place.root, model: model) { (old) throws(StoreError) in
            let rank = change.rank(ofUpdate: item)
            guard let old = requirements.record(old, of: item, at: new.version, rank: rank, conflicts: &conflicts)
            else { return }
            // After the first conflict, the remaining updates are only compared, not applied.
            guard conflicts.isEmpty else { return }
            guard new.version < UInt32.max else {
                throw .usedUpVersions(new.id, version: new.version)
            }
            isWritten = true
            tally.entities[item.entity].remove(old.storedContentHash)
            tally.entities[item.entity].add(new.storedContentHash)
            history?.recorder.update(old, to: new)
            // Most updates change no entry, and comparing is faster than collecting entries.
            if !RecordEntries.agree(old, right: new, plan: plan) { exchangeEntries(old, new) }
        }
        guard isWritten else { return }
        hasChanged = true
        try deleteGone()
        try put(new, version: new.version &+ 1, place: item.place) { [writer] (key, bytes) throws(StoreError) in
            try writer.put(key, bytes, in: .records)
        }
    }

    /// Collects the entries to remove and to write for one updated object.
    private mutating func exchangeEntries(_ old: RecordReader, _ new: RecordReader) {
        let (oldEntries, newEntries) = (RecordEntries.all(of: old, plan: plan), RecordEntries.all(of: new, plan: plan))
        for entry in oldEntries where !newEntries.contains(entry) { gone.append(entry.key, .none, in: entry.space) }
        for entry in newEntries where !oldEntries.contains(entry) { note(entry.space, key: entry.key, record: new) }
    }

    private mutating func note(_ space: KeySpace, key: StorageKey, record: RecordReader) {
        if space == .unique {
            claims.append(key, entity: record.entityNumber, object: record.key)
        } else {
            pending.append(key, .none, in: space)
        }
    }

    private mutating func writeDeletes() throws(StoreError) {
        var (values, key) = ([UInt8](), StorageKey())
        for item in change.deletes {
            let version = change.changes.deletes[item.position].version
            let rank = change.rank(ofDelete: item)
            var isGoing = false
            try writer.withRecord(item.place.key, root: item.place.root, model: model) { (old) throws(StoreError) in
                guard let old = requirements.record(old, of: item, at: version, rank: rank, conflicts: &conflicts)
                else { return }
                guard conflicts.isEmpty else { return }
                isGoing = true
                tally.entities[item.entity].remove(old.storedContentHash)
                try history?.recorder.delete(old)
                RecordEntries.visit(old, plan: plan, values: &values, key: &key) { gone.append($1, .none, in: $0) }
            }
            guard isGoing else { continue }
            hasChanged = true
            try deleteGone()
            _ = try ShortKey(record: item.place.key, root: item.place.root).withBytes { (key) throws(StoreError) in
                try writer.delete(key, in: .records)
            }
            try removeLinks(of: item)
        }
    }

    private mutating func deleteGone() throws(StoreError) {
        guard !gone.isEmpty else { return }
        try gone.forEachKey { [writer] (space, key) throws(StoreError) in _ = try writer.delete(key, in: space) }
        gone.removeAll()
    }

    private mutating func writeInserts() throws(StoreError) {
        let inserts = change.changes.inserts
        var (values, key) = ([UInt8](), StorageKey())
        for item in change.inserts {
            try inserts.withRecord(at: item.position) { (record) throws(StoreError) in
                let isNew = try put(record, version: 1, place: item.place) { [writer] (key, bytes) throws(StoreError) in
                    try writer.insert(key, bytes, in: .records)
                }
                guard isNew else { throw .takenKey(change.id(item)) }
                tally.entities[item.entity].add(record.storedContentHash)
                history?.recorder.insert(item.place.key, entity: item.entity)
                RecordEntries.visit(record, plan: plan, values: &values, key: &key) {
                    note($0, key: $1, record: record)
                }
            }
            hasChanged = true
        }
    }

    /// Calls `body` with the key and the bytes of a record at the given version.
    private mutating func put<Result>(
        _ record: RecordReader, version: UInt32, place: ObjectPlace,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try ShortKey(record: place.key, root: place.root).withBytes { (key) throws(StoreError) in
            try record.withBytes(version: version, scratch: &scratch) { (bytes) throws(StoreError) in
                try body(key, bytes)
            }
        }
    }

    // MARK: Entries

    private mutating func putPending() throws(StoreError) {
        try claims.put(writer, plan: plan)
        pending.sort()
        try pending.forEachKey { [writer] (space, key) throws(StoreError) in try writer.put(key, .none, in: space) }
    }

    // MARK: Links

    private mutating func removeLinks(of item: PreparedChange.Item) throws(StoreError) {
        let entity = plan.entities[item.entity]
        for relationship in entity.linksAsSource { try removeLinks(of: item, number: relationship, space: .links) }
        for relationship in entity.linksAsTarget {
            try removeLinks(of: item, number: relationship, space: .inverseLinks)
        }
    }

    private mutating func removeLinks(
        of item: PreparedChange.Item, number: Int, space: KeySpace
    ) throws(StoreError) {
        var links: [Link] = []
        try writer.forEach(prefix: StorageKey(record: item.place.key, root: number), in: space) {
            (key, value) throws(StoreError) in
            let link = try LinkStream.link(key, value: value, space: space)
            links.append(space == .links ? link : link.flipped)
            return true
        }
        for link in links {
            if change.changes.requiresUnlinkedDeletes { try deny(item, link: link, number: number, space: space) }
            try removeStored(link, relationship: number)
        }
    }

    /// Adds a denial if the object that is linked to a deleted object remains.
    ///
    /// A deleted object has at most one denial for each relationship.
    private mutating func deny(
        _ item: PreparedChange.Item, link: Link, number: Int, space: KeySpace
    ) throws(StoreError) {
        let owner = model.relationships[number]
        let isSource = space == .links
        // A remaining source refers to the deleted object through the relationship itself. A
        // remaining target refers to it through the inverse, if any.
        guard let back = isSource ? owner.inverse : number else { return }
        let (entity, key) = isSource ? (owner.destination, link.target) : (owner.source, link.source)
        let place = ObjectPlace(root: model.entities[entity].root, key: key)
        let relationship = model.relationships[back]
        guard PreparedChange.item(at: place, in: change.deletes) == nil,
            !denials.contains(item, relationship: relationship),
            let remaining = try requirements.id(key, in: entity)
        else { return }
        denials.append(item, relationship: relationship, remaining: remaining, in: change)
    }

    private mutating func remove(_ link: Link, relationship: Int) throws(StoreError) {
        guard let stored = try writer.storedLink(link, number: relationship, model: model) else { return }
        try removeStored(stored, relationship: relationship)
        history?.recorder.link(stored, of: relationship, isAdded: false)
    }

    private mutating func removeStored(_ link: Link, relationship: Int) throws(StoreError) {
        try writer.removeStoredLink(link, relationship: relationship, model: model, tally: &tally)
        hasChanged = true
    }

    private mutating func add(_ link: Link, relationship: Int) throws(StoreError) {
        guard try writer.addLink(link, relationship: relationship, model: model, tally: &tally) else { return }
        hasChanged = true
        history?.recorder.link(link, of: relationship, isAdded: true)
    }

    // MARK: Metadata

    private mutating func writeUserMetadata() throws(StoreError) {
        guard !change.changes.userMetadata.isEmpty else { return }
        let old = try MetadataDocument.decode(try MetaSpace.require(MetaSpace.userMetadata, reader: writer))
        var new = old
        for (name, value) in change.changes.userMetadata { new[name] = value }
        guard new != old else { return }
        try MetaSpace.write(try MetadataDocument.encode(new), key: MetaSpace.userMetadata, writer: writer)
        hasChanged = true
    }

    private func raiseLastKeys() throws(StoreError) {
        for (root, key) in change.highestInsertedKeys where try MetaSpace.readLastKey(root: root, reader: writer) < key
        {
            try MetaSpace.writeLastKey(key, root: root, writer: writer)
        }
    }
}
