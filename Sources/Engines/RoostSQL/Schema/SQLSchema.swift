public import RoostCore

/// The exact tables, columns and indexes of a database for a model.
public final class SQLSchema: Sendable {
    /// A table or an index, and the statement that creates it.
    public struct Item: Sendable, Hashable {
        /// The unquoted name.
        public let name: String
        /// The unquoted name of the table, or of the indexed table.
        public let table: String
        /// The statement, exactly as in the database's catalog.
        public let sql: String

        package var isIndex: Bool { name != table }
    }

    /// The table for the links of one relationship.
    struct LinkTable: Sendable {
        let relationship: ManagedObjectModel.Relationship
        let name: String
        let quotedName: String
    }

    /// A uniqueness constraint and its columns.
    struct Constraint: Sendable {
        let constraint: ManagedObjectModel.UniquenessConstraint
        let table: SQLTable
        /// The quoted columns with the values: two for an object ID, one for any other attribute.
        let columns: [String]
        /// `_entity IN (…)` if the constraint applies to only some entities of the table.
        let scope: String?
    }

    /// The format version of new stores; the backend's `FORMAT.md` describes the format.
    public static let formatVersion = 3
    /// The format version of stores with a list of the features that a program must support.
    package static let featureVersion = 4
    package static let oldestFormatVersion = 2

    /// Throws `unsupportedVersion` if this program does not support a store's format version.
    package static func requireFormat(_ version: Int, of storeName: String) throws(StoreError) {
        guard version < oldestFormatVersion || version > featureVersion else { return }
        let remedy =
            version > featureVersion
            ? "Use a newer program."
            : "Dump it with the version of the program that wrote it, and load the dump."
        throw StoreError(
            .unsupportedVersion,
            "'\(storeName)' has format version \(version); this program reads \(oldestFormatVersion) to \(featureVersion). \(remedy)"
        )
    }

    /// The model.
    public let model: ManagedObjectModel
    /// The version of the format.
    public let formatVersion: Int
    /// The tables that do not depend on the model.
    package let systemTables: [Item]
    /// The tables of objects and links.
    package let tables: [Item]
    package let indexes: [Item]

    let dialect: any SQLDialect
    /// The dialect if several transactions can write at once; otherwise nil.
    ///
    /// With such a dialect, a tally can have a row for each writer place.
    let parallelDialect: (any SQLParallelDialect)?
    let checksum: SQLChecksum
    let objectTables: [SQLTable]
    /// The positions in `objectTables`, by entity number.
    let tableOfEntity: [Int]
    /// The plans for updating rows, by position in `objectTables`.
    let updating: [SQLUpdatePlan]
    /// The tables of links, by relationship number.
    let linkTables: [LinkTable?]
    let constraints: [Constraint]
    let reading: SQLReading
    /// The statements that read and write a row of the tallies.
    let tallySQL: (select: String, update: String)
    /// The statements that add to one row of the tallies, to two rows, and so on.
    ///
    /// Empty if commits replace the rows instead.
    let tallyInserts: [String]
    /// The statements that read and write the last key of a root entity.
    let lastKeySQL: (select: String, set: SQLUpsert)
    /// The quoted first columns of the indexes that contain all rows, by table.
    let indexedColumns: [Set<String>]

    /// Whether the store records its changes in a history.
    ///
    /// The history is the only feature that a store can require.
    package var hasHistory: Bool { formatVersion >= Self.featureVersion }

    /// The number of commits that can write at once.
    ///
    /// A history is an ordered list of commits, which thus run one after the other.
    package var writerPlaceCount: Int { hasHistory ? 1 : parallelDialect?.writerPlaceCount ?? 1 }

    /// All tables and indexes, in the order of their creation.
    public var items: [Item] { systemTables + tables + indexes }

