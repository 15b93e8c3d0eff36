internal import RoostCore
internal import RoostForeignSQLite

#if SQLite

    /// The tables, columns and entity numbers of a model in one Core Data file.
    struct CoreDataSchema: Sendable {
        /// A rule for reading one field of a record from a row.
        struct Reading: Sendable {
            let field: RecordLayout.Field
            /// The column's position in the row, from 0.
            let column: Int32
            /// Whether the bytes have Core Data's prefix for values that may be in external files.
            let isExternal: Bool
            /// For an element of a composite, the fields of the enclosing composites.
            let composites: [RecordLayout.Field]
        }

        struct Entity: Sendable {
            let layout: RecordLayout
            let readings: [Reading]
        }

        /// The table of one root entity.
        struct Root: Sendable {
            let table: String
            /// The SQL expressions after the key, entity and version in a selected row.
            let expressions: [String]
            /// The entities by their numbers in the file, without abstract entities.
            let entities: [Int64: Entity]
            let recordedLastKey: Int64
            /// The columns that may name data files, by position in the row.
            let externalColumns: [Int32: String]
        }

        /// The columns of a to-one relationship.
        struct Reference: Sendable {
            let table: String
            let column: String
            let orderColumn: String?
            /// The entities that have the relationship, by their numbers in the file.
            let entities: [Int64]
            let relationship: Int
            let destinationTable: String
        }

        /// The links of a relationship, as a subquery with columns s, t, o and i: source, target,
        /// position and inverse position.
        struct Links: Sendable {
            let relationship: Int
            let query: String
            let sourceTable: String
            let targetTable: String
        }

        let model: ManagedObjectModel
        /// The tables by root entity number.
        let roots: [Int: Root]
        /// The columns of to-one relationships, by relationship number.
        let references: [Int: Reference]
        /// The link queries by the number of the owning relationship.
        let links: [Int: Links]
        /// The model's entity numbers by the file's entity numbers.
        let entities: [Int64: Int]
        let fileNumbers: [Int64]
        let notices: [String]
        /// The notices about columns that no property uses; empty if the model matches the file.
        let unusedColumns: [String]

        /// Finds the tables and columns of a model in a file.
        ///
        /// Throws `modelMismatch` if entities, tables or columns are missing, or if an entity of
        /// the file is not in the model.
        init(_ model: ManagedObjectModel, tables: CoreDataTables, database: ForeignDatabase) throws(StoreError) {
            self.model = model
            let fileNumbers = try Self.fileNumbers(model, tables: tables, database: database)
            self.fileNumbers = fileNumbers
            entities = Dictionary(fileNumbers.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })

            var tableNames: [Int: String] = [:]
            var columns = CoreDataColumns(
                model: model, tables: tables, fileNumbers: fileNumbers, database: database)
            for root in model.roots {
                guard let table = tables.table(ofRoot: model.entities[root].name.text) else {
                    throw Self.mismatch(database, what: "it has no table for entity '\(model.entities[root].name)'")
                }
                tableNames[root] = table
                try columns.resolve(root: root, table: table)
            }
            var references: [Int: Reference] = [:]
            for relationship in model.relationships where relationship.storage == .field {
                references[relationship.number] = Self.reference(
                    relationship, model: model, tables: tables, tableNames: tableNames, columns: columns,
                    fileNumbers: fileNumbers)
            }
            self.references = references
            var roots: [Int: Root] = [:]
            for (root, table) in tableNames {
                roots[root] = Self.root(
                    root, table: table, model: model, tables: tables, columns: columns, references: references,
                    fileNumbers: fileNumbers)
            }
            self.roots = roots
            var finder = CoreDataLinkFinder(
                model: model, tables: tables, tableNames: tableNames, fileNumbers: fileNumbers)
            var links: [Int: Links] = [:]
            for relationship in model.linkRelationships {
                links[relationship.number] = try finder.links(of: relationship, database: database)
            }
            self.links = links
            unusedColumns = Self.unusedColumns(
                tables, tableNames: tableNames, columns: columns, model: model, linkColumns: finder.usedColumns)
            notices = columns.notices + finder.notices + unusedColumns
        }

        /// Returns the file's entity numbers, by the model's entity numbers.
        ///
        /// After a migration in place, the file may still contain an entity's old name, which is
        /// its renaming identifier.
        private static func fileNumbers(
            _ model: ManagedObjectModel, tables: CoreDataTables, database: ForeignDatabase
        ) throws(StoreError) -> [Int64] {
            var left = tables.entityNumbers
            var numbers: [Int64?] = model.entities.map { left.removeValue(forKey: $0.name.text) }
            for entity in model.entities where numbers[entity.number] == nil {
                if let old = entity.declaration.renamingIdentifier {
                    numbers[entity.number] = left.removeValue(forKey: old)
                }
            }
            if let name = left.keys.min() { throw mismatch(database, what: "its entity '\(name)' is not in the model") }
            var known: [Int64] = []
            for entity in model.entities {
                guard let number = numbers[entity.number] else {
                    throw mismatch(database, what: "it has no entity '\(entity.name)'")
                }
                known.append(number)
            }
            return known
        }

        /// Returns a notice for every column that no property of the model uses.
        private static func unusedColumns(
            _ tables: CoreDataTables, tableNames: [Int: String], columns: CoreDataColumns,
            model: ManagedObjectModel, linkColumns: Set<String>
        ) -> [String] {
            var used = linkColumns
            for (owner, column) in columns.columns {
                if let table = tableNames[model.entities[owner.entity].root] { used.insert("\(table).\(column)") }
            }
            return tableNames.values.sorted().flatMap { table in
                (tables.columns[table] ?? []).map(\.name).filter { name in
                    // Z_PK, Z_ENT and Z_OPT are in every table. Z_FOK_… contains the position of a
                    // reference, and Z7_… its entity. These columns never count as unused.
                    let rest = name.dropFirst().drop { $0.isASCII && $0.isNumber }
                    return !rest.hasPrefix("_") && !used.contains("\(table).\(name)")
                }.map { "Column \($0) of table \(table) belongs to no property of the model; it is left out." }
            }
        }

        static func mismatch(_ database: ForeignDatabase, what: String) -> StoreError {
            StoreError(
                .modelMismatch,
                "'\(database.path)' does not fit the model: \(what). Give the model version the store was made with.")
        }

        private static func reference(
            _ relationship: ManagedObjectModel.Relationship, model: ManagedObjectModel, tables: CoreDataTables,
            tableNames: [Int: String], columns: CoreDataColumns, fileNumbers: [Int64]
        ) -> Reference? {
            let owner = CoreDataColumns.Owner(entity: relationship.source, property: relationship.name.name)
            guard let column = columns.columns[owner], let table = tableNames[model.entities[relationship.source].root],
                let destination = tableNames[model.entities[relationship.destination].root]
            else { return nil }
            var order: String?
            if relationship.inverseIsOrdered {
                // The order column has the same added digits as the key column.
                let suffix = String(column.dropFirst(relationship.name.name.count + 1))
                let base = "Z_FOK_" + relationship.name.name.uppercased()
                let candidates = tables.candidates(base, in: table)
                order = (candidates.first { $0.name.uppercased() == base + suffix } ?? candidates.first)?.name
            }
            return Reference(
                table: table, column: column, orderColumn: order,
                entities: model.entities[relationship.source].selfAndSubentities.map { fileNumbers[$0] },
                relationship: relationship.number, destinationTable: destination)
        }

        /// The SQL expressions of a root; equal expressions share one position.
        private struct RowExpressions {
            private(set) var expressions: [String] = []
            private var positions: [String: Int32] = [:]
            private var nextColumn: Int32 = 3

            /// Returns the position of an expression with `width` values, adding it if it is new.
            mutating func position(of expression: String, width: Int32 = 1) -> Int32 {
                if let known = positions[expression] { return known }
                let position = nextColumn
                positions[expression] = position
                expressions.append(expression)
                nextColumn += width
                return position
            }
        }

        private static func root(
            _ root: Int, table: String, model: ManagedObjectModel, tables: CoreDataTables,
            columns: CoreDataColumns, references: [Int: Reference], fileNumbers: [Int64]
        ) -> Root {
            var row = RowExpressions()
            var externalColumns: [Int32: String] = [:]
            var entities: [Int64: Entity] = [:]
            for number in model.entities[root].selfAndSubentities where !model.entities[number].isAbstract {
                let entity = model.entities[number]
                var readings: [Reading] = []
                for field in entity.layout.fields {
                    if let relationship = field.relationship {
                        guard let reference = references[relationship],
                            let found = Self.reading(of: field, by: reference, row: &row)
                        else { continue }
                        readings.append(found)
                        continue
                    }
                    let path = field.name.split(separator: ".").map(String.init)
                    guard field.kind != .composite, field.kind != .objectID,
                        let owner = model.declaringEntity(of: path[0], in: number),
                        let column = columns.columns[CoreDataColumns.Owner(entity: owner, property: field.name)]
                    else { continue }
                    let place = row.position(of: "r." + ForeignDatabase.quoted(column))
                    let isExternal = entity.attribute(path[0])?.allowsExternalBinaryDataStorage ?? false
                    if isExternal { externalColumns[place] = "r." + ForeignDatabase.quoted(column) }
                    readings.append(
                        Reading(
                            field: field, column: place, isExternal: isExternal,
                            composites: (1..<path.count).compactMap {
                                entity.layout.field(path[..<$0].joined(separator: "."))
                            }))
                }
                entities[fileNumbers[number]] = Entity(layout: entity.layout, readings: readings)
            }
            return Root(
                table: table, expressions: row.expressions, entities: entities,
                recordedLastKey: model.entities[root].selfAndSubentities
                    .compactMap { tables.lastKeys[fileNumbers[$0]] }.max() ?? 0,
                externalColumns: externalColumns)
        }

        /// Returns the rule for a reference or order field, or nil for an order field without a
        /// column.
        private static func reading(
            of field: RecordLayout.Field, by reference: Reference, row: inout RowExpressions
        ) -> Reading? {
            if field.kind == .order {
                guard let order = reference.orderColumn else { return nil }
                return Reading(
                    field: field, column: row.position(of: "r." + ForeignDatabase.quoted(order)), isExternal: false,
                    composites: [])
            }
            let key = "r." + ForeignDatabase.quoted(reference.column)
            // The entity is null if the destination's row is missing.
            let destination =
                "(SELECT d.Z_ENT FROM \(ForeignDatabase.quoted(reference.destinationTable)) d WHERE d.Z_PK = \(key))"
            // Key and entity are in adjacent columns.
            return Reading(
                field: field, column: row.position(of: key + ", " + destination, width: 2), isExternal: false,
                composites: [])
        }
    }

    extension ManagedObjectModel {
        /// Returns the number of the entity that declares a property: `number` or a superentity.
        func declaringEntity(of name: String, in number: Int) -> Int? {
            var next: Int? = number
            while let current = next {
                let declaration = entities[current].declaration
                if declaration.attributes.contains(where: { $0.name == name })
                    || declaration.relationships.contains(where: { $0.name == name })
                {
                    return current
                }
                next = entities[current].superentity
            }
            return nil
        }
    }
#endif
