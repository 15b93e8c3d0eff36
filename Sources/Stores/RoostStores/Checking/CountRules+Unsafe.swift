internal import RoostCore
internal import RoostMigration

/// A check of the number of objects in each to-many relationship with a minimum or maximum count.
///
/// Objects, references and links arrive in any order, so they are sorted, in bounded memory.
final class CountRules {
    private struct Rule {
        let relationship: ManagedObjectModel.Relationship
        let minimum: Int
        let maximum: Int?
        let mayBeEmpty: Bool
    }

    private let rules: [Rule]
    /// For each entity number, the positions in ``rules`` of the rules for its objects.
    private let rulesByEntity: [[Int]]
    /// For each number of a to-one relationship, the position of the rule of its to-many inverse.
    private let ruleByReference: [Int?]
    /// For each relationship number, the positions of the rules for which a link counts.
    ///
    /// The relationship's own rule counts the targets of each source. The inverse's rule counts the
    /// sources of each target.
    private let rulesByLinks: [(ofSources: Int?, ofTargets: Int?)]
    private let sorter: ExternalSorter

    var isEmpty: Bool { rules.isEmpty }

    init(_ model: ManagedObjectModel, spillDirectories: [String]) {
        var rules: [Rule] = []
        var positions = [Int?](repeating: nil, count: model.relationships.count)
        for relationship in model.relationships where relationship.isToMany {
            let declaration = relationship.declaration
            guard declaration.minCount > 0 || declaration.maxCount != nil else { continue }
            positions[relationship.number] = rules.count
            rules.append(
                Rule(
                    relationship: relationship, minimum: declaration.minCount, maximum: declaration.maxCount,
                    mayBeEmpty: !relationship.mustLeadSomewhere))
        }
        self.rules = rules
        rulesByEntity = model.entities.map { entity in
            entity.isAbstract ? [] : entity.relationships.compactMap { positions[$0.number] }
        }
        ruleByReference = model.relationships.map { relationship in
            relationship.storage == .field ? relationship.inverse.flatMap { positions[$0] } : nil
        }
        rulesByLinks = model.relationships.map { relationship in
            guard relationship.ownsLinks else { return (nil, nil) }
            return (positions[relationship.number], relationship.inverse.flatMap { positions[$0] })
        }
        sorter = ExternalSorter(directories: spillDirectories)
    }

    func addObject(entity: Int, key: Int64) throws(StoreError) {
        guard !rulesByEntity[entity].isEmpty else { return }
        for rule in rulesByEntity[entity] { try append(rule, key: key, isObject: true, entity: entity) }
    }

    func addReference(relationship: Int, to key: Int64) throws(StoreError) {
        guard let rule = ruleByReference[relationship] else { return }
        try append(rule, key: key, isObject: false)
    }

    func addLink(_ link: Link, of relationship: Int) throws(StoreError) {
        let (ofSources, ofTargets) = rulesByLinks[relationship]
        if let ofSources { try append(ofSources, key: link.source, isObject: false) }
        // In a relationship that is its own inverse, a link of an object with itself counts once.
        if let ofTargets, ofTargets != ofSources || link.source != link.target {
            try append(ofTargets, key: link.target, isObject: false)
        }
    }

    private func append(_ rule: Int, key: Int64, isObject: Bool, entity: Int = 0) throws(StoreError) {
        // Entries are sorted by rule, then by object key. An object precedes the references to it.
        let bytes = (
            UInt64(truncatingIfNeeded: rule).bigEndian, UInt64(bitPattern: key).bigEndian, UInt8(isObject ? 0 : 1)
        )
        try withUnsafeBytes(of: bytes) { (buffer) throws(StoreError) in
            try withUnsafeBytes(of: UInt32(truncatingIfNeeded: entity).littleEndian) { (value) throws(StoreError) in
                // SAFETY: the tuple consists of two words and a byte, without padding between them.
                try sorter.append(UnsafeRawBufferPointer(rebasing: buffer[..<17]), value, in: 0)
            }
        }
    }

    /// Calls `body` for each object that violates a rule, and then removes all entries.
    ///
    /// - Throws: `noSpace` and `ioFailure` for the temporary file.
    func check(
        _ body: (StoreFinding.Rule, ManagedObjectModel.Relationship, _ entity: Int, _ key: Int64) -> Void
    ) throws(StoreError) {
        var object: (rule: Int, key: UInt64, entity: Int)?
        var count = 0
        func finish() {
            guard let (number, key, entity) = object else { return }
            let rule = rules[number]
            let key64 = Int64(bitPattern: key)
            if count == 0, rule.minimum > 0 {
                if !rule.mayBeEmpty { body(.mandatory, rule.relationship, entity, key64) }
            } else if count < rule.minimum {
                body(.minimumCount, rule.relationship, entity, key64)
            } else if let maximum = rule.maximum, count > maximum {
                body(.maximumCount, rule.relationship, entity, key64)
            }
        }
        try sorter.drain { (entries) throws(StoreError) in
            try entries.forEach { (entry) throws(StoreError) in
                // The first byte of an entry's key is the entry's group.
                let bytes = EntryArena.key(of: entry)
                let rule = Int(
                    truncatingIfNeeded: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt64.self)))
                let key = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 9, as: UInt64.self))
                if bytes[17] == 0 {
                    finish()
                    let value = EntryArena.value(of: entry).loadUnaligned(as: UInt32.self)
                    (object, count) = ((rule, key, Int(UInt32(littleEndian: value))), 0)
                } else if let current = object, current.rule == rule, current.key == key {
                    // References without a matching object are ignored. Their target is missing, or
                    // has an entity without the rule.
                    count += 1
                }
            }
        }
        finish()
    }
}
