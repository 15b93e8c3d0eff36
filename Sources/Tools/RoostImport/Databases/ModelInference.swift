internal import RoostCore

/// Infers a model from the schema and the rows of a foreign database.
struct ModelInference {
    let schema: ForeignSchema
    let facts: [TableFacts]
    let joinTables: [Int: JoinTable]
    var remarks = ImportRemarks()
    /// Each table's entity, or nil for join tables.
    var entities: [EntityDescription?]
    /// The names already used in each entity.
    private var names: [PropertyNames]
    /// For each table, the attributes by column position.
    private(set) var attributes: [[Int: (name: String, isInjective: Bool)]]
    /// For each table and foreign key, the name of the relationship, or nil.
    private(set) var relationships: [[String?]]

    init(_ schema: ForeignSchema, facts: [TableFacts], joinTables: [Int: JoinTable]) {
        (self.schema, self.facts, self.joinTables) = (schema, facts, joinTables)
        var entityNames = ModelNames(ofProperties: false)
        entities = schema.tables.enumerated().map { number, table in
            guard joinTables[number] == nil else { return nil }
            var entity = EntityDescription(
                entityNames.name(for: table.name, orElse: "Table\(number + 1)"))
            entity.userInfo[ImportSource.key] = table.name
            return entity
        }
        names = schema.tables.map { _ in PropertyNames() }
        attributes = schema.tables.map { _ in [:] }
        relationships = schema.tables.map { $0.foreignKeys.map { _ in nil } }
    }

    /// Infers the model, or throws `invalidModel` for a schema that is too large.
    mutating func model() throws(StoreError) -> ManagedObjectModel {
        for table in entities.indices where entities[table] != nil { addAttributes(of: table) }
        for table in entities.indices where entities[table] != nil { addToOne(of: table) }
        for join in joinTables.values.sorted(by: { $0.table < $1.table }) { addManyToMany(join) }
        for table in entities.indices where entities[table] != nil { addIndexes(of: table) }
        return try ManagedObjectModel(entities: entities.compactMap { $0 })
    }

    // MARK: Attributes

    /// Returns whether a column is a rowid that gives objects their keys.
    func isKey(_ column: Int, of table: Int) -> Bool {
        schema.tables[table].rowIDColumn == column && facts[table].hasPositiveRowIDs
    }

    /// Returns the columns that relationships replace.
    private func replacedColumns(of table: Int) -> Set<Int> {
        var result: Set<Int> = []
        for (number, key) in schema.tables[table].foreignKeys.enumerated() {
            // If a key of several columns dangles in any row, the columns stay attributes, so that the
            // row keeps its values.
            guard key.columns.count == 1 || facts[table].danglingRows[number] == 0 else { continue }
            result.formUnion(key.columns)
        }
        return result
    }

    private mutating func addAttributes(of table: Int) {
        let replaced = replacedColumns(of: table)
        for (number, column) in schema.tables[table].columns.enumerated() {
            guard !replaced.contains(number), !isKey(number, of: table) else { continue }
            let columnFacts = facts[table].columns[number]
            let inference = AttributeInference(columnFacts)
            let name = names[table].name(for: column.name, orElse: "column\(number + 1)")
            var attribute = AttributeDescription(
                name, type: inference.type, isOptional: !column.isMandatory || columnFacts.nulls > 0)
            attribute.userInfo[ImportSource.key] = column.name
            if let text = column.defaultText {
                if let value = column.defaultLiteral.flatMap({ inference.defaultValue($0) }) {
                    attribute.defaultValue = value
                } else {
                    remarks.add(
                        "the default value \(text) is not kept", column: number, of: table, in: schema, isLoss: true
                    )
                }
            }
            entities[table]?.attributes.append(attribute)
            attributes[table][number] = (name, inference.isInjective)
        }
    }

    // MARK: Relationships

