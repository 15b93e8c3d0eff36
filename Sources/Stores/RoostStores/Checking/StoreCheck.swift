public import RoostCore

/// Checks a whole store and returns all problems found.
///
/// The check reads every record and link of one snapshot, and changes nothing. It covers:
///
/// - Checksums, the canonical form of records, and the digest of the last commit. Each mismatch is
///   damage.
/// - The rules of the model (`StoreFinding.Rule`): mandatory values, limits, lengths, patterns,
///   counts of relationships, and the existence and entity of referenced or linked objects. A
///   broken rule is a violation.
/// - One-to-one references without a reference back. Each is a warning.
/// - The backend's own structure (`PersistentStore.integrityFindings()`).
///
/// A damaged record is a finding, and the check continues after it.
///
/// ```swift
/// let store = try StoreRegistry.standard.open(.sqlite("music.sqlite"))
/// for finding in try checkStore(store) where finding.severity == .damage {
///     print(finding.message)
/// }
/// try store.close()
/// ```
///
/// - Parameters:
///   - store: An open store.
///   - limit: The maximum number of findings to list for each kind and property. If there are more,
///     one additional finding has the number of the rest.
/// - Returns: Damage, then violations, then warnings; empty if the store has no problems.
/// - Throws: The error that prevents the check: `closed`, `ioFailure`, `busy`. Never `corrupted`.
/// - Complexity: O(*n*) in records and links, plus lookups of referenced objects in batches.
///   Minimum or maximum counts of relationships also require sorting. Memory is bounded.
public func checkStore(_ store: any PersistentStore, limit: Int = 100) throws(StoreError) -> [StoreFinding] {
    try checkStore(store, limit: limit, progress: nil)
}

/// Checks a whole store like ``checkStore(_:limit:)``.
///
/// `progress` receives the number of records and links checked since the last call. Its error ends
/// the check.
package func checkStore(
    _ store: any PersistentStore, limit: Int, progress: ((Int) throws(StoreError) -> Void)?
) throws(StoreError) -> [StoreFinding] {
    var findings = FindingList(limit: limit)
    do throws(StoreError) {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        var check = StoreCheck(snapshot: snapshot, spillDirectories: store.spillDirectories, findings: findings)
        check.progress = progress
        do throws(StoreError) { try check.run() } catch  where StoreCheck.isAboutContent(error) {
            check.findings.add(.damage, message: error.message, kind: "store")
        }
        findings = check.findings
    } catch  where StoreCheck.isAboutContent(error) {
        findings.add(.damage, message: error.message, kind: "store")
    }
    do throws(StoreError) {
        for finding in try store.integrityFindings() { findings.add(finding) }
    } catch  where error.code == .corrupted {
        findings.add(.damage, message: error.message, kind: "store")
    }
    return findings.all
}

/// Findings in groups, with a limited list for each group.
///
/// A million findings of one kind must neither hide a finding of another kind nor fill the memory.
private struct FindingList {
    private struct Group: Hashable {
        var severity: StoreFinding.Severity
        var kind: String
        var property: String?
    }

    let limit: Int
    private var listed: [StoreFinding] = []
    /// The messages of the listed findings, to recognize a finding that the backend repeats.
    private var messages: Set<String> = []
    private var counts: [Group: Int] = [:]
    /// The groups in the order of their first finding.
    private var groups: [Group] = []

    init(limit: Int) { self.limit = max(0, limit) }

    mutating func add(
        _ severity: StoreFinding.Severity, message: @autoclosure () -> String, kind: String, object: ObjectID? = nil,
        property: String? = nil
    ) {
        let group = Group(severity: severity, kind: kind, property: property)
        if let count = counts[group], count >= limit {
            counts[group] = count + 1
            return
        }
        add(StoreFinding(severity, message: message(), kind: kind, object: object, property: property))
    }

    mutating func add(_ finding: StoreFinding) {
        let group = Group(severity: finding.severity, kind: finding.kind, property: finding.property)
        let before = counts[group]
        if before ?? 0 < limit {
            guard messages.insert(finding.message).inserted else { return }
            listed.append(finding)
        }
        if before == nil { groups.append(group) }
        counts[group] = (before ?? 0) + finding.count
    }

    var all: [StoreFinding] {
        let more = groups.compactMap { group -> StoreFinding? in
            let rest = counts[group, default: 0] - limit
            guard rest > 0 else { return nil }
            let kind = [group.kind, group.property].compactMap { $0 }.joined(separator: ", ")
            return StoreFinding(
                group.severity, message: "And \(rest) more of this kind (\(kind)).", kind: group.kind,
                property: group.property
            ).with { $0.count = rest }
        }
        let findings = listed + more
        return [.damage, .violation, .warning].flatMap { severity in findings.filter { $0.severity == severity } }
    }
}

