internal import RoostCore

extension SQLCommit {
    /// Deletes rows, and the links at both ends of their objects.
    mutating func deleteObjects() throws(StoreError) {
        for (position, reference) in changes.deletes.enumerated() {
            let entity = try model.requireEntity(reference.id.entity)
            let key = SQLObjectKey(table: schema.tableOfEntity[entity.number], key: reference.id.key)
            guard let head = deleteHeads[position] else { continue }
            let table = schema.objectTables[key.table]
            try connection.run(
                "DELETE FROM \(table.quotedName) WHERE _id = \(schema.dialect.parameter(1))", .integer(key.key))
            tally.entities[head.entity].remove(head.contentHash)
            hasChanged = true
            for case let links? in schema.linkTables {
                let relationship = links.relationship
                if model.entities[relationship.source].root == table.root {
                    try deleteLinks(of: key.key, at: "source", in: links)
                }
                if model.entities[relationship.destination].root == table.root {
                    try deleteLinks(of: key.key, at: "target", in: links)
                }
            }
        }
    }

    private mutating func deleteLinks(
        of key: Int64, at end: String, in table: SQLSchema.LinkTable
    ) throws(StoreError) {
        let p = schema.dialect.parameter(1)
        let removed = try connection.withStatement(
            "SELECT \(SQLLinkColumns(isFlipped: false).list) FROM \(table.quotedName) WHERE \(end) = \(p)"
        ) { (statement) throws(StoreError) -> [Link] in
            try statement.bind(.integer(key), at: 1)
            var links: [Link] = []
            while try statement.step() { links.append(try Self.link(statement)) }
            return links
        }
        guard !removed.isEmpty else { return }
        let number = table.relationship.number
        for link in removed { tally.relationships[number].remove(RecordHash.link(relationship: number, link)) }
        try connection.run("DELETE FROM \(table.quotedName) WHERE \(end) = \(p)", .integer(key))
    }

    private static func link(_ statement: any SQLStatement) throws(StoreError) -> Link {
        Link(
            try statement.integer(at: 0), try statement.integer(at: 1), order: try statement.integer(at: 2),
            inverseOrder: try statement.integer(at: 3))
    }

    mutating func writeUpdates() throws(StoreError) {
        guard !changes.updates.isEmpty else { return }
        hasChanged = true
        try releaseUniqueValues()
        var start = 0
        while start < updateOrder.count {
            let table = schema.tableOfEntity[changes.updates.entityNumber(at: updateOrder[start])]
            var end = start + 1
            while end < updateOrder.count,
                schema.tableOfEntity[changes.updates.entityNumber(at: updateOrder[end])] == table
            { end += 1 }
            try writeUpdates(updateOrder[start..<end], schema.objectTables[table].writing, schema.updating[table])
            start = end
        }
    }

    /// Writes updates of one table.
    private mutating func writeUpdates(
        _ indices: ArraySlice<Int>, _ plan: SQLWritePlan, _ light: SQLUpdatePlan
    ) throws(StoreError) {
        let full = try connection.statement(plan.updateSQL)
        defer { connection.recycle(full) }
        let partial = try connection.statement(light.updateSQL)
        defer { connection.recycle(partial) }
        // Values that were taken away so that others can have them must be written again.
        let isPartial = constraintsToRelease.isEmpty
        for index in indices {
            guard let head = updateHeads[index] else { continue }
            guard head.version < UInt32.max else {
                throw StoreError(
                    .limitExceeded,
                    "\(changes.updates.id(at: index)) was updated \(head.version) times; its versions are used up.")
            }
            let isLight = isPartial && head.keepsIndexedColumns
            let statement = isLight ? partial : full
            let hash = try changes.updates.withRecord(at: index) { (record) throws(StoreError) -> UInt64 in
                try statement.bind(
                    record, version: head.version + 1, columns: isLight ? light.columns : plan.columns, at: 1)
                while try statement.step() {}
                statement.reset()
                return record.storedContentHash
            }
            guard connection.changedRowCount == 1 else {
                throw StoreError(
                    .internalInconsistency,
                    "The update of \(changes.updates.id(at: index)) found no row; nothing was written.")
            }
            let entity = changes.updates.entityNumber(at: index)
            tally.entities[entity].remove(head.contentHash)
            tally.entities[entity].add(hash)
        }
    }

