/// A recorder that collects the changes of one transaction and writes them into the history.
///
/// An engine passes each change to the recorder, and calls ``finish(_:from:to:in:)`` at the end.
package struct HistoryRecorder: Sendable {
    /// The kind of a group of changes in a part.
    enum Tag: UInt8, Sendable {
        case insert = 1
        case update, delete, addedLink, removedLink
    }

    /// The fields of an entity that are needed to record its changes.
    private struct Plan: Sendable {
        let fields: RecordAgreement
        /// The fields to preserve on deletion, including elements of composites, in slot order.
        let preserved: [RecordLayout.Field]
    }

    package var kind: HistoryTransaction.Kind
    private let model: ManagedObjectModel
    private let author: String?
    private let contextName: String?
    private let clock: @Sendable () -> Int64
    private var plans: [Int: Plan] = [:]
    /// Reused memory for the values of deleted objects.
    private var values: RecordBatch
    /// The changes of the part that is being filled.
    private var changes = HistoryBytes()
    /// The changes of the first part; nil while that part is being filled.
    private var first: [UInt8]?
    /// The changes of later parts that are not written yet.
    private var waiting: [[UInt8]] = []
    private var partCount: UInt32 = 1
    private var laterByteCount: UInt64 = 0
    /// The current group: its kind, and the number of its entity or relationship.
    private var group: (tag: Tag, number: Int)?
    private var last: (key: Int64, target: Int64) = (0, 0)

    /// Creates a recorder with a clock in microseconds since 2001-01-01.
    package init(
        _ kind: HistoryTransaction.Kind, model: ManagedObjectModel, author: String?, contextName: String?,
        clock: (@Sendable () -> Int64)?
    ) {
        self.kind = kind
        self.model = model
        values = RecordBatch(model: model)
        self.author = author
        self.contextName = contextName
        self.clock = clock ?? HistoryClock.now
    }

    // MARK: Changes

    package mutating func insert(_ key: Int64, entity: Int) {
        begin(.insert, entity: entity, key: key)
    }

    package mutating func update(_ old: RecordReader, to new: RecordReader) {
        let entity = new.entityNumber
        begin(.update, entity: entity, key: new.key)
        plan(entity).fields.appendDifferences(old, right: new, to: &changes)
    }

    /// Records a deleted object with its preserved values.
    package mutating func delete(_ old: RecordReader) throws(StoreError) {
        let entity = old.entityNumber
        begin(.delete, entity: entity, key: old.key)
        let fields = plan(entity).preserved.filter { !old.isNull($0) }
        guard !fields.isEmpty else { return changes.append(number: 0) }
        values.removeAll()
        values.beginRecord(old.layout, key: old.key, version: 1)
        do throws(StoreError) {
            for field in fields {
                if field.kind.isVariable {
                    try values.setBytes(old.bytes(field), for: field)
                } else {
                    try values.set(field.kind == .composite ? .composite([:]) : old.value(field), for: field)
                }
            }
        } catch {
            values.abandonRecord()
            throw error
        }
        values.endRecord()
        values.withRecord(at: 0) { record in
            changes.append(number: UInt64(record.bytes.count))
            changes.append(contentsOf: record.bytes)
        }
    }

    package mutating func link(_ link: Link, of relationship: Int, isAdded: Bool) {
        let tag: Tag = isAdded ? .addedLink : .removedLink
        begin(tag, number: relationship)
        changes.append(number: HistoryBytes.unsigned(link.source &- last.key) &+ 1)
        changes.append(signed: link.target &- last.target)
        last = (link.source, link.target)
    }

    private mutating func begin(_ tag: Tag, entity: Int, key: Int64) {
        begin(tag, number: entity)
        changes.append(signed: key &- last.key)
        last.key = key
    }

    /// Starts a group if needed, in a part that is not full.
    private mutating func begin(_ tag: Tag, number: Int) {
        if changes.count >= HistoryPart.capacityByteCount { endPart() }
        if let group, group.tag == tag, group.number == number { return }
        endGroup()
        changes.append(tag.rawValue)
        changes.append(number: UInt64(number))
        group = (tag, number)
    }

    private mutating func endGroup() {
        // A 0 ends a group. No change begins with 0: a difference of keys is not 0, and a link begins with 1 or more.
        if group != nil { changes.append(number: 0) }
        group = nil
        last = (0, 0)
    }

    private mutating func endPart() {
        endGroup()
        if first == nil { first = changes.bytes } else { waiting.append(changes.bytes) }
        changes.removeAll()
    }

    private mutating func plan(_ entity: Int) -> Plan {
        if let plan = plans[entity] { return plan }
        let entityDescription = model.entities[entity]
        let plan = Plan(
            fields: RecordAgreement(entityDescription.layout.fields, layout: entityDescription.layout),
            preserved: Self.preserved(entityDescription))
        plans[entity] = plan
        return plan
    }

    private static func preserved(_ entity: ManagedObjectModel.Entity) -> [RecordLayout.Field] {
        let names = Set(entity.attributes.filter(\.preservesValueInHistoryOnDeletion).map(\.name))
        guard !names.isEmpty else { return [] }
        return entity.layout.fields.filter { field in names.contains(String(field.name.prefix { $0 != "." })) }
    }

    // MARK: Writing

    /// Whether full parts, other than the first, wait to be written.
    package var hasFullParts: Bool { !waiting.isEmpty }

    /// Writes the full parts except the first, so that they do not stay in memory.
    package mutating func writeFullParts(
        after previous: Generation, in entries: any HistoryEntryWriter
    ) throws(StoreError) {
        guard !waiting.isEmpty else { return }
        let position = try previous.next().number
        for changes in waiting {
            let place = HistoryPlace(position, part: partCount)
            let bytes = HistoryPart.bytes(place, header: nil, changes: changes)
            try entries.putHistory(bytes, at: place)
            laterByteCount += UInt64(bytes.count)
            partCount += 1
        }
        waiting = []
    }

    /// Writes the remaining parts, and removes old transactions that exceed the limits.
    ///
    /// If the history lacks the previous commit, the history begins anew with this transaction.
    package mutating func finish(
        _ settings: [UInt8], from previous: Generation, to now: Generation, in entries: any HistoryEntryWriter
    ) throws(StoreError) {
        if first == nil {
            endGroup()
            first = changes.bytes
        } else if changes.count > 0 {
            endPart()
        }
        try writeFullParts(after: previous, in: entries)
        var kept = try HistorySettings(settings)
        var preceding = kept.startByteCount
        var lastTime = kept.startTime
        let place = HistoryPlace(now.number)
        if previous.number != kept.start {
            let before = HistoryPlace(previous.number)
            if let bytes = try entries.historyBytes(at: before) {
                let header = try HistoryPart(bytes, at: before).requireHeader()
                preceding = header.precedingByteCount &+ UInt64(bytes.count) &+ header.laterByteCount
                lastTime = header.time
            } else {
                // The previous commit is missing, so no earlier token is valid. All earlier transactions are removed.
                while try entries.removeHistory(before: place, limit: .max) > 0 {}
                kept = HistorySettings(after: previous, time: kept.startTime, retention: kept.retention)
                preceding = 0
            }
        }
        let time = max(clock(), lastTime)
        let header = HistoryHeader(
            kind: kind, time: time, author: author, contextName: contextName, partCount: partCount,
            laterByteCount: laterByteCount, precedingByteCount: preceding)
        let bytes = HistoryPart.bytes(place, header: header, changes: first ?? [])
        try entries.putHistory(bytes, at: place)
        let before = kept
        if kept.firstTime == nil { kept.firstTime = time }
        try kept.removeWhatIsNotKept(
            byteCount: preceding &+ UInt64(bytes.count) &+ laterByteCount, time: time, last: place, in: entries)
        if kept != before { try entries.setHistorySettings(try kept.bytes) }
    }
}