private struct StoreCheck {
    struct Reference {
        var owner: ObjectID
        var relationship: Int
        var target: ObjectID
        var destination: Int
    }

    static let lookupCount = 4096

    let snapshot: any StoreSnapshot
    let model: ManagedObjectModel
    var findings: FindingList
    var progress: ((Int) throws(StoreError) -> Void)?
    private var tally: StoreTally
    /// For each entity number, the number of records that could not be read.
    ///
    /// The tally does not contain these records. Each of them is a separate finding.
    private var damagedCounts: [Int]
    private var pending: [Reference] = []
    private var found: RecordBatch
    /// For each entity number, the fields of to-one relationships.
    private let references: [[RecordLayout.Field]]
    private var recordRules: RecordRules
    private let countRules: CountRules
    /// Whether counts are checked.
    ///
    /// False if the model has no count rules, or after counting has failed.
    private var isCounting: Bool

    init(snapshot: any StoreSnapshot, spillDirectories: [String], findings: FindingList) {
        self.snapshot = snapshot
        self.findings = findings
        model = snapshot.model
        tally = StoreTally(model: model)
        damagedCounts = Array(repeating: 0, count: model.entities.count)
        found = RecordBatch(model: model)
        references = model.entities.map { entity in
            entity.layout.fields.filter { $0.kind == .reference || $0.kind == .polymorphicReference }
        }
        recordRules = RecordRules(model)
        countRules = CountRules(model, spillDirectories: spillDirectories)
        isCounting = !countRules.isEmpty
    }

    mutating func run() throws(StoreError) {
        for (property, message) in recordRules.problems {
            findings.add(.warning, message: message, kind: StoreFinding.Rule.pattern.rawValue, property: property)
        }
        for root in model.roots { try checkRecords(of: model.entities[root]) }
        for relationship in model.linkRelationships { try checkLinks(of: relationship) }
        try lookUp()
        checkCounts()
        if let recorded = try snapshot.recordedTally() { compare(recorded) }
    }

    private mutating func checkRecords(of root: ManagedObjectModel.Entity) throws(StoreError) {
        let cursor = try snapshot.records(of: root.name, after: nil)
        var batch = RecordBatch(model: model)
        var lastKey: Int64 = 0
        var lastDamaged: ObjectID?
        while true {
            do throws(StoreError) {
                guard try cursor.next(into: &batch) else { return }
            } catch  where Self.isAboutContent(error) {
                findings.add(.damage, message: error.message, kind: "record")
                // A cursor that reports the same object twice makes no progress.
                guard let damaged = error.damagedObject, damaged != lastDamaged else { return }
                lastDamaged = damaged
                if let entity = model.entity(damaged.entity) { damagedCounts[entity.number] += 1 }
                continue
            }
            batch.forEachRecord { record in
                check(record, in: root, lastKey: &lastKey)
            }
            try progress?(batch.count)
            if pending.count >= Self.lookupCount { try lookUp() }
        }
    }

    /// Returns whether an error is a finding about the content: damage, or an object that is too
    /// large to be read.
    static func isAboutContent(_ error: StoreError) -> Bool {
        error.code == .corrupted || error.code == .limitExceeded && error.damagedObject != nil
    }

    private mutating func check(_ record: RecordReader, in root: ManagedObjectModel.Entity, lastKey: inout Int64) {
        let entity = record.entityNumber
        tally.entities[entity].add(record.computedContentHash)
        var isSound = true
        do throws(StoreError) { try record.validate() } catch {
            findings.add(.damage, message: error.message, kind: "record", object: record.id)
            isSound = false
        }
        if record.key <= lastKey {
            findings.add(
                .damage, message: "\(record.id) is not in key order, or occurs twice.", kind: "key", object: record.id)
        }
        lastKey = record.key
        if model.entities[entity].root != root.number || model.entities[entity].isAbstract {
            findings.add(
                .damage,
                message:
                    "\(record.id) is stored among the objects of '\(root.name)', but its entity is abstract or of another hierarchy.",
                kind: "entity",
                object: record.id)
            isSound = false
        }
        // The rules are not checked for a damaged record, because the damage itself can break a
        // rule.
        if isSound { checkRules(record) }
        if isCounting { count { (rules) throws(StoreError) in try rules.addObject(entity: entity, key: record.key) } }
        for field in references[entity] {
            guard let (target, key) = record.reference(field), let destination = field.destination,
                let relationship = field.relationship, model.entities.indices.contains(target)
            else { continue }
            pending.append(
                Reference(
                    owner: record.id, relationship: relationship,
                    target: ObjectID(model.entities[target].name, key: key),
                    destination: destination))
            if isCounting {
                count { (rules) throws(StoreError) in try rules.addReference(relationship: relationship, to: key) }
            }
        }
    }

