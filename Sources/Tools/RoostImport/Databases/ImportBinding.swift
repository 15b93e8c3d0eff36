internal import RoostCore

/// The tables and columns that fill the entities and relationships of a model.
struct ImportBinding {
    /// A field of a record, and the position of the value for it.
    struct Reading {
        let field: RecordLayout.Field
        /// The position of the value in ``Source/values``.
        let value: Int
        let isMandatory: Bool
        /// The position of the column, or of the first column of a foreign key.
        let column: Int
        /// The position of the foreign key, or nil for an attribute.
        let foreignKey: Int?
    }

    /// An entity that is filled by a table.
    struct Source {
        let entity: ManagedObjectModel.Entity
        let table: Int
        var values: [ForeignValue] = []
        /// The fields for the values, in the order of the record layout.
        var readings: [Reading] = []
    }

    /// A relationship that is filled by a join table.
    struct Links {
        let relationship: ManagedObjectModel.Relationship
        let table: Int
        let source: ForeignTable.ForeignKey
        let destination: ForeignTable.ForeignKey
    }

    let model: ManagedObjectModel
    private(set) var sources: [Source] = []
    private(set) var links: [Links] = []
    private let schema: ForeignSchema
    private let inference: ModelInference
    /// The table positions by entity number.
    private var tables: [Int: Int] = [:]
    private var filled: Set<Int> = []
    private var problems: [String] = []

    /// Finds the table, column, foreign key or join table for each entity and property.
    ///
    /// Without `importedFrom`, a relationship can have the name that `inference` gave to its
    /// foreign key.
    ///
    /// - Throws: `invalidModel`, with a list of everything that the database cannot fill.
    init(_ model: ManagedObjectModel, inference: ModelInference) throws(StoreError) {
        (self.model, self.inference, schema) = (model, inference, inference.schema)
        for entity in model.entities { bindTable(of: entity) }
        for entity in model.entities {
            guard let table = tables[entity.number] else { continue }
            sources.append(source(entity, number: table))
        }
        for relationship in model.linkRelationships { bindLinks(relationship) }
        guard problems.isEmpty else {
            throw StoreError(
                .invalidModel,
                "The model does not fit the database:" + problems.map { "\n  \($0)" }.joined())
        }
    }

    // MARK: Entities

    private mutating func bindTable(of entity: ManagedObjectModel.Entity) {
        let name = entity.declaration.userInfo[ImportSource.key] ?? entity.name.text
        guard entity.superentity == nil, !entity.hasSubentities, !entity.isAbstract else {
            problems.append(
                "Entity '\(entity.name)' has a superentity, a subentity or is abstract. An import fills entities without inheritance only."
            )
            return
        }
        guard let table = schema.table(name) else {
            let hint = ModelValidator.hint(name, among: schema.tables.map(\.name))
            problems.append("Entity '\(entity.name)': the database has no table '\(name)'\(hint)")
            return
        }
        guard filled.insert(table).inserted else {
            problems.append("Entity '\(entity.name)': another entity has the rows of table '\(name)' already.")
            return
        }
        tables[entity.number] = table
    }

    private mutating func source(_ entity: ManagedObjectModel.Entity, number: Int) -> Source {
        let table = schema.tables[number]
        var source = Source(entity: entity, table: number)
        var found: [String: (value: ForeignValue, column: Int, key: Int?, isMandatory: Bool)] = [:]
        for attribute in entity.attributes where attribute.isStored {
            guard let column = column(of: attribute, entity: entity, table: table) else { continue }
            found[attribute.name] = (.column(column), column, nil, !attribute.isOptional)
        }
        for relationship in entity.relationships {
            guard let number = foreignKey(of: relationship, entity: entity, number: number) else { continue }
            let key = table.foreignKeys[number]
            found[relationship.name.name] = (
                .reference(key), key.columns.first ?? 0, number, !relationship.declaration.isOptional
            )
        }
        for field in entity.layout.fields {
            guard let (value, column, key, isMandatory) = found[field.name] else { continue }
            source.readings.append(
                Reading(
                    field: field, value: source.values.count, isMandatory: isMandatory, column: column,
                    foreignKey: key))
            source.values.append(value)
        }
        return source
    }