    /// Computes the schema of a model.
    ///
    /// - Throws: `limitExceeded` if a hierarchy needs more columns than a table can have.
    public init(
        _ model: ManagedObjectModel, dialect: any SQLDialect, formatVersion: Int = SQLSchema.formatVersion
    ) throws(StoreError) {
        self.model = model
        self.dialect = dialect
        parallelDialect = dialect as? any SQLParallelDialect
        self.formatVersion = formatVersion
        let checksum = SQLChecksum(formatVersion: formatVersion)
        self.checksum = checksum
        var systemTables = Self.systemTables(dialect, formatVersion: formatVersion)
        if formatVersion >= Self.featureVersion { systemTables.append(Self.historyTable(dialect)) }
        self.systemTables = systemTables
        tallySQL = SQLTallies.statements(dialect)
        tallyInserts =
            parallelDialect.map { dialect in (1...8).map { SQLTallies.addingInsert(dialect, rowCount: $0) } } ?? []
        let lastKeyColumns = formatVersion >= 3 ? ["last", "checksum"] : ["last"]
        lastKeySQL = (
            "SELECT \(lastKeyColumns.joined(separator: ", ")) FROM _roost_keys WHERE entity = \(dialect.parameter(1))",
            SQLUpsert(into: "_roost_keys", key: ["entity"], columns: lastKeyColumns, dialect: dialect)
        )
        var names = Self.names(beside: systemTables, dialect: dialect, formatVersion: formatVersion)
        var tables: [Item] = []
        var objectTables: [SQLTable] = []
        var tableOfEntity = [Int](repeating: 0, count: model.entities.count)
        for root in model.roots {
            let table = try Self.objectTable(
                root: root, names: &names, model: model, dialect: dialect, checksum: checksum)
            for number in model.entities[root].selfAndSubentities { tableOfEntity[number] = objectTables.count }
            objectTables.append(table)
            tables.append(
                Item(
                    name: table.name, table: table.name,
                    sql: dialect.createTable(table.name, columns: table.definitions(dialect), primaryKey: [])))
        }
        let linkTables = Self.linkTables(model, names: &names, dialect: dialect, tables: &tables)
        self.tables = tables
        self.objectTables = objectTables
        self.tableOfEntity = tableOfEntity
        self.linkTables = linkTables
        reading = SQLReading(model) { [objectTables, tableOfEntity] number in
            let entity = model.entities[number]
            let table = objectTables[tableOfEntity[number]]
            let rows = SQLReadPlan(entity: entity, in: table, model: model, checksum: checksum)
            return Self.readingPlan(rows, of: entity, table: table, model: model, dialect: dialect)
        }
        constraints = Self.constraints(model, tables: objectTables, tableOfEntity: tableOfEntity)

        let drafts = Self.indexDrafts(
            model, tables: (objectTables, tableOfEntity, linkTables), constraints: constraints,
            start: SQLIndexDrafts(names: names, dialect: dialect, tableCount: objectTables.count))
        indexes = drafts.items
        indexedColumns = drafts.leadingColumns
        updating = objectTables.indices.map { position in
            let table = objectTables[position]
            return SQLUpdatePlan(
                table, isIndexed: table.columns.map { drafts.allColumns[position].contains($0.quotedName) },
                model: model, dialect: dialect, checksum: checksum)
        }
    }

    /// Returns a source of names that avoids the names of the given system tables.
    ///
    /// From format 3 on, it also avoids names of system tables that may be added later.
    private static func names(
        beside systemTables: [Item], dialect: any SQLDialect, formatVersion: Int
    ) -> SQLNames {
        SQLNames(
            dialect: dialect, taken: systemTables.map(\.name), reservedPrefix: formatVersion >= 3 ? "_roost_" : nil)
    }

    private static func indexDrafts(
        _ model: ManagedObjectModel, tables: (objects: [SQLTable], ofEntity: [Int], links: [LinkTable?]),
        constraints: [Constraint], start: SQLIndexDrafts
    ) -> SQLIndexDrafts {
        var drafts = start
        for constraint in constraints {
            drafts.add(
                on: constraint.table, at: tables.ofEntity[constraint.table.root],
                columns: constraint.columns.map { SQLIndexColumn(quotedName: $0, isAscending: true) },
                isUnique: true, scope: constraint.scope)
        }
        drafts.addReferences(model, tables: tables.objects, tableOfEntity: tables.ofEntity)
        drafts.addFetchIndexes(model, tables: tables.objects, tableOfEntity: tables.ofEntity)
        for case let table? in tables.links {
            drafts.addInverse(of: table)
        }
        return drafts
    }