    private mutating func addToOne(of table: Int) {
        let child = schema.tables[table]
        for (number, key) in child.foreignKeys.enumerated() {
            guard let source = entities[table]?.name, let destination = entities[key.parent]?.name else { continue }
            let stem = RelationshipNames.stem(of: key, in: child) ?? RelationshipNames.lowercased(destination)
            let name = names[table].name(for: stem, orElse: "parent")
            let inverse = names[key.parent].name(
                for: RelationshipNames.lowercased(source), orElse: "children",
                instead: "\(RelationshipNames.lowercased(source))By\(RelationshipNames.capitalized(name))")
            let isMandatory =
                key.columns.allSatisfy { child.columns[$0].isMandatory && facts[table].columns[$0].nulls == 0 }
                && facts[table].danglingRows[number] == 0
            var toOne = RelationshipDescription.toOne(
                name, to: destination, inverse: inverse, isOptional: !isMandatory)
            toOne.userInfo[ImportSource.key] = child.source(of: key)
            var toMany = RelationshipDescription.toMany(
                inverse, to: source, inverse: name, deleteRule: deleteRule(key, number: number, of: table))
            toMany.userInfo[ImportSource.key] = child.name
            entities[table]?.relationships.append(toOne)
            entities[key.parent]?.relationships.append(toMany)
            relationships[table][number] = name
        }
    }

    private mutating func deleteRule(
        _ key: ForeignTable.ForeignKey, number: Int, of table: Int
    ) -> DeleteRule {
        switch key.onDelete {
        case "CASCADE": return .cascade
        case "RESTRICT": return .deny
        case "SET DEFAULT":
            if let column = key.columns.first {
                remarks.add(
                    "ON DELETE SET DEFAULT becomes the delete rule nullify", column: column, of: table, in: schema,
                    isLoss: true)
            }
            return .nullify
        default: return .nullify
        }
    }

    private mutating func addManyToMany(_ join: JoinTable) {
        let table = schema.tables[join.table]
        guard let first = entities[join.first.parent]?.name, let second = entities[join.second.parent]?.name else {
            return
        }
        let isSelf = join.first.parent == join.second.parent
        func name(_ key: ForeignTable.ForeignKey, entity: String) -> String {
            let stem = isSelf ? RelationshipNames.stem(of: key, in: table) : nil
            return RelationshipNames.lowercased(stem ?? entity)
        }
        let suffix = "By\(RelationshipNames.capitalized(table.name))"
        let toSecond = names[join.first.parent].name(
            for: name(join.second, entity: second), orElse: "related",
            instead: name(join.second, entity: second) + suffix)
        let toFirst = names[join.second.parent].name(
            for: name(join.first, entity: first), orElse: "related",
            instead: name(join.first, entity: first) + suffix)
        for (owner, relationship, destination, inverse, key) in [
            (join.first.parent, toSecond, second, toFirst, join.second),
            (join.second.parent, toFirst, first, toSecond, join.first),
        ] {
            var toMany = RelationshipDescription.toMany(relationship, to: destination, inverse: inverse)
            toMany.userInfo[ImportSource.key] = table.name
            if isSelf { toMany.userInfo[ImportSource.columnKey] = table.source(of: key) }
            entities[owner]?.relationships.append(toMany)
        }
    }
}

enum RelationshipNames {
    /// Returns the name of a key's column without `id` at its end, or nil for several columns.
    static func stem(of key: ForeignTable.ForeignKey, in table: ForeignTable) -> String? {
        guard let column = key.columns.first, key.columns.count == 1 else { return nil }
        let name = table.columns[column].name
        for suffix in ["_id", "_ID", "_Id", "Id", "ID", "id"] where name.utf8.count > suffix.utf8.count {
            if name.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) {
                return String(decoding: name.utf8.dropLast(suffix.utf8.count), as: UTF8.self)
            }
        }
        return name
    }

    static func lowercased(_ name: String) -> String { name.prefix(1).lowercased() + name.dropFirst() }
    static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }
}

struct PropertyNames {
    private var names = ModelNames()
    private var taken: Set<String> = []

    /// Returns a name that is valid, not reserved and not already used.
    ///
    /// If `text` is used already, `other` is tried before a number is added. An empty `text`
    /// becomes `fallback`.
    mutating func name(for text: String, orElse fallback: String, instead other: String? = nil) -> String {
        let wanted = other.flatMap { taken.contains(text.lowercased()) ? $0 : nil } ?? text
        let probe = EntityDescription(
            "Probe", attributes: [AttributeDescription(wanted.isEmpty ? fallback : wanted, type: .string)])
        let isReserved = ManagedObjectModel.problems(entities: [probe]).contains {
            $0.message.contains("reserved")
        }
        let name = names.name(for: isReserved ? wanted + "_" : wanted, orElse: fallback)
        taken.insert(name.lowercased())
        return name
    }
}
