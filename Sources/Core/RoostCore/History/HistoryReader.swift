/// A reader of a store's history in one transaction or snapshot.
package struct HistoryReader {
    private let entries: any HistoryEntries
    private let model: ManagedObjectModel
    private let storeUUID: StoreUUID
    private let generation: Generation
    private let settings: HistorySettings

    package init(
        _ entries: any HistoryEntries, model: ManagedObjectModel, storeUUID: StoreUUID, generation: Generation
    ) throws(StoreError) {
        guard let settings = try entries.historySettings() else { throw .recordsNoHistory }
        self.entries = entries
        self.model = model
        self.storeUUID = storeUUID
        self.generation = generation
        self.settings = try HistorySettings(settings)
    }

    /// Returns the token of the last transaction, or of the start of an empty history.
    package func currentToken() throws(StoreError) -> HistoryToken {
        guard generation.number != settings.start else {
            return HistoryToken(storeUUID: storeUUID, position: settings.start, mark: settings.startMark)
        }
        let place = HistoryPlace(generation.number)
        guard let bytes = try entries.historyBytes(at: place) else {
            // A program without support for histories has committed. The next commit begins a new history, which does
            // not accept this token.
            return HistoryToken(storeUUID: storeUUID, position: generation.number, mark: 0)
        }
        return HistoryToken(
            storeUUID: storeUUID, position: generation.number, mark: try HistoryPart(bytes, at: place).mark)
    }

    package func cursor(_ request: HistoryRequest) throws(StoreError) -> any HistoryCursor {
        var entities: Set<Int>?
        if let name = request.entity { entities = Set(try model.requireEntity(name).selfAndSubentities) }
        if let id = request.object { _ = try model.requireEntity(id.entity) }
        var position = settings.start
        if let token = request.token {
            try require(token)
            position = token.position
        } else if try hasGap() {
            throw .historyExpired
        }
        let start = request.startDate.map(HistoryClock.microseconds)
        if let start {
            position = max(position, try lastPosition { (header) in header.time < start } ?? position)
        }
        return StoredHistoryCursor(
            entries, model: model, storeUUID: storeUUID, from: position, to: generation.number,
            before: try token(position), entities: entities, request: request)
    }

    /// Returns the position of the last transaction for which `holds` is true, or nil.
    ///
    /// If `holds` is true for a transaction, it must be true for all earlier transactions.
    func lastPosition(where holds: (HistoryHeader) -> Bool) throws(StoreError) -> UInt64? {
        var (low, high) = (settings.start, generation.number)
        // `holds` is false after `high`, and true at `low` if `low` is not the start.
        while low < high {
            let middle = high - (high - low) / 2
            if holds(try entries.firstHistoryPart(middle).header) { low = middle } else { high = middle - 1 }
        }
        return low == settings.start ? nil : low
    }

    private func token(_ position: UInt64) throws(StoreError) -> HistoryToken {
        let mark =
            position == settings.start ? settings.startMark : try entries.firstHistoryPart(position).part.mark
        return HistoryToken(storeUUID: storeUUID, position: position, mark: mark)
    }

    /// Throws if the token belongs to another store, or if transactions after the token are
    /// missing.
    package func require(_ token: HistoryToken) throws(StoreError) {
        guard token.storeUUID == storeUUID else {
            throw StoreError(
                .invalidRequest,
                "The history token belongs to the store \(token.storeUUID), and this store is \(storeUUID).")
        }
        guard token.position >= settings.start, token.position <= generation.number else { throw .historyExpired }
        guard try !hasGap() else { throw .historyExpired }
        guard try self.token(token.position).mark == token.mark else { throw .historyExpired }
    }

    /// Returns whether a program without support for histories made the last commits.
    func hasGap() throws(StoreError) -> Bool {
        guard generation.number != settings.start else { return false }
        return try entries.lastHistoryPosition() != generation.number
    }
}

extension StoreError {
    package static var recordsNoHistory: StoreError {
        StoreError(
            .invalidRequest,
            "The store records no history. Open it for writing with the option tracksHistory to record its changes.")
    }

    static var historyExpired: StoreError {
        StoreError(
            .historyExpired,
            "The history after this token was removed or never recorded. Read everything again in one snapshot, and continue after the current token of that snapshot."
        )
    }
}

/// A single pass over the transactions of a history.
package protocol HistoryCursor: AnyObject {
    /// Returns the next transaction, or the next part of a large one; nil at the end.
    func next() throws(StoreError) -> HistoryTransaction?
}