    private mutating func checkRules(_ record: RecordReader) {
        let name = model.entities[record.entityNumber].name
        var broken: [(rule: StoreFinding.Rule, field: RecordLayout.Field)] = []
        let slow = recordRules.check(record) { broken.append(($0, $1)) }
        for (rule, field) in broken {
            findings.add(
                .violation, message: "\(record.id): '\(field.name)' \(Self.text(rule))", kind: rule.rawValue,
                object: record.id, property: "\(name).\(field.name)")
        }
        if let slow {
            findings.add(
                .warning,
                message:
                    "The regular expression of '\(name).\(slow.name)' takes too long for the value of \(record.id); no further values were compared with it.",
                kind: StoreFinding.Rule.pattern.rawValue, object: record.id, property: "\(name).\(slow.name)")
        }
    }

    /// Returns the end of a sentence about a property that breaks a rule.
    private static func text(_ rule: StoreFinding.Rule) -> String {
        switch rule {
        case .mandatory: "is mandatory and has no value."
        case .minimum: "is less than its minimum."
        case .maximum: "is greater than its maximum."
        case .minimumLength: "is shorter than its minimum length."
        case .maximumLength: "is longer than its maximum length."
        case .pattern: "does not match its regular expression."
        case .minimumCount: "has fewer objects than its minimum count."
        case .maximumCount: "has more objects than its maximum count."
        case .dangling: "refers to an object that does not exist."
        case .destination: "refers to an object of another entity."
        }
    }

    // MARK: Counts of relationships

    private mutating func count(_ body: (CountRules) throws(StoreError) -> Void) {
        do throws(StoreError) { try body(countRules) } catch { stopCounting(error) }
    }

    /// Reports why counts cannot be checked, and lets the rest of the check continue.
    private mutating func stopCounting(_ error: StoreError) {
        isCounting = false
        findings.add(
            .warning, message: "The minimum and maximum counts of relationships were not compared: \(error.message)",
            kind: "count")
    }

    private mutating func checkCounts() {
        guard isCounting else { return }
        let model = model
        do throws(StoreError) {
            try countRules.check { rule, relationship, entity, key in
                let id = ObjectID(model.entities[entity].name, key: key)
                findings.add(
                    .violation, message: "\(id): '\(relationship.name.name)' \(Self.text(rule))", kind: rule.rawValue,
                    object: id,
                    property: "\(relationship.name)")
            }
        } catch {
            stopCounting(error)
        }
    }

    private mutating func checkLinks(of relationship: ManagedObjectModel.Relationship) throws(StoreError) {
        var batch = LinkBatch(relationship: relationship.number)
        let source = model.entities[relationship.source].name
        let target = model.entities[relationship.destination].name
        do throws(StoreError) {
            let cursor = try snapshot.links(of: relationship.name, after: nil)
            while try cursor.next(into: &batch) {
                try progress?(batch.count)
                tally.add(batch)
                for link in batch.links {
                    if isCounting {
                        count { (rules) throws(StoreError) in try rules.addLink(link, of: relationship.number) }
                    }
                    let (from, to) = (ObjectID(source, key: link.source), ObjectID(target, key: link.target))
                    if relationship.normalized(link) != link {
                        findings.add(
                            .damage,
                            message:
                                "The link of '\(relationship.name)' from \(from) to \(to) is damaged: its objects are in the wrong order, or it has a position in an unordered relationship.",
                            kind: "link", object: from, property: "\(relationship.name)")
                    }
                    pending.append(
                        Reference(
                            owner: from, relationship: relationship.number, target: to,
                            destination: relationship.destination))
                    pending.append(
                        Reference(
                            owner: to, relationship: relationship.number, target: from, destination: relationship.source
                        ))
                }
                if pending.count >= Self.lookupCount { try lookUp() }
            }
        } catch  where error.code == .corrupted {
            findings.add(.damage, message: error.message, kind: "link")
        }
    }

    /// Looks up the targets of the collected references, and reports broken references.
    private mutating func lookUp() throws(StoreError) {
        guard !pending.isEmpty else { return }
        defer { pending.removeAll(keepingCapacity: true) }
        do throws(StoreError) {
            let targets = try readTargets()
            for reference in pending { compare(reference, with: targets) }
        } catch  where Self.isAboutContent(error) {
            // The check continues, because the next lookup may succeed.
            findings.add(.damage, message: error.message, kind: "store")
        }
    }

    /// The existing targets of the collected references.
    private struct FoundTargets {
        var entities: [Target: Int] = [:]
        var damaged: Set<Target> = []
        /// For each one-to-one reference of a target, the key of the object to which it refers.
        var answers: [Answer: Int64] = [:]
    }

