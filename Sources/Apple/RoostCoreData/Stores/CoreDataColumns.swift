internal import RoostCore
internal import RoostForeignSQLite

#if SQLite

    /// A search for the column of each property in the tables of one store.
    ///
    /// Core Data names a column after the property. If sibling entities have properties with the
    /// same name, Core Data adds digits, and no table records which sibling owns which column. The
    /// search then uses the declared types, the columns with values in each entity's rows, and the
    /// order of entity numbers.
    struct CoreDataColumns {
        /// A property and the entity that declares it.
        struct Owner: Hashable {
            let entity: Int
            let property: String
        }

        let model: ManagedObjectModel
        let tables: CoreDataTables
        /// The file's entity numbers, by the model's entity numbers.
        let fileNumbers: [Int64]
        let database: ForeignDatabase
        /// The columns by declaring entity and property name.
        ///
        /// An element of a composite has a dotted path as the property name.
        private(set) var columns: [Owner: String] = [:]
        private(set) var notices: [String] = []

        init(model: ManagedObjectModel, tables: CoreDataTables, fileNumbers: [Int64], database: ForeignDatabase) {
            self.model = model
            self.tables = tables
            self.fileNumbers = fileNumbers
            self.database = database
        }

        /// Finds the columns of all stored properties in the hierarchy of `root`.
        ///
        /// - Throws: `modelMismatch` if a property has no column.
        mutating func resolve(root: Int, table: String) throws(StoreError) {
            var groups: [String: [Owner]] = [:]
            var types: [Owner: String] = [:]
            for number in model.entities[root].selfAndSubentities {
                let declaration = model.entities[number].declaration
                for attribute in declaration.attributes where attribute.isStored && attribute.type != .objectID {
                    for (path, type, bases) in Self.leaves(attribute, prefix: "") {
                        let owner = Owner(entity: number, property: path)
                        // The column for an element of a composite may have one of several names.
                        guard let base = bases.first(where: { !tables.candidates($0, in: table).isEmpty }) else {
                            throw missing(owner, bases: bases, table: table)
                        }
                        groups[base, default: []].append(owner)
                        types[owner] = type
                    }
                }
                for relationship in declaration.relationships where !relationship.isToMany && !relationship.isTransient
                {
                    let owner = Owner(entity: number, property: relationship.name)
                    groups["Z" + relationship.name.uppercased(), default: []].append(owner)
                    types[owner] = "INTEGER"
                }
            }
            for (base, owners) in groups.sorted(by: { $0.key < $1.key }) {
                try assign(base, owners: owners, types: types, table: table)
            }
        }

        private mutating func assign(
            _ base: String, owners: [Owner], types: [Owner: String], table: String
        ) throws(StoreError) {
            let candidates = tables.candidates(base, in: table)
            if owners.count == 1 {
                // If the plain name exists, a column with digits belongs to another property.
                guard let column = candidates.first(where: { $0.name.uppercased() == base }) ?? candidates.first else {
                    throw missing(owners[0], bases: [base], table: table)
                }
                columns[owners[0]] = column.name
                return
            }
            // Core Data assigns columns to entities in the order of the entities' numbers in the file.
            let ordered = owners.sorted { fileNumber($0.entity) < fileNumber($1.entity) }
            var taken: Set<String> = []
            var open: [(owner: Owner, columns: [String])] = []
            for owner in ordered {
                let fitting = candidates.filter { $0.declaredType == types[owner] }
                let choices = (fitting.isEmpty ? candidates : fitting).map(\.name)
                guard !choices.isEmpty else { throw missing(owner, bases: [base], table: table) }
                if choices.count == 1 {
                    columns[owner] = choices[0]
                    taken.insert(choices[0])
                    continue
                }
                let used = try usedColumns(choices, by: owner.entity, in: table)
                if used.count == 1 {
                    columns[owner] = used[0]
                    taken.insert(used[0])
                } else {
                    if used.count > 1 {
                        notices.append(
                            "Columns \(used.joined(separator: ", ")) of table \(table) all have values for '\(model.entities[owner.entity].name).\(owner.property)'; one of these columns is chosen by the order of the entities in the store."
                        )
                    }
                    open.append((owner, used.isEmpty ? choices : used))
                }
            }
            for (owner, choices) in open {
                guard let column = choices.first(where: { !taken.contains($0) }) ?? choices.first else { continue }
                columns[owner] = column
                taken.insert(column)
            }
        }

        /// Returns the columns among `names` with a non-null value in a row of `entity` or a
        /// subentity.
        private func usedColumns(_ names: [String], by entity: Int, in table: String) throws(StoreError) -> [String] {
            let numbers = model.entities[entity].selfAndSubentities.map { String(fileNumber($0)) }
            let counts = names.map { "count(\(ForeignDatabase.quoted($0)))" }
            let statement = try database.prepare(
                "SELECT \(counts.joined(separator: ", ")) FROM \(ForeignDatabase.quoted(table)) WHERE Z_ENT IN (\(numbers.joined(separator: ", ")))"
            )
            guard try statement.step() else { return [] }
            return names.enumerated().filter { statement.integer(Int32($0.offset)) > 0 }.map(\.element)
        }

        private func fileNumber(_ entity: Int) -> Int64 { fileNumbers[entity] }

        private func missing(_ owner: Owner, bases: [String], table: String) -> StoreError {
            StoreError(
                .modelMismatch,
                "Table \(table) of '\(database.path)' has no column \(bases.joined(separator: " or ")) for '\(model.entities[owner.entity].name).\(owner.property)': the store was created with another model; use that model."
            )
        }

        /// Returns one column for an attribute, or one for each element of a composite.
        private static func leaves(
            _ attribute: AttributeDescription, prefix: String, bases: [String] = ["Z"]
        ) -> [(path: String, type: String, bases: [String])] {
            let name = attribute.name.uppercased()
            guard attribute.type == .composite else {
                return [(prefix + attribute.name, declaredType(attribute.type), bases.map { $0 + name })]
            }
            return attribute.elements.flatMap { element in
                leaves(
                    element, prefix: prefix + attribute.name + ".",
                    bases: bases.flatMap { [$0 + name + "_", $0 + name, $0] })
            }
        }

        private static func declaredType(_ type: AttributeType) -> String {
            switch type {
            case .integer16, .integer32, .integer64, .boolean: "INTEGER"
            case .double, .float: "FLOAT"
            case .decimal: "DECIMAL"
            case .date: "TIMESTAMP"
            case .string, .uri: "VARCHAR"
            case .binaryData, .transformable, .uuid, .objectID, .composite, .undefined: "BLOB"
            }
        }
    }
#endif