extension HistoryPart {
    func requireHeader() throws(StoreError) -> HistoryHeader {
        guard let header else { throw HistoryBytesReader.damaged("a transaction has no beginning") }
        return header
    }
}

extension HistoryEntries {
    func firstHistoryPart(_ position: UInt64) throws(StoreError) -> (part: HistoryPart, header: HistoryHeader) {
        let place = HistoryPlace(position)
        guard let bytes = try historyBytes(at: place) else {
            throw HistoryBytesReader.damaged("a transaction is missing")
        }
        let part = try HistoryPart(bytes, at: place)
        return (part, try part.requireHeader())
    }
}

extension HistorySettings {
    /// Removes old transactions that exceed the limits, but not at every commit; see
    /// ``HistoryRetention``.
    fileprivate mutating func removeWhatIsNotKept(
        byteCount: UInt64, time: Int64, last: HistoryPlace, in entries: any HistoryEntryWriter
    ) throws(StoreError) {
        var (mustBeAfter, mostBytes): (Int64?, UInt64?) = (nil, nil)
        if let days = retention.days, let firstTime {
            let span = days * 86_400e6
            if Double(time) - Double(firstTime) > span * (1 + 1 / 32) {
                mustBeAfter = Int64(exactly: (Double(time) - span).rounded())
            }
        }
        if let limit = retention.byteCount.map({ UInt64(clamping: $0) }), byteCount &- startByteCount > limit {
            mostBytes = limit / 8 * 7
        }
        guard mustBeAfter != nil || mostBytes != nil else { return }
        var position = start
        while position &+ 1 < last.position {
            let (_, header) = try entries.firstHistoryPart(position &+ 1)
            let isOld = mustBeAfter.map { header.time < $0 } ?? false
            let isTooMuch = mostBytes.map { byteCount &- header.precedingByteCount > $0 } ?? false
            guard isOld || isTooMuch else { break }
            position &+= 1
        }
        guard position > start else { return }
        try moveStart(to: position, in: entries)
        while try entries.removeHistory(before: HistoryPlace(position &+ 1), limit: .max) > 0 {}
    }

    /// Moves the start of the history to the end of a transaction, without removing entries.
    mutating func moveStart(to position: UInt64, in entries: any HistoryEntries) throws(StoreError) {
        let (part, header) = try entries.firstHistoryPart(position)
        start = position
        startMark = part.mark
        startByteCount = header.precedingByteCount &+ UInt64(part.byteCount) &+ header.laterByteCount
        startTime = header.time
        let next = HistoryPlace(position &+ 1)
        firstTime =
            try entries.historyPlace(from: next) == nil
            ? nil : try entries.firstHistoryPart(next.position).header.time
    }
}