extension HistoryCursor {
    /// Returns the next transaction with all its parts as one value.
    package func nextWhole() throws(StoreError) -> HistoryTransaction? {
        guard var whole = try next() else { return nil }
        while !whole.isComplete {
            guard let part = try next() else { throw HistoryBytesReader.damaged("a transaction has no end") }
            let (changes, links) = (whole.changes + part.changes, whole.linkChanges + part.linkChanges)
            whole = part
            (whole.changes, whole.linkChanges) = (changes, links)
        }
        return whole
    }
}

final class StoredHistoryCursor: HistoryCursor {
    private let entries: any HistoryEntries
    private let model: ManagedObjectModel
    private let storeUUID: StoreUUID
    private let end: UInt64
    private let entities: Set<Int>?
    private let request: HistoryRequest
    private var position: UInt64
    /// The token of the transaction before the current transaction.
    private var before: HistoryToken
    /// The current transaction, and the number of its next part.
    private var current: (part: HistoryPart, header: HistoryHeader, next: UInt32)?
    /// Whether a part of the current transaction was already returned.
    private var hasBegun = false

    init(
        _ entries: any HistoryEntries, model: ManagedObjectModel, storeUUID: StoreUUID, from position: UInt64,
        to end: UInt64, before: HistoryToken, entities: Set<Int>?, request: HistoryRequest
    ) {
        self.entries = entries
        self.model = model
        self.storeUUID = storeUUID
        self.position = position
        self.end = end
        self.before = before
        self.entities = entities
        self.request = request
    }

    func next() throws(StoreError) -> HistoryTransaction? {
        while true {
            if let (first, header, number) = current {
                let part: HistoryPart
                if number == 0 {
                    part = first
                } else {
                    let place = HistoryPlace(position, part: number)
                    guard let bytes = try entries.historyBytes(at: place) else {
                        throw HistoryBytesReader.damaged("a part of a transaction is missing")
                    }
                    part = try HistoryPart(bytes, at: place)
                }
                let isComplete = number &+ 1 == header.partCount
                current = isComplete ? nil : (first, header, number &+ 1)
                let token = HistoryToken(storeUUID: storeUUID, position: position, mark: first.mark)
                let transaction = try transaction(
                    part, header: header, token: isComplete ? token : before, isComplete: isComplete)
                if isComplete { before = token }
                if let transaction { return transaction }
                continue
            }
            guard position < end else { return nil }
            position &+= 1
            hasBegun = false
            let (part, header) = try entries.firstHistoryPart(position)
            if let date = request.endDate, header.time >= HistoryClock.microseconds(date) {
                position = end
                return nil
            }
            guard request.author == nil || header.author == request.author else {
                before = HistoryToken(storeUUID: storeUUID, position: position, mark: part.mark)
                continue
            }
            current = (part, header, 0)
        }
    }

    /// Returns the changes of one part that match the request, or nil to skip the part.
    private func transaction(
        _ part: HistoryPart, header: HistoryHeader, token: HistoryToken, isComplete: Bool
    ) throws(StoreError) -> HistoryTransaction? {
        var transaction = HistoryTransaction(
            token: token, date: HistoryClock.date(header.time), author: header.author,
            contextName: header.contextName, kind: header.kind, changes: [], linkChanges: [], isComplete: isComplete)
        var decoder = HistoryDecoder(model: model, changes: part.changes)
        try decoder.decode { (change, entity) in
            guard entities.map({ $0.contains(entity) }) ?? true,
                request.object.map({ $0 == change.id }) ?? true
            else { return }
            transaction.changes.append(change)
        } links: { (change, relationship) in
            guard matches(change, relationship: relationship) else { return }
            transaction.linkChanges.append(change)
        }
        let isSelected = entities == nil && request.object == nil
        let listsNothing = header.kind == .wholeLoad || header.kind == .acceptedChanges
        guard isSelected || listsNothing || hasBegun || !transaction.changes.isEmpty || !transaction.linkChanges.isEmpty
        else { return nil }
        hasBegun = !isComplete
        return transaction
    }

    private func matches(_ change: HistoryLinkChange, relationship: ManagedObjectModel.Relationship) -> Bool {
        func isOfHierarchy(_ entity: Int) -> Bool {
            entities.map { $0.contains { model.entities[$0].root == model.entities[entity].root } } ?? true
        }
        guard isOfHierarchy(relationship.source) || isOfHierarchy(relationship.destination) else { return false }
        guard let object = request.object, let root = model.entity(object.entity)?.root else { return true }
        return model.entities[relationship.source].root == root && change.source.key == object.key
            || model.entities[relationship.destination].root == root && change.target.key == object.key
    }
}

/// A decoder of the changes in one part.
struct HistoryDecoder {
    let model: ManagedObjectModel
    var changes: HistoryBytesReader
    private var names: [Int: [String]] = [:]