    /// Returns the tables of links by relationship number, and appends their items to `tables`.
    private static func linkTables(
        _ model: ManagedObjectModel, names: inout SQLNames, dialect: any SQLDialect, tables: inout [Item]
    ) -> [LinkTable?] {
        var linkTables = [LinkTable?](repeating: nil, count: model.relationships.count)
        for relationship in model.linkRelationships {
            let name = names.claim("\(relationship.name.entity)_\(relationship.name.name)")
            linkTables[relationship.number] = LinkTable(
                relationship: relationship, name: name, quotedName: dialect.quote(name))
            let columns = ["source", "target", SQLLinkColumns.order, "inverse_order"].map {
                "\($0) \(dialect.integerType) NOT NULL"
            }
            tables.append(
                Item(
                    name: name, table: name,
                    sql: dialect.createTable(name, columns: columns, primaryKey: ["source", "target"])))
        }
        return linkTables
    }

    private static func readingPlan(
        _ rows: SQLReadPlan, of entity: ManagedObjectModel.Entity, table: SQLTable, model: ManagedObjectModel,
        dialect: any SQLDialect
    ) -> SQLReading.Plan {
        let scope = scope(entity.selfAndSubentities, root: model.entities[entity.root]).map { [$0] } ?? []
        let key = dialect.parameter(1)
        let all = SQLFetchStatement.words(scope) + " ORDER BY _id"
        let rest = SQLFetchStatement.words(["_id > \(key)"] + scope) + " ORDER BY _id"
        let lookup = rows.selectSQL + SQLFetchStatement.words(["_id = \(key)"] + scope)
        let lock = (dialect as? any SQLParallelDialect).map { " " + $0.rowLock(.change) } ?? ""
        return SQLReading.Plan(
            rows: rows, lookupSQL: lookup, changingLookupSQL: lookup + lock,
            scanSQL: (
                rows.selectSQL + all, rows.selectSQL + rest,
                "SELECT _id FROM \(table.quotedName)\(rest) \(dialect.limit("1", offset: nil))"
            ))
    }

    func table(of entity: Int) -> SQLTable { objectTables[tableOfEntity[entity]] }

    /// Returns `_entity IN (…)` for some entities of a table; nil for all entities of the table.
    ///
    /// `alias` is the table's alias with a period; empty if the statement has only one table.
    func entityFilter(_ entities: [Int], in table: SQLTable, alias: String = "") -> String? {
        Self.scope(entities, root: model.entities[table.root]).map { alias + $0 }
    }

    private static func scope(_ entities: [Int], root: ManagedObjectModel.Entity) -> String? {
        guard entities != root.selfAndSubentities else { return nil }
        return "_entity IN (\(entities.map(String.init).joined(separator: ", ")))"
    }

    package static func historyTable(_ dialect: any SQLDialect) -> Item {
        let columns = [
            "position \(dialect.integerType) NOT NULL", "part \(dialect.integerType) NOT NULL",
            "body \(dialect.blobType) NOT NULL",
        ]
        return Item(
            name: SQLHistory.table, table: SQLHistory.table,
            sql: dialect.createTable(SQLHistory.table, columns: columns, primaryKey: ["position", "part"]))
    }

    /// Returns the tables that do not depend on the model, without the history's table.
    public static func systemTables(
        _ dialect: any SQLDialect, formatVersion: Int = SQLSchema.formatVersion
    ) -> [Item] {
        let (integer, text, any) = (dialect.integerType, dialect.textType, dialect.anyType ?? dialect.textType)
        func table(_ name: String, columns: [String], key: [String]) -> Item {
            Item(name: name, table: name, sql: dialect.createTable(name, columns: columns, primaryKey: key))
        }
        let checksum = formatVersion >= 3 ? ["checksum \(integer) NOT NULL"] : []
        let hasPlaces = dialect is any SQLParallelDialect
        return [
            table("_roost_metadata", columns: ["name \(text) NOT NULL", "value \(any)"] + checksum, key: ["name"]),
            table(
                "_roost_entities", columns: ["number \(integer) NOT NULL", "name \(text) NOT NULL"], key: ["number"]),
            table(
                "_roost_tallies",
                columns: [
                    "kind \(text) NOT NULL", "number \(integer) NOT NULL",
                ] + (hasPlaces ? ["place \(integer) NOT NULL"] : []) + [
                    "count \(integer) NOT NULL", "sum \(integer) NOT NULL",
                ],
                key: SQLTallies.key(dialect)),
            table(
                "_roost_keys", columns: ["entity \(integer) NOT NULL", "last \(integer) NOT NULL"] + checksum,
                key: ["entity"]),
        ]
    }

