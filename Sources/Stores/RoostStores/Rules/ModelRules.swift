package import RoostCore
internal import RoostMigration
internal import RoostQuery

/// The rules of a program's model, compiled once for all changes that follow them.
///
/// Contexts, batch requests, imports and the command use these rules.
/// ``PersistentStore/commit(_:)`` does not: it checks versions, uniqueness, links and types.
package final class ModelRules: Sendable {
    /// The model that has the rules.
    package let model: ManagedObjectModel
    /// The rules that one record alone can break.
    ///
    /// No time for patterns is spent yet.
    package var records: RecordRules { compiledRecords.hasPatterns ? RecordRules(model) : compiledRecords }
    private let compiledRecords: RecordRules
    /// By entity number: the to-many relationships whose number of objects is limited.
    let counts: [[CountLimit]]
    /// The derived attributes.
    let derived: DerivedAttributes
    /// Whether the model has derived attributes.
    package var hasDerivedAttributes: Bool { !derived.isEmpty }
    /// By entity number: whether a change of an object can change a derived attribute or a limited
    /// count.
    private let isConcerned: [Bool]

    /// Compiles the rules of a model.
    ///
    /// - Throws: `invalidModel` for a pattern that cannot be compared, and for a derived attribute
    ///   whose expression cannot be computed.
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
    ///
    /// Changes of other entities cost no more than this question.
    package func concern(_ changes: ChangeSet) throws(StoreError) -> Bool {
        guard isConcerned.contains(true) else { return false }
        guard changes.addedLinks.isEmpty, changes.removedLinks.isEmpty else { return true }
        for batch in [changes.inserts, changes.updates] {
            for index in 0..<batch.count where isConcerned[batch.entityNumber(at: index)] { return true }
        }
        for deleted in changes.deletes {
            // A delete may name a superentity.
            let root = try model.requireEntity(deleted.id.entity).root
            for number in model.entities[root].selfAndSubentities where isConcerned[number] { return true }
        }
        return false
    }

    /// Returns whether objects of an entity must be inserted with a change set, not with a load.
    ///
    /// By being inserted they can change other objects: derived attributes depend on them or they
    /// get values from others, or the count of a relationship is limited. A count of their own is
    /// known only when all rows are.
    func needsChangeSet(_ entity: ManagedObjectModel.Entity) -> Bool {
        derived.dependsOnObjects(of: entity.number)
            || derived.attributes[entity.number].contains { !$0.path.isEmpty } || !counts[entity.number].isEmpty
            || entity.relationships.contains { relationship in
                guard let inverse = relationship.inverse else { return false }
                return counts.contains { $0.contains { $0.relationship.number == inverse } }
            }
    }
}

/// The minimum and maximum number of objects of a to-many relationship.
struct CountLimit: Sendable {
    let relationship: ManagedObjectModel.Relationship
    private let minimum: Int
    private let maximum: Int?
    private let mayBeEmpty: Bool

    /// Creates a limit, or nil for a relationship that any number of objects can have.
    init?(_ relationship: ManagedObjectModel.Relationship) {
        let declaration = relationship.declaration
        guard relationship.isToMany, declaration.minCount > 0 || declaration.maxCount != nil else { return nil }
        self.relationship = relationship
        minimum = declaration.minCount
        maximum = declaration.maxCount
        mayBeEmpty = !relationship.mustLeadSomewhere
    }

    /// Returns the rule that a number of objects breaks, or nil.
    func violation(of count: Int) -> ValidationFailure.Kind? {
        if count == 0, minimum > 0 { return mayBeEmpty ? nil : .missing }
        if count < minimum { return .tooFew(minimum: minimum) }
        if let maximum, count > maximum { return .tooMany(maximum: maximum) }
        return nil
    }
}
