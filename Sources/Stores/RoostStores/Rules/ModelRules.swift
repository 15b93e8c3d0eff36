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
    /// The rules that one record alone can break, with the time that patterns may take unspent.
    var records: RecordRules { compiledRecords.hasPatterns ? RecordRules(model) : compiledRecords }
    private let compiledRecords: RecordRules
    /// By entity number: the to-many relationships whose number of objects is limited.
    let counts: [[CountLimit]]
    /// The derived attributes.
    let derived: DerivedAttributes

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
    }

    /// Whether objects of an entity can change other objects by being inserted.
    ///
    /// Derived attributes of other objects change, or the count of a relationship of another object
    /// is limited.
    func concernsOthers(_ entity: ManagedObjectModel.Entity) -> Bool {
        derived.dependsOnObjects(of: entity.number)
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
