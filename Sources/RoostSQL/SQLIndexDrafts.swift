internal import RoostCore

/// Collects the indexes of a schema, each once.
struct SQLIndexDrafts {
    private(set) var items: [SQLSchema.Item] = []
    /// By table, the quoted columns that lead an index.
    private(set) var leadingColumns: [Set<String>]
    /// By table, the quoted columns that some index has.
    private(set) var allColumns: [Set<String>]
    private static let descending = " DESC"
    private var names: SQLNames
    private var known: Set<[String]> = []
    private let dialect: any SQLDialect

    init(names: SQLNames, dialect: any SQLDialect, tableCount: Int) {
        self.names = names
        self.dialect = dialect
        leadingColumns = Array(repeating: [], count: tableCount)
        allColumns = leadingColumns
    }

    mutating func add(
        on table: SQLTable, at position: Int, columns: [String], suffix: String, isUnique: Bool = false,
        scope: String? = nil
    ) {
        guard !columns.isEmpty, known.insert([table.name, scope ?? ""] + columns).inserted else { return }
        let undirected = columns.map { column in
            column.hasSuffix(Self.descending) ? String(column.dropLast(Self.descending.count)) : column
        }
        if scope == nil { leadingColumns[position].insert(undirected[0]) }
        allColumns[position].formUnion(undirected)
        let plain = columns.map { column in
            table.columns.first { $0.quotedName == column }?.name ?? column.filter { $0 != "\"" }
        }
        let name = names.claim("\(table.name)_\(plain.joined(separator: "_"))_\(suffix)")
        let condition = scope.map { " WHERE \($0)" } ?? ""
        items.append(
            SQLSchema.Item(
                name: name, table: table.name,
                sql:
                    "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(dialect.quote(name)) ON \(table.quotedName) (\(columns.joined(separator: ", ")))\(condition)"
            ))
    }

    /// To-one relationships, each with the place in the ordered relationship back: what a to-many reads.
    mutating func addReferences(_ model: ManagedObjectModel, _ tables: [SQLTable], _ tableOfEntity: [Int]) {
        for entity in model.entities {
            let table = tables[tableOfEntity[entity.number]]
            for field in entity.layout.fields where field.kind == .reference || field.kind == .polymorphicReference {
                guard let column = table.column(field, of: entity.number) else { continue }
                let order = entity.layout.field(RecordLayout.orderFieldName(of: field.name))
                    .flatMap { table.column($0, of: entity.number) }
                add(
                    on: table, at: tableOfEntity[entity.number], columns: [column] + (order.map { [$0] } ?? []),
                    suffix: "index")
            }
        }
    }

    /// The fetch indexes of the model; elements that are spatial or expressions are left out.
    mutating func addFetchIndexes(_ model: ManagedObjectModel, _ tables: [SQLTable], _ tableOfEntity: [Int]) {
        for index in model.fetchIndexes {
            let entity = model.entities[index.entity]
            let table = tables[tableOfEntity[entity.number]]
            let columns = index.declaration.elements.compactMap { element -> String? in
                guard element.expression == nil, element.collation == .binary,
                    let field = entity.layout.field(element.property),
                    let column = table.column(field, of: entity.number)
                else { return nil }
                return element.isAscending ? column : column + Self.descending
            }
            add(on: table, at: tableOfEntity[entity.number], columns: columns, suffix: "index")
        }
    }

    /// The way back through a link table.
    mutating func addInverse(of table: SQLSchema.LinkTable) {
        let name = names.claim(table.name + "_inverse")
        items.append(
            SQLSchema.Item(
                name: name, table: table.name,
                sql: "CREATE INDEX \(dialect.quote(name)) ON \(table.quotedName) (target, source)"))
    }
}
