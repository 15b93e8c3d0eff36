package import RoostCore
internal import RoostMigration
internal import RoostQuery

/// The compiled rules of a program's model.
///
/// Contexts, batch requests, imports and the `roost` command use these rules.
/// ``PersistentStore/commit(_:)`` does not use them, but checks versions, uniqueness, links and
/// types.
package final class ModelRules: Sendable {
    package let model: ManagedObjectModel
    /// The rules that concern a single record.
    ///
    /// Each access compiles the regular expressions again, because a compiled expression uses up its
    /// time limit.
    package var records: RecordRules { compiledRecords.hasPatterns ? RecordRules(model) : compiledRecords }
    private let compiledRecords: RecordRules
    /// For each entity number, the to-many relationships with limited counts.
    let counts: [[CountLimit]]
    let derived: DerivedAttributes
    package var hasDerivedAttributes: Bool { !derived.isEmpty }
    /// For each entity number, whether a change of its objects can change a derived attribute or a
    /// limited count.
    private let isConcerned: [Bool]

    /// Compiles the rules of a model.
    ///
    /// - Throws: `invalidModel` for a pattern that cannot be compiled, and for a derived attribute
    ///   with an expression that cannot be computed.
    package init(_ model: ManagedObjectModel) throws(StoreError) {
        self.model = model
        compiledRecords = RecordRules(model)
        if let problem = compiledRecords.problems.first { throw StoreError(.invalidModel, problem.message) }
        counts = model.entities.map { entity in
            entity.isAbstract ? [] : entity.relationships.compactMap { CountLimit($0) }
        }
        derived = try DerivedAttributes(model)
        var isConcerned = [Bool](repeating: false, count: model.entities.count)
        for entity in model.entities {
            if !derived.attributes[entity.number].isEmpty || derived.dependsOnObjects(of: entity.number) {
                isConcerned[entity.number] = true
            }
            for limit in counts[entity.number] {
                isConcerned[entity.number] = true
                for number in model.entities[limit.relationship.destination].selfAndSubentities {
                    isConcerned[number] = true
                }
            }
        }
        self.isConcerned = isConcerned
    }

    /// Returns whether a change set can change a derived attribute or a limited count.
    package func concern(_ changes: ChangeSet) throws(StoreError) -> Bool {
        guard isConcerned.contains(true) else { return false }
        guard changes.addedLinks.isEmpty, changes.removedLinks.isEmpty else { return true }
        for batch in [changes.inserts, changes.updates] {
            for index in 0..<batch.count where isConcerned[batch.entityNumber(at: index)] { return true }
        }
        for deleted in changes.deletes {
            // The ID in a delete may name a superentity.
            let root = try model.requireEntity(deleted.id.entity).root
            for number in model.entities[root].selfAndSubentities where isConcerned[number] { return true }
        }
        return false
    }

    /// Returns whether objects of an entity must be inserted with a change set instead of a bulk
    /// load.
    ///
    /// A derived attribute may read other objects. A limited count is known only after the last
    /// row.
    func needsChangeSet(_ entity: ManagedObjectModel.Entity) -> Bool {
        derived.dependsOnObjects(of: entity.number)
            || derived.attributes[entity.number].contains { !$0.path.isEmpty } || !counts[entity.number].isEmpty
            || entity.relationships.contains { relationship in
                guard let inverse = relationship.inverse else { return false }
                return counts.contains { $0.contains { $0.relationship.number == inverse } }
            }
    }
}

/// The minimum and maximum number of objects in a to-many relationship.
struct CountLimit: Sendable {
    let relationship: ManagedObjectModel.Relationship
    private let minimum: Int
    private let maximum: Int?
    private let mayBeEmpty: Bool

    init?(_ relationship: ManagedObjectModel.Relationship) {
        let declaration = relationship.declaration
        guard relationship.isToMany, declaration.minCount > 0 || declaration.maxCount != nil else { return nil }
        self.relationship = relationship
        minimum = declaration.minCount
        maximum = declaration.maxCount
        mayBeEmpty = !relationship.mustLeadSomewhere
    }

    func violation(of count: Int) -> ValidationFailure.Kind? {
        if count == 0, minimum > 0 { return mayBeEmpty ? nil : .missing }
        if count < minimum { return .tooFew(minimum: minimum) }
        if let maximum, count > maximum { return .tooMany(maximum: maximum) }
        return nil
    }
}