    mutating func writeInserts() throws(StoreError) {
        guard !changes.inserts.isEmpty else { return }
        hasChanged = true
        for table in lastKeys.indices where lastKeys[table] != nil {
            try connection.insert(changes.inserts, plan: schema.objectTables[table].writing, version: 1)
        }
        tally.add(changes.inserts)
        try store.raiseLastKeys(lastKeys, connection)
    }

    // MARK: Links

    mutating func writeLinks() throws(StoreError) {
        for batch in changes.removedLinks {
            let table = try linkTable(batch)
            for link in batch.links {
                let link = table.relationship.normalised(link)
                guard let old = try storedLink(link, in: table) else { continue }
                try connection.run(
                    "DELETE FROM \(table.quotedName) WHERE source = \(schema.dialect.parameter(1)) AND target = \(schema.dialect.parameter(2))",
                    .integer(link.source), .integer(link.target))
                tally.relationships[batch.relationship].remove(RecordHash.link(relationship: batch.relationship, old))
                hasChanged = true
            }
        }
        var known: Set<SQLObjectKey> = []
        for batch in changes.addedLinks {
            let table = try linkTable(batch)
            let relationship = table.relationship
            for link in batch.links {
                let link = relationship.normalised(link)
                try requireEnd(link.source, relationship.source, relationship, &known)
                try requireEnd(link.target, relationship.destination, relationship, &known)
                try add(link, to: table)
            }
        }
    }

    private func linkTable(_ batch: LinkBatch) throws(StoreError) -> SQLSchema.LinkTable {
        guard schema.linkTables.indices.contains(batch.relationship), let table = schema.linkTables[batch.relationship]
        else {
            throw StoreError(
                .invalidRequest,
                "The relationship with number \(batch.relationship) owns no links; nothing was written.")
        }
        return table
    }

    private func storedLink(_ link: Link, in table: SQLSchema.LinkTable) throws(StoreError) -> Link? {
        let sql =
            "SELECT \(SQLLinkColumns(isFlipped: false).list) FROM \(table.quotedName) WHERE source = \(schema.dialect.parameter(1)) AND target = \(schema.dialect.parameter(2))"
        return try connection.withStatement(sql) { (statement) throws(StoreError) -> Link? in
            try statement.bind([.integer(link.source), .integer(link.target)])
            return try statement.step() ? try Self.link(statement) : nil
        }
    }

    private mutating func add(_ link: Link, to table: SQLSchema.LinkTable) throws(StoreError) {
        let number = table.relationship.number
        let old = try storedLink(link, in: table)
        if old == link { return }
        hasChanged = true
        if let old { tally.relationships[number].remove(RecordHash.link(relationship: number, old)) }
        tally.relationships[number].add(RecordHash.link(relationship: number, link))
        let p = (1...4).map { schema.dialect.parameter($0) }
        let sql =
            old == nil
            ? "INSERT INTO \(table.quotedName) (source, target, \"order\", inverse_order) VALUES (\(p.joined(separator: ", ")))"
            : "UPDATE \(table.quotedName) SET \"order\" = \(p[2]), inverse_order = \(p[3]) WHERE source = \(p[0]) AND target = \(p[1])"
        try connection.run(
            sql, .integer(link.source), .integer(link.target), .integer(link.order), .integer(link.inverseOrder))
    }

    /// Makes sure that a link's end exists after the change, as an object of the right entity.
    private func requireEnd(
        _ key: Int64, _ entity: Int, _ relationship: ManagedObjectModel.Relationship, _ known: inout Set<SQLObjectKey>
    ) throws(StoreError) {
        let object = SQLObjectKey(table: schema.tableOfEntity[entity], key: key)
        // Whether it is of the right entity can differ between two relationships into one hierarchy only.
        let isRoot = model.entities[entity].superentity == nil
        if isRoot, known.contains(object) || inserted.contains(object) { return }
        guard let head = try head(object), model.entities[entity].includes(head.entity) else {
            throw StoreError(
                .objectNotFound,
                "A link of '\(relationship.name)' needs \(ObjectID(model.entities[entity].name, key)), which does not exist; nothing was written."
            )
        }
        if isRoot { known.insert(object) }
    }
}