    init(model: ManagedObjectModel, changes: HistoryBytesReader) { (self.model, self.changes) = (model, changes) }

    /// Calls `objects` or `links` with each change.
    mutating func decode(
        _ objects: (HistoryChange, Int) -> Void,
        links: (HistoryLinkChange, ManagedObjectModel.Relationship) -> Void
    ) throws(StoreError) {
        while !changes.isAtEnd {
            guard let tag = HistoryRecorder.Tag(rawValue: try changes.byte()) else {
                throw HistoryBytesReader.damaged("a change is of an unknown kind")
            }
            switch tag {
            case .insert, .update, .delete:
                let number = try changes.index(below: model.entities.count, what: "an entity")
                try decodeObjects(tag, entity: model.entities[number], objects)
            case .addedLink, .removedLink:
                let number = try changes.index(below: model.relationships.count, what: "a relationship")
                try decodeLinks(isAdded: tag == .addedLink, relationship: model.relationships[number], links)
            }
        }
    }

    private mutating func decodeObjects(
        _ tag: HistoryRecorder.Tag, entity: ManagedObjectModel.Entity, _ body: (HistoryChange, Int) -> Void
    ) throws(StoreError) {
        var key: Int64 = 0
        while true {
            let difference = try changes.signed()
            if difference == 0 { return }
            key &+= difference
            guard key > 0 else { throw HistoryBytesReader.damaged("a key is not positive") }
            let id = ObjectID(entity.name, key: key)
            switch tag {
            case .update:
                let properties = try changedProperties(entity)
                body(
                    HistoryChange(id: id, kind: .update, changedProperties: properties, preservedValues: [:]),
                    entity.number)
            case .delete:
                let count = try changes.number()
                let values = count == 0 ? [:] : try preservedValues(try changes.take(count), key: key, entity: entity)
                body(
                    HistoryChange(id: id, kind: .delete, changedProperties: [], preservedValues: values),
                    entity.number)
            default:
                body(HistoryChange(id: id, kind: .insert, changedProperties: [], preservedValues: [:]), entity.number)
            }
        }
    }

    private mutating func changedProperties(_ entity: ManagedObjectModel.Entity) throws(StoreError) -> [String] {
        let fields = entity.layout.fields
        let bits = try changes.take(UInt64((fields.count + 7) / 8))
        guard bits.contains(where: { $0 != 0 }) else { return [] }
        let names = names[entity.number] ?? fields.map(Self.property)
        self.names[entity.number] = names
        var changed: Set<String> = []
        for (index, byte) in bits.enumerated() where byte != 0 {
            for bit in 0..<8 where byte & 1 << UInt8(bit) != 0 {
                guard names.indices.contains(index * 8 + bit) else {
                    throw HistoryBytesReader.damaged("it names a property that the model lacks")
                }
                changed.insert(names[index * 8 + bit])
            }
        }
        return changed.sorted()
    }

    private static func property(_ field: RecordLayout.Field) -> String {
        String(field.name.prefix { $0 != "." && $0 != "#" })
    }

    private func preservedValues(
        _ bytes: [UInt8], key: Int64, entity: ManagedObjectModel.Entity
    ) throws(StoreError) -> [String: Value] {
        var batch = RecordBatch(model: model)
        do throws(StoreError) {
            try batch.append(checking: bytes, key: key)
        } catch {
            throw HistoryBytesReader.damaged("the values of a deleted object do not match their checksum")
        }
        guard batch.entityNumber(at: 0) == entity.number else {
            throw HistoryBytesReader.damaged("the values of a deleted object are of another entity")
        }
        return batch.values(at: 0)
    }

    private mutating func decodeLinks(
        isAdded: Bool, relationship: ManagedObjectModel.Relationship,
        _ body: (HistoryLinkChange, ManagedObjectModel.Relationship) -> Void
    ) throws(StoreError) {
        let (sourceName, targetName) = (
            model.entities[relationship.source].name, model.entities[relationship.destination].name
        )
        var (source, target) = (Int64(0), Int64(0))
        while true {
            let number = try changes.number()
            if number == 0 { return }
            let difference = number - 1
            source &+= Int64(bitPattern: difference >> 1) ^ -Int64(bitPattern: difference & 1)
            target &+= try changes.signed()
            guard source > 0, target > 0 else { throw HistoryBytesReader.damaged("a key is not positive") }
            body(
                HistoryLinkChange(
                    relationship: relationship.name, source: ObjectID(sourceName, key: source),
                    target: ObjectID(targetName, key: target), isAdded: isAdded), relationship)
        }
    }
}
