internal import RoostCore

/// A writer of the sorted links, references, unique values and index entries of a bulk load.
struct SortedEntryWriter: Sendable {
    private static let maximumViolationCount = 1000

    let plan: StorePlan
    let startedEmpty: Bool
    /// The tally, including the written links.
    private(set) var tally: StoreTally
    private var violations: [ConstraintViolation] = []
    private var furtherViolationCount = 0
    /// The previous link or unique value: its space, key and value.
    private var previous: (space: KeySpace, key: StorageKey, value: [UInt8])?

    /// The key of the previous pair of objects; see ``SortedPairs``.
    private var previousPair = StorageKey()

    init(plan: StorePlan, startedEmpty: Bool, tally: StoreTally) {
        self.plan = plan
        self.startedEmpty = startedEmpty
        self.tally = tally
    }

    mutating func write(_ entries: EncodedEntries, writer: any KeyValueWriter) throws(StoreError) {
        try entries.forEach { (entry) throws(StoreError) in
            let placed = EntryArena.key(of: entry)
            if placed.first == SortedPairs.position { return try requireNewPair(placed) }
            guard let space = placed.first.flatMap({ KeySpace(position: Int($0)) }) else {
                throw StoreError(.internalInconsistency, "A sorted entry belongs to no key space.")
            }
            try write(
                UnsafeRawBufferPointer(rebasing: placed.dropFirst()), value: EntryArena.value(of: entry), space: space,
                writer: writer)
        }
    }

    private mutating func write(
        _ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, space: KeySpace, writer: any KeyValueWriter
    ) throws(StoreError) {
        if space == .links || space == .inverseLinks || space == .unique {
            // Only these spaces can have equal keys: from a repeated link, or from a unique value that two objects
            // claim.
            let isRepeated = previous.map {
                $0.space == space && key.count == $0.key.count && key.begins(with: $0.key.bytes)
            }
            if isRepeated ?? false {
                if space == .unique { return try noteViolation(key, value: value, writer: writer) }
                throw .repeatedLink(describe(key))
            }
            if space == .unique, try isTaken(key, value: value, writer: writer) { return }
            previous = (space, StorageKey(key), Array(value))
        }
        if startedEmpty {
            try writer.append(key, value, in: space)
        } else {
            try writer.put(key, value, in: space)
        }
        if space == .links, let relationship = key.keyNumber {
            let link = try LinkStream.link(key, value: value, space: space)
            tally.relationships[relationship].add(RecordHash.link(link, of: relationship))
        }
    }

    /// Throws `duplicateObject` if the load contains two links between the same pair of objects.
    ///
    /// If both ends are ordered, such links can have different keys. Then only this check finds
    /// them.
    private mutating func requireNewPair(_ key: UnsafeRawBufferPointer) throws(StoreError) {
        if key.count == previousPair.count, key.begins(with: previousPair.bytes) {
            var parts = KeyParts(key, at: 1)
            let (number, source, target) = (parts.number(), parts.key(), parts.key())
            throw .repeatedLink("\(name(number)), p\(source ?? 0) and p\(target ?? 0)")
        }
        previousPair = StorageKey(key)
    }

    private func describe(_ key: UnsafeRawBufferPointer) -> String {
        guard let link = LinkKey(key) else { return "unknown" }
        return "\(name(link.relationship)), p\(link.from) and p\(link.to)"
    }

    private func name(_ relationship: Int?) -> String {
        guard let relationship, plan.model.relationships.indices.contains(relationship) else { return "unknown" }
        return "\(plan.model.relationships[relationship].name)"
    }

    // MARK: Unique values

    /// Returns whether another object has a unique value; if so, collects the violation.
    ///
    /// A shortened key is compared with all objects, any other key with objects stored before the
    /// load.
    private mutating func isTaken(
        _ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, writer: any KeyValueWriter
    ) throws(StoreError) -> Bool {
        let isShortened = key.count == plan.keyLimit
        guard isShortened || !startedEmpty, let number = key.keyNumber, let object = value.littleEndian64(at: 0) else {
            return false
        }
        let constraint = plan.constraints[number]
        var holders: [Int64] = []
        if isShortened {
            let root = plan.model.entities[constraint.entity].root
            var values: [UInt8]?
            try writer.withRecord(Int64(bitPattern: object), root: root, model: plan.model) {
                (record) throws(StoreError) in
                guard let record,
                    let own = plan.entities[record.entityNumber].constraints.first(where: { $0.number == number })
                else { return }
                var encoded: [UInt8] = []
                if plan.encode(own, of: record, isConstraint: true, into: &encoded) { values = encoded }
            }
            if let values { holders = try plan.holders(constraint: number, values: values, reader: writer) }
        } else if let stored = try writer.number(of: StorageKey(key), in: .unique) {
            holders = [stored]
        }
        guard let holder = holders.first(where: { $0 != Int64(bitPattern: object) }) else { return false }
        try note(constraint, rejected: Int64(bitPattern: object), existing: holder, writer: writer)
        return true
    }

    private mutating func noteViolation(
        _ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, writer: any KeyValueWriter
    ) throws(StoreError) {
        guard let number = key.keyNumber, let rejected = value.littleEndian64(at: 0),
            let existing = previous?.value.littleEndian64(at: 0)
        else { throw StoreError(.internalInconsistency, "A sorted entry has the wrong form.") }
        try note(
            plan.constraints[number], rejected: Int64(bitPattern: rejected), existing: Int64(bitPattern: existing),
            writer: writer)
    }

    private mutating func note(
        _ constraint: ManagedObjectModel.UniquenessConstraint, rejected: Int64, existing: Int64,
        writer: any KeyValueWriter
    ) throws(StoreError) {
        guard violations.count < Self.maximumViolationCount else { return furtherViolationCount += 1 }
        let root = plan.model.entities[constraint.entity].root
        func id(_ key: Int64) throws(StoreError) -> ObjectID {
            let number = try writer.entityNumber(of: key, root: root, model: plan.model) ?? root
            return ObjectID(plan.model.entities[number].name, key: key)
        }
        violations.append(plan.violation(constraint.number, rejected: try id(rejected), existing: try id(existing)))
    }

    func requireUnique() throws(StoreError) {
        guard !violations.isEmpty else { return }
        throw .constraintViolations(violations, furtherCount: furtherViolationCount)
    }
}

/// The pairs of objects that links connect, for relationships with two ordered ends.
///
/// The pairs are not stored. They form a group that precedes all entries in sorted order.
enum SortedPairs {
    /// The group of the pairs in the sorter: the position of the space `meta`, which has no other
    /// sorted entries.
    static let position = UInt8(truncatingIfNeeded: KeySpace.meta.position)
}

extension ExternalSorter {
    func append(pairOf link: Link, relationship: Int, key: inout StorageKey) throws(StoreError) {
        key.start(record: link.source, root: relationship)
        key.append(key: link.target)
        try append(key, in: .meta)
    }
}

extension StoreError {
    /// Returns the error for a repeated link, which `link` describes.
    static func repeatedLink(_ link: String) -> StoreError {
        StoreError(
            .duplicateObject, "A link cannot be loaded: its two objects are already linked (\(link)).")
    }
}