    private mutating func readTargets() throws(StoreError) -> FoundTargets {
        var result = FoundTargets()
        // A key is unique among all objects of a root entity and its subentities.
        let targets = Set(
            pending.compactMap { reference in
                model.entity(reference.target.entity).map { Target(root: $0.root, key: reference.target.key) }
            })
        let ids = targets.sorted { ($0.root, $0.key) < ($1.root, $1.key) }
            .map { ObjectID(model.entities[$0.root].name, key: $0.key) }
        let inverses = Set(pending.compactMap { oneToOneInverse(of: $0.relationship) })
        let cursor = try snapshot.records(with: ids)
        var lastDamaged: ObjectID?
        while true {
            do throws(StoreError) {
                guard try cursor.next(into: &found) else { break }
            } catch  where Self.isAboutContent(error) {
                // The pass over the object's own entity reports the damage. This lookup
                // only records that the object exists.
                guard let damaged = error.damagedObject, damaged != lastDamaged,
                    let entity = model.entity(damaged.entity)
                else { throw error }
                lastDamaged = damaged
                let target = Target(root: entity.root, key: damaged.key)
                result.entities[target] = entity.number
                result.damaged.insert(target)
                continue
            }
            if !inverses.isEmpty {
                found.forEachRecord { record in
                    for field in references[record.entityNumber] {
                        guard let relationship = field.relationship, inverses.contains(relationship),
                            let (_, key) = record.reference(field)
                        else { continue }
                        result.answers[Answer(relationship: relationship, key: record.key)] = key
                    }
                }
            }
            for index in 0..<found.count {
                let entity = found.entityNumber(at: index)
                result.entities[Target(root: model.entities[entity].root, key: found.key(at: index))] = entity
            }
        }
        return result
    }

    /// Reports a reference that is dangling, has a target of the wrong entity, or has no reference
    /// back.
    private mutating func compare(_ reference: Reference, with targets: FoundTargets) {
        guard let target = model.entity(reference.target.entity) else { return }
        let name = model.relationships[reference.relationship].name
        let place = Target(root: target.root, key: reference.target.key)
        guard let entity = targets.entities[place] else {
            findings.add(
                .violation,
                message: "\(reference.owner) refers by '\(name)' to \(reference.target), which does not exist.",
                kind: StoreFinding.Rule.dangling.rawValue, object: reference.owner, property: "\(name)")
            return
        }
        if !model.entities[reference.destination].includes(entity) {
            findings.add(
                .violation,
                message:
                    "\(reference.owner) refers by '\(name)' to \(reference.target), which is of entity '\(model.entities[entity].name)'.",
                kind: StoreFinding.Rule.destination.rawValue, object: reference.owner, property: "\(name)")
        } else if let inverse = oneToOneInverse(of: reference.relationship),
            !targets.damaged.contains(place),
            targets.answers[Answer(relationship: inverse, key: reference.target.key)] != reference.owner.key
        {
            findings.add(
                .warning,
                message:
                    "\(reference.owner) refers by '\(name)' to \(reference.target), whose '\(model.relationships[inverse].name)' does not refer back.",
                kind: "inverse", object: reference.owner, property: "\(name)")
        }
    }

    /// Returns the number of the to-one inverse of a to-one relationship, or nil for any other
    /// relationship.
    private func oneToOneInverse(of number: Int) -> Int? {
        let relationship = model.relationships[number]
        guard relationship.storage == .field, let inverse = relationship.inverse,
            model.relationships[inverse].storage == .field
        else { return nil }
        return inverse
    }

    private struct Answer: Hashable {
        var relationship: Int
        var key: Int64
    }

    private struct Target: Hashable {
        var root: Int
        var key: Int64
    }

    private mutating func compare(_ recorded: StoreTally) {
        for (entity, (found, recorded)) in zip(model.entities, zip(tally.entities, recorded.entities))
        where found != recorded {
            let damaged = damagedCounts[entity.number]
            guard damaged == 0 || found.count + damaged != recorded.count else { continue }
            findings.add(
                .damage,
                message: Self.difference(
                    "Entity '\(entity.name)'", things: "objects", found: found, recorded: recorded), kind: "digest")
        }
        for (relationship, (found, recorded)) in zip(
            model.relationships, zip(tally.relationships, recorded.relationships))
        where found != recorded {
            findings.add(
                .damage,
                message: Self.difference(
                    "Relationship '\(relationship.name)'", things: "links", found: found, recorded: recorded),
                kind: "digest")
        }
    }

    private static func difference(_ what: String, things: String, found: Tally, recorded: Tally) -> String {
        found.count == recorded.count
            ? "\(what): the \(things) differ from what was written; another program changed them, or they were damaged."
            : "\(what) has \(found.count) \(things), but \(recorded.count) were written; another program changed it, or it was damaged."
    }
}
