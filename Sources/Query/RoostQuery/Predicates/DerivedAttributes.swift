package import RoostCore

/// The derived attributes of a model, with their compiled expressions.
///
/// The supported expressions are those of Core Data: `now()`, key paths through to-one
/// relationships, the functions `canonical:`, `uppercase:` and `lowercase:`, and counts and
/// aggregates of a to-many relationship.
package struct DerivedAttributes: Sendable {
    /// A derived attribute of a concrete entity.
    package struct Attribute: Sendable {
        package let entity: Int
        package let field: RecordLayout.Field
        package let value: Source
        /// The relationships from the entity to the objects on which the value depends.
        package let path: [ManagedObjectModel.Relationship]
        /// The name of the attribute at the end of the path; nil for `now()` and paths to objects.
        package let sourceName: String?

        package var isAggregate: Bool { path.contains(where: \.isToMany) }

        /// Evaluates the expression for a record, and converts the result to the attribute's type.
        ///
        /// - Throws: `invalidValue` for a value that the attribute cannot hold; errors of
        ///   evaluating the expression.
        package func storedValue(
            of record: RecordReader, by evaluator: ExpressionEvaluator
        ) throws(StoreError) -> Value {
            guard let stored = try evaluator.value(of: record).stored(as: field.kind) else {
                throw StoreError(
                    .invalidValue,
                    "The derived attribute '\(record.layout.entity).\(field.name)' has type \(field.kind) and cannot hold the value that its expression has for \(record.id). Change the attribute's type in the model."
                )
            }
            return stored
        }
    }

    package enum Source: Sendable {
        /// The time of the change.
        case now
        case expression(CompiledExpression)
    }

    /// The derived attributes, by entity number.
    package let attributes: [[Attribute]]
    /// Whether a derived attribute depends on another derived attribute.
    package let isNested: Bool
    package let count: Int
    /// By entity number, the results of ``dependsOnObjects(of:)``.
    private let sources: [Bool]
    /// The relationships through which an attribute reads a property of another object.
    package let readRelationships: [ManagedObjectModel.Relationship]

    package let isEmpty: Bool

    /// Compiles the derived attributes of a model.
    ///
    /// - Throws: `invalidModel` for an expression that cannot be computed.
    package init(_ model: ManagedObjectModel) throws(StoreError) {
        var attributes: [[Attribute]] = []
        var sources = [Bool](repeating: false, count: model.entities.count)
        var isNested = false
        var read: Set<Int> = []
        for entity in model.entities {
            var found: [Attribute] = []
            if !entity.isAbstract {
                for attribute in entity.attributes {
                    guard attribute.isStored, let text = attribute.derivationExpression,
                        let field = entity.layout.field(attribute.name)
                    else { continue }
                    let derived = try Self.attribute(text, field: field, entity: entity, model: model)
                    found.append(derived)
                    // A count reads no property of the objects at the end of its path.
                    read.formUnion(
                        (derived.sourceName == nil ? derived.path.dropLast() : derived.path[...]).map(\.number))
                    for relationship in derived.path {
                        for number in model.entities[relationship.destination].selfAndSubentities {
                            sources[number] = true
                        }
                    }
                    isNested = isNested || Self.sourceIsDerived(derived, entity: entity, model: model)
                }
            }
            attributes.append(found)
        }
        self.attributes = attributes
        self.sources = sources
        self.isNested = isNested
        readRelationships = read.sorted().map { model.relationships[$0] }
        count = attributes.reduce(0) { $0 + $1.count }
        isEmpty = count == 0
    }

    /// Returns whether derived attributes of other objects depend on objects of an entity.
    package func dependsOnObjects(of entity: Int) -> Bool { sources[entity] }

    private static func sourceIsDerived(
        _ derived: Attribute, entity: ManagedObjectModel.Entity, model: ManagedObjectModel
    ) -> Bool {
        guard let name = derived.sourceName else { return false }
        let last = derived.path.last.map { model.entities[$0.destination] } ?? entity
        return last.selfAndSubentities.contains {
            model.entities[$0].attribute(name)?.derivationExpression != nil
        }
    }

    private static func attribute(
        _ text: String, field: RecordLayout.Field, entity: ManagedObjectModel.Entity, model: ManagedObjectModel
    ) throws(StoreError) -> Attribute {
        func problem(_ reason: String) -> StoreError {
            StoreError(
                .invalidModel, "The derived attribute '\(entity.name).\(field.name)' cannot be computed: \(reason)")
        }
        guard let parsed = DerivationExpression(text) else {
            throw problem("its expression has none of the supported forms. Change the expression in the model.")
        }
        let names: [String]
        let expression: FetchRequest.Expression
        switch parsed {
        case .now:
            return Attribute(entity: entity.number, field: field, value: .now, path: [], sourceName: nil)
        case .path(let path): (names, expression) = (path, .keyPath(path))
        case .function(let function, let path):
            (names, expression) = (path, .function(function.predicateFunction, [.keyPath(path)]))
        case .aggregate(let path, let aggregate):
            (names, expression) = (path, Self.aggregate(aggregate, of: path, from: entity, model: model))
        }
        var (path, current): ([ManagedObjectModel.Relationship], ManagedObjectModel.Entity) = ([], entity)
        var rest = names[...]
        while let name = rest.first, let relationship = current.relationship(name) {
            path.append(relationship)
            current = model.entities[relationship.destination]
            rest = rest.dropFirst()
        }
        do throws(StoreError) {
            return Attribute(
                entity: entity.number, field: field,
                value: .expression(try CompiledExpression(expression, for: entity.name, model: model)), path: path,
                sourceName: rest.first)
        } catch { throw problem(error.message) }
    }

    /// Returns an aggregate as a key path: `articles.@sum.wordCount` for `articles.wordCount.@sum`.
    private static func aggregate(
        _ aggregate: DerivationExpression.Aggregate, of names: [String], from entity: ManagedObjectModel.Entity,
        model: ManagedObjectModel
    ) -> FetchRequest.Expression {
        var current = entity
        for (index, name) in names.enumerated() {
            guard let relationship = current.relationship(name) else { break }
            if relationship.isToMany {
                return .keyPath(
                    Array(names[...index]) + ["@\(aggregate.rawValue)"] + names[(index + 1)...])
            }
            current = model.entities[relationship.destination]
        }
        return .keyPath(names + ["@\(aggregate.rawValue)"])
    }
}

extension DerivationExpression.Function {
    fileprivate var predicateFunction: FetchRequest.Function {
        switch self {
        case .canonical: .canonical
        case .uppercase: .uppercase
        case .lowercase: .lowercase
        }
    }
}
