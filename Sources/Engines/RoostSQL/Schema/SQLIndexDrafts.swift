internal import RoostCore

/// A collector of the indexes of a schema, which skips duplicates.
struct SQLIndexDrafts {
    private struct Draft: Hashable {
        let table: String
        let scope: String?
        let columns: [SQLIndexColumn]
    }

    private(set) var items: [SQLSchema.Item] = []
    /// The quoted first columns of the indexes that contain all rows, by table.
    private(set) var leadingColumns: [Set<String>]
    /// The quoted columns that occur in an index, by table.
    private(set) var allColumns: [Set<String>]
    private var names: SQLNames
    private var known: Set<Draft> = []
    private let dialect: any SQLDialect

    init(names: SQLNames, dialect: any SQLDialect, tableCount: Int) {
        self.names = names
        self.dialect = dialect
        leadingColumns = Array(repeating: [], count: tableCount)
        allColumns = leadingColumns
    }

    mutating func add(
        on table: SQLTable, at position: Int, columns: [SQLIndexColumn], isUnique: Bool = false, scope: String? = nil
    ) {
        guard let first = columns.first,
            known.insert(Draft(table: table.name, scope: scope, columns: columns)).inserted
        else { return }
        // Without partial indexes, an index with a scope contains all rows, so it cannot be unique.
        // Loads then search for duplicate values themselves.
        let condition = dialect.hasPartialIndexes ? scope : nil
        if condition == nil { leadingColumns[position].insert(first.quotedName) }
        allColumns[position].formUnion(columns.map(\.quotedName))
        let plain = columns.map { column in
            let name = table.columns.first { $0.quotedName == column.quotedName }?.name
            return column.isAscending
                ? name ?? column.quotedName : column.quotedName.filter { $0 != "\"" } + " DESC"
        }
        let suffix = isUnique ? "unique" : "index"
        let name = names.claim("\(table.name)_\(plain.joined(separator: "_"))_\(suffix)")
        items.append(
            SQLSchema.Item(
                name: name, table: table.name,
                sql: dialect.createIndex(
                    name, on: table.quotedName, columns: columns,
                    isUnique: isUnique && (scope == nil || dialect.hasPartialIndexes), condition: condition)))
    }

    /// Adds an index for each to-one relationship, with the object's position if the inverse is
    /// ordered.
    mutating func addReferences(_ model: ManagedObjectModel, tables: [SQLTable], tableOfEntity: [Int]) {
        for entity in model.entities {
            let table = tables[tableOfEntity[entity.number]]
            for field in entity.layout.fields where field.kind == .reference || field.kind == .polymorphicReference {
                guard let column = table.column(field, of: entity.number) else { continue }
                let order = entity.layout.field(RecordLayout.orderFieldName(of: field.name))
                    .flatMap { table.column($0, of: entity.number) }
                let columns = [column] + (order.map { [$0] } ?? [])
                add(
                    on: table, at: tableOfEntity[entity.number],
                    columns: columns.map { SQLIndexColumn(quotedName: $0, isAscending: true) })
            }
        }
    }

    /// Adds the fetch indexes, without elements that are spatial, computed or not stored.
    mutating func addFetchIndexes(_ model: ManagedObjectModel, tables: [SQLTable], tableOfEntity: [Int]) {
        for index in model.fetchIndexes {
            let entity = model.entities[index.entity]
            let table = tables[tableOfEntity[entity.number]]
            let columns = index.declaration.elements.compactMap { element -> SQLIndexColumn? in
                guard element.expression == nil, element.collation == .binary,
                    let field = entity.layout.field(element.property),
                    let column = table.column(field, of: entity.number)
                else { return nil }
                return SQLIndexColumn(quotedName: column, isAscending: element.isAscending)
            }
            add(on: table, at: tableOfEntity[entity.number], columns: columns)
        }
    }

    /// Adds the index that finds the links to a given target.
    mutating func addInverse(of table: SQLSchema.LinkTable) {
        let name = names.claim(table.name + "_inverse")
        items.append(
            SQLSchema.Item(
                name: name, table: table.name,
                sql: dialect.createIndex(
                    name, on: table.quotedName,
                    columns: ["target", "source"].map { SQLIndexColumn(quotedName: $0, isAscending: true) },
                    isUnique: false, condition: nil)))
    }
}