    private static func objectTable(
        root: Int, names: inout SQLNames, model: ManagedObjectModel, dialect: any SQLDialect, checksum: SQLChecksum
    ) throws(StoreError) -> SQLTable {
        let name = names.claim(model.entities[root].name.text)
        var columnNames = SQLNames(dialect: dialect, taken: ["_id", "_entity", "_version", "_checksum"])
        var columns: [SQLColumn] = []
        var fields = [[SQLFieldColumns]?](repeating: nil, count: model.entities.count)
        func add(_ wanted: String, type: String, place: SQLColumn.Place) -> Int {
            let name = columnNames.claim(wanted)
            let quoted = dialect.quote(name)
            columns.append(SQLColumn(name: name, quotedName: quoted, definition: "\(quoted) \(type)", place: place))
            return columns.count - 1
        }
        // A superentity precedes its subentities, so that inherited fields find existing columns.
        var pending = [root]
        while let number = pending.popLast() {
            let entity = model.entities[number]
            let inherited = entity.superentity.flatMap { parent in
                number == root ? nil : fields[parent].map { (model.entities[parent].layout, $0) }
            }
            var places = [SQLFieldColumns?](repeating: nil, count: entity.layout.fields.count)
            var own: [RecordLayout.Field] = []
            for field in entity.layout.fields {
                if let (layout, known) = inherited, let parent = layout.field(field.name) {
                    places[field.index] = known[parent.index]
                } else {
                    own.append(field)
                }
            }
            for field in own.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
                let base = field.name.replacing("#order", with: "_order").replacing(".", with: "_")
                let column = add(base, type: field.kind.columnType(dialect), place: field.kind.place)
                let needsEntity = field.kind == .polymorphicReference || field.kind == .objectID
                places[field.index] = SQLFieldColumns(
                    column: column,
                    entityColumn: needsEntity ? add(base + "_entity", type: dialect.integerType, place: .number) : nil)
            }
            fields[number] = places.compactMap { $0 }
            pending.append(
                contentsOf: entity.selfAndSubentities.reversed().filter { model.entities[$0].superentity == number })
        }
        guard columns.count + SQLRowColumns.systemColumnCount <= dialect.maximumColumnCount else {
            throw StoreError(
                .limitExceeded,
                "Entity '\(model.entities[root].name)' and its subentities need \(columns.count) columns; a table can have \(dialect.maximumColumnCount - SQLRowColumns.systemColumnCount)."
            )
        }
        return SQLTable(
            root: root, name: name, columns: columns, fields: fields, model: model, dialect: dialect, checksum: checksum
        )
    }

    private static func constraints(
        _ model: ManagedObjectModel, tables: [SQLTable], tableOfEntity: [Int]
    ) -> [Constraint] {
        model.uniquenessConstraints.compactMap { constraint in
            let entity = model.entities[constraint.entity]
            let table = tables[tableOfEntity[entity.number]]
            var columns: [String] = []
            for name in constraint.attributes {
                // A constraint on a property that is not stored cannot be enforced.
                guard let field = entity.layout.field(name), let column = table.column(field, of: entity.number) else {
                    return nil
                }
                columns.append(column)
                if field.kind == .objectID, let entityColumn = table.entityColumn(field, of: entity.number) {
                    columns.append(entityColumn)
                }
            }
            guard !columns.isEmpty else { return nil }
            return Constraint(
                constraint: constraint, table: table, columns: columns,
                scope: scope(entity.selfAndSubentities, root: model.entities[table.root]))
        }
    }
}

extension RecordLayout.Field.Kind {
    var place: SQLColumn.Place {
        switch self {
        case .integer64, .integer32, .integer16, .boolean, .order, .reference, .polymorphicReference, .objectID,
            .composite, .double, .float, .date:
            .number
        case .decimal, .string, .uri: .text
        case .uuid: .uuid
        case .data, .transformable: .data
        }
    }

    func columnType(_ dialect: any SQLDialect) -> String {
        switch self {
        case .integer64, .integer32, .integer16, .boolean, .order, .reference, .polymorphicReference, .objectID,
            .composite:
            dialect.integerType
        case .double, .float, .date: dialect.floatingType
        case .decimal, .string, .uri: dialect.textType
        case .data, .transformable, .uuid: dialect.blobType
        }
    }
}