    private mutating func column(
        of attribute: AttributeDescription, entity: ManagedObjectModel.Entity, table: ForeignTable
    ) -> Int? {
        let place = "Attribute '\(entity.name).\(attribute.name)'"
        switch attribute.type {
        case .composite, .transformable, .objectID, .undefined:
            problems.append("\(place): an import cannot fill the type \(attribute.type.name).")
            return nil
        default: break
        }
        guard attribute.derivationExpression == nil else {
            problems.append(
                "\(place): an import cannot fill a derived attribute. Add the attribute in a later model version.")
            return nil
        }
        let name = attribute.importedFrom ?? attribute.name
        guard let column = table.column(name) else {
            let hint = ModelValidator.hint(name, among: table.columns.map(\.name))
            problems.append("\(place): table '\(table.name)' has no column '\(name)'\(hint)")
            return nil
        }
        return column
    }

    // MARK: Relationships

    /// Finds the foreign key of a to-one relationship.
    ///
    /// Returns nil for a to-many relationship. Adds a problem and returns nil if an import cannot
    /// fill the relationship.
    private mutating func foreignKey(
        of relationship: ManagedObjectModel.Relationship, entity: ManagedObjectModel.Entity, number: Int
    ) -> Int? {
        let place = "Relationship '\(relationship.name)'"
        if relationship.isOrdered { problems.append("\(place): an import cannot fill an ordered relationship.") }
        guard relationship.storage == .field else { return nil }
        if let inverse = relationship.inverse, !model.relationships[inverse].isToMany {
            problems.append("\(place): its inverse must be to-many. Use a uniqueness constraint for one-to-one.")
            return nil
        }
        let table = schema.tables[number]
        let source = relationship.declaration.userInfo[ImportSource.key]
        let wanted = source ?? relationship.name.name
        let candidates = table.foreignKeys.indices.filter {
            tables[relationship.destination] == table.foreignKeys[$0].parent
        }
        let names = candidates.map { index in
            let inferred = source == nil ? inference.relationships[number][index] : nil
            return [table.source(of: table.foreignKeys[index]), inferred].compactMap { $0 }
        }
        let found =
            (names.firstIndex { $0.contains { SchemaName.isSame($0, as: wanted) } }
            ?? names.firstIndex { $0.contains { SchemaName($0) == SchemaName(wanted) } }).map { candidates[$0] }
        if found == nil {
            problems.append(
                "\(place): table '\(table.name)' has no foreign key '\(wanted)' to the table of entity '\(model.entities[relationship.destination].name)'."
            )
        }
        return found
    }

    private mutating func bindLinks(_ relationship: ManagedObjectModel.Relationship) {
        let place = "Relationship '\(relationship.name)'"
        let inverse = relationship.inverse.map { model.relationships[$0] }
        let declarations = [relationship.declaration, inverse?.declaration].compactMap { $0 }
        let name = declarations.compactMap { $0.userInfo[ImportSource.key] }.first ?? relationship.name.name
        guard let number = schema.table(name) else {
            problems.append("\(place): the database has no join table '\(name)'.")
            return
        }
        let table = schema.tables[number]
        let toDestination = relationship.declaration.userInfo[ImportSource.columnKey]
        let toSource = inverse?.declaration.userInfo[ImportSource.columnKey]
        let keys = table.foreignKeys
        func pair(isExact: Bool) -> (Int, Int)? {
            func fits(_ key: ForeignTable.ForeignKey, entity: Int, column: String?) -> Bool {
                guard tables[entity] == key.parent else { return false }
                guard let column else { return true }
                let name = table.source(of: key)
                return isExact ? SchemaName.isSame(name, as: column) : SchemaName(name) == SchemaName(column)
            }
            return keys.indices.lazy.flatMap { source in keys.indices.lazy.map { (source, $0) } }.first {
                $0 != $1 && fits(keys[$0], entity: relationship.source, column: toSource)
                    && fits(keys[$1], entity: relationship.destination, column: toDestination)
            }
        }
        guard let pair = pair(isExact: true) ?? pair(isExact: false), !relationship.isReflexive else {
            problems.append(
                "\(place): table '\(table.name)' does not have a foreign key to each of its two entities.")
            return
        }
        links.append(
            Links(relationship: relationship, table: number, source: keys[pair.0], destination: keys[pair.1]))
    }
}
