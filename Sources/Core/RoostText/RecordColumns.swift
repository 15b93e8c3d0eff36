package import RoostCore

/// The columns to show for records: properties, and the key, version and entity of each object.
package struct RecordColumns: Sendable {
    package struct Column: Sendable {
        enum Content: Sendable {
            case key, version, entity
            /// The column's field in the records of each entity, by entity number.
            ///
            /// Nil for entities other than the requested entity and its subentities.
            case field([RecordLayout.Field?])
            /// The destination keys of a to-many relationship, which records do not contain.
            case links(ManagedObjectModel.Relationship)
        }

        package let name: String
        let content: Content

        /// Returns the field that the column shows for a record; nil for key, version, entity and
        /// links.
        package func field(of record: RecordReader) -> RecordLayout.Field? {
            if case .field(let fields) = content { return fields[record.entityNumber] }
            return nil
        }

        /// The to-many relationship that the column shows; nil for any other column.
        package var relationship: ManagedObjectModel.Relationship? {
            if case .links(let relationship) = content { return relationship }
            return nil
        }

        /// Whether the column shows numbers, which are usually right-aligned.
        package var isNumeric: Bool {
            guard case .field(let fields) = content else { return relationship == nil && name != "entity" }
            switch fields.lazy.compactMap({ $0 }).first?.kind {
            case .integer64, .integer32, .integer16, .double, .float, .decimal, .reference, .order: return true
            default: return false
            }
        }
    }

    /// The names of the columns that are not properties.
    private static let ownNames = ["id", "version", "entity"]

    package let columns: [Column]

    /// Resolves the names of columns; nil means ``defaultNames(of:model:)``.
    ///
    /// A name is `id` (the key), `version`, `entity`, an attribute, a relationship or the dotted
    /// path of a composite's element. `album#order` is the place in the ordered inverse of `album`.
    /// As in record texts, a property called `id`, `version` or `entity` has `#value` after its
    /// name.
    ///
    /// - Throws: `unknownEntity`; `unknownProperty`, with a hint about the name.
    package init(_ names: [String]?, of entity: EntityName, model: ManagedObjectModel) throws(StoreError) {
        let resolved = try model.requireEntity(entity)
        var columns: [Column] = []
        for name in names ?? Self.defaultNames(of: resolved, model: model) {
            columns.append(Column(name: name, content: try Self.content(name, entity: resolved, model: model)))
        }
        self.columns = columns
    }

    /// Returns the names of the columns that are shown by default.
    ///
    /// These are `id`, then `entity` if the entity has subentities, then the attributes and to-one
    /// relationships. Inherited properties come before the entity's own.
    package static func defaultNames(of entity: ManagedObjectModel.Entity, model: ManagedObjectModel) -> [String] {
        var names = entity.hasSubentities ? ["id", "entity"] : ["id"]
        var line = [entity]
        while let superentity = line.last?.superentity { line.append(model.entities[superentity]) }
        for entity in line.reversed() {
            let declared =
                entity.declaration.attributes.map(\.name) + entity.declaration.relationships.map(\.name)
            for name in declared {
                guard let field = entity.layout.field(name) else { continue }
                names.append(ownNames.contains(field.name) ? field.name + "#value" : field.name)
            }
        }
        return names
    }

    private static func content(
        _ name: String, entity: ManagedObjectModel.Entity, model: ManagedObjectModel
    ) throws(StoreError) -> Column.Content {
        switch name {
        case "id": return .key
        case "version": return .version
        case "entity": return .entity
        default: break
        }
        let property = ownNames.first { name == $0 + "#value" } ?? name
        guard entity.layout.field(property) != nil else {
            if let relationship = entity.relationship(property), relationship.isToMany {
                return .links(relationship)
            }
            let known = ownNames + entity.layout.fields.map(\.name)
            let hint = entity.hint(forUnknown: property, among: known)
            throw StoreError(
                .unknownProperty, "Entity '\(entity.name)' has no stored property '\(property)'\(hint)")
        }
        return .field(
            model.entities.map { entity.includes($0.number) ? $0.layout.field(property) : nil })
    }
}
