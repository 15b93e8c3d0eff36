internal import RoostCore

/// The remarks about tables and columns, and the losses among them.
struct ImportRemarks {
    /// For each table, sentences for the user.
    var tables: [Int: [String]] = [:]
    /// For each table and column, phrases for the user.
    var columns: [Int: [Int: [String]]] = [:]
    var losses: [String] = []

    mutating func add(_ sentence: String, table: Int, name: String, isLoss: Bool) {
        tables[table, default: []].append(sentence)
        if isLoss { losses.append("Table '\(name)': \(sentence)") }
    }

    mutating func add(_ phrase: String, column: Int, of table: Int, in schema: ForeignSchema, isLoss: Bool) {
        columns[table, default: [:]][column, default: []].append(phrase)
        guard isLoss else { return }
        let (owner, name) = (schema.tables[table].name, schema.tables[table].columns[column].name)
        losses.append("Column '\(name)' of table '\(owner)': \(phrase).")
    }
}

/// A table that holds only pairs of rows of other tables.
struct JoinTable {
    let table: Int
    let first: ForeignTable.ForeignKey
    let second: ForeignTable.ForeignKey

    /// Returns the join tables of a schema, by position.
    static func find(in schema: ForeignSchema) -> [Int: JoinTable] {
        let parents = Set(schema.tables.flatMap(\.foreignKeys).map(\.parent))
        var result: [Int: JoinTable] = [:]
        for (number, table) in schema.tables.enumerated() {
            guard table.foreignKeys.count == 2, !parents.contains(number), let first = table.foreignKeys.first,
                let second = table.foreignKeys.last, first.columns != second.columns
            else { continue }
            let covered = Set(first.columns + second.columns)
            let others = table.columns.indices.filter { !covered.contains($0) }
            guard others.allSatisfy({ $0 == table.rowIDColumn }) else { continue }
            result[number] = JoinTable(table: number, first: first, second: second)
        }
        return result
    }
}

extension AttributeDescription {
    /// The column from which the attribute was imported.
    var importedFrom: String? { userInfo[ImportSource.key] }
}

/// The keys of `userInfo` for names of tables and columns.
enum ImportSource {
    static let key = "importedFrom"
    /// The key for the join table's column that refers to the destination.
    static let columnKey = "importedColumn"
}
