package import RoostCore

/// The changes to a database that turn the tables of one schema into those of another.
package struct SQLSchemaDifference: Sendable {
    /// The tables to drop, with all their indexes.
    package let droppedTables: [SQLSchema.Item]
    /// The indexes to drop from tables that stay.
    package let droppedIndexes: [SQLSchema.Item]
    package let newTables: [SQLSchema.Item]
    /// The indexes to create after the rows are written.
    package let newIndexes: [SQLSchema.Item]
    /// The object tables that remain, by position in the new schema.
    let keptTables: Set<Int>
    /// The link tables that remain, by relationship number in the new schema.
    let keptLinkTables: Set<Int>

    init(from old: SQLSchema, to new: SQLSchema, keeping kept: KeptContent) {
        let known = Set(old.tables)
        var (keptTables, keptLinkTables): (Set<Int>, Set<Int>) = ([], [])
        var names: Set<String> = []
        for (position, table) in new.objectTables.enumerated() where kept.hierarchies.contains(table.root) {
            guard let before = old.objectTables.first(where: { $0.name == table.name }),
                before.holdsFields(like: table),
                let item = new.tables.first(where: { $0.name == table.name }), known.contains(item)
            else { continue }
            keptTables.insert(position)
            names.insert(table.name)
        }
        for (number, origin) in kept.relationships {
            guard new.linkTables.indices.contains(number), let table = new.linkTables[number],
                old.linkTables.indices.contains(origin), old.linkTables[origin]?.name == table.name,
                let item = new.tables.first(where: { $0.name == table.name }), known.contains(item)
            else { continue }
            keptLinkTables.insert(number)
            names.insert(table.name)
        }
        self.keptTables = keptTables
        self.keptLinkTables = keptLinkTables
        droppedTables = old.tables.filter { !names.contains($0.name) }
        newTables = new.tables.filter { !names.contains($0.name) }
        let keptIndexes = Set(old.indexes.filter { names.contains($0.table) }).intersection(new.indexes)
        droppedIndexes = old.indexes.filter { names.contains($0.table) && !keptIndexes.contains($0) }
        newIndexes = new.indexes.filter { !keptIndexes.contains($0) }
    }

    package func dropOld(on connection: any SQLConnection, dialect: any SQLDialect) throws(StoreError) {
        for index in droppedIndexes { try connection.execute(dialect.dropIndex(index.name)) }
        for table in droppedTables { try connection.execute("DROP TABLE \(dialect.quote(table.name))") }
    }
}
