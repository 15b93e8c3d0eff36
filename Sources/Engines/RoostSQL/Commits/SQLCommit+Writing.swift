internal import RoostCore

extension SQLCommit {
    mutating func deleteObjects() throws(StoreError) {
        for (item, head) in zip(change.deletes, deleteHeads) {
            guard let head else { continue }
            let table = schema.table(of: item.place.root)
            try connection.run(
                "DELETE FROM \(table.quotedName) WHERE _id = \(schema.dialect.parameter(1))",
                .integer(item.place.key))
            guard connection.changedRowCount == 1 else {
                throw StoreError(
                    .internalInconsistency, "The row of \(change.id(item)) was not removed; nothing was written.")
            }
            tally.entities[head.entity].remove(head.contentHash)
            hasChanged = true
            for case let links? in schema.linkTables {
                let relationship = links.relationship
                if model.entities[relationship.source].root == table.root {
                    try deleteLinks(of: item, atSource: true, in: links)
                }
                if model.entities[relationship.destination].root == table.root {
                    try deleteLinks(of: item, atSource: false, in: links)
                }
            }
        }
    }

    private mutating func deleteLinks(
        of item: PreparedChange.Item, atSource isSource: Bool, in table: SQLSchema.LinkTable
    ) throws(StoreError) {
        let p = schema.dialect.parameter(1)
        let end = isSource ? "source" : "target"
        let removed = try connection.withStatement(
            writer.locking(
                "SELECT \(SQLLinkColumns(isFlipped: false).list) FROM \(table.quotedName) WHERE \(end) = \(p)",
                lock: .change)
        ) { (statement) throws(StoreError) -> [Link] in
            try statement.bind(.integer(item.place.key), at: 1)
            var links: [Link] = []
            while try statement.step() { links.append(try Self.link(statement)) }
            return links
        }
        guard !removed.isEmpty else { return }
        let number = table.relationship.number
        for link in removed {
            if changes.requiresUnlinkedDeletes {
                try deny(item, link: link, of: table.relationship, isSource: isSource)
            }
            tally.relationships[number].remove(RecordHash.link(link, of: number))
        }
        try connection.run("DELETE FROM \(table.quotedName) WHERE \(end) = \(p)", .integer(item.place.key))
    }

    /// Adds a denial if the object at the link's other end remains and refers to the deleted
    /// object.
    private mutating func deny(
        _ item: PreparedChange.Item, link: Link, of owner: ManagedObjectModel.Relationship, isSource: Bool
    ) throws(StoreError) {
        // A remaining source refers to the deleted object through the relationship itself, a remaining target through
        // the inverse, if any.
        guard let back = isSource ? owner.inverse : owner.number else { return }
        let (entity, key) = isSource ? (owner.destination, link.target) : (owner.source, link.source)
        let place = ObjectPlace(root: model.entities[entity].root, key: key)
        let relationship = model.relationships[back]
        guard PreparedChange.item(at: place, in: change.deletes) == nil,
            !denials.contains(item, relationship: relationship),
            let head = try head(place)
        else { return }
        let remaining = ObjectID(model.entities[head.entity].name, key: key)
        denials.append(item, relationship: relationship, remaining: remaining, in: change)
    }

    /// Adds a denial for each deleted object and to-one relationship that still refers to it.
    ///
    /// Call this method after all rows are written and deleted.
    mutating func findReferences() throws(StoreError) {
        for relationship in model.relationships where relationship.storage == .field {
            let (source, destination) = (
                model.entities[relationship.source], model.entities[relationship.destination]
            )
            let table = schema.table(of: source.number)
            guard let field = source.layout.field(relationship.name.name),
                let column = table.column(field, of: source.number)
            else { continue }
            let p = schema.dialect.parameter(1)
            let sql =
                "SELECT _id, _entity FROM \(table.quotedName) WHERE \(column) = \(p) \(schema.dialect.limit("1", offset: nil))"
            for item in change.deletes where destination.includes(item.entity) {
                let found = try connection.withStatement(sql) { (statement) throws(StoreError) -> ObjectID? in
                    try statement.bind(.integer(item.place.key), at: 1)
                    guard try statement.step() else { return nil }
                    let (key, entity) = (try statement.integer(at: 0), try statement.integer(at: 1))
                    let number = Int(exactly: entity).flatMap { model.entities.indices.contains($0) ? $0 : nil }
                    return ObjectID(model.entities[number ?? table.root].name, key: key)
                }
                if let found {
                    denials.append(item, relationship: relationship, remaining: found, in: change)
                }
            }
        }
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
        while start < change.updates.count {
            let end = endOfTable(start)
            let table = schema.tableOfEntity[change.updates[start].place.root]
            try writer.writingLockedRows { () throws(StoreError) in
                try writeUpdates(start..<end, plan: schema.objectTables[table].writing, light: schema.updating[table])
            }
            start = end
        }
    }

    private mutating func writeUpdates(
        _ range: Range<Int>, plan: SQLWritePlan, light: SQLUpdatePlan
    ) throws(StoreError) {
        let full = SQLRecordAccess(try connection.statement(plan.updateSQL))
        defer { connection.recycle(full.statement) }
        let partial = SQLRecordAccess(try connection.statement(light.updateSQL))
        defer { connection.recycle(partial.statement) }
        // If unique values were released, each update must write all columns to restore them.
        let isPartial = constraintsToRelease.isEmpty
        for order in range {
            guard let head = updateHeads[order] else { continue }
            let item = change.updates[order]
            guard head.version < UInt32.max else { throw .usedUpVersions(change.id(item), version: head.version) }
            let isLight = isPartial && head.keepsIndexedColumns
            let access = isLight ? partial : full
            let hash = try changes.updates.withRecord(at: item.position) { (record) throws(StoreError) -> UInt64 in
                try access.bind(
                    record, version: head.version + 1, columns: isLight ? light.columns : plan.columns, at: 1)
                while try access.statement.step() {}
                access.statement.reset()
                return record.storedContentHash
            }
            guard writer.locks != nil || connection.changedRowCount == 1 else {
                throw StoreError(
                    .internalInconsistency,
                    "The update of \(change.id(item)) found no row; nothing was written.")
            }
            tally.entities[item.entity].remove(head.contentHash)
            tally.entities[item.entity].add(hash)
        }
    }

    mutating func writeInserts() throws(StoreError) {
        guard !changes.inserts.isEmpty else { return }
        hasChanged = true
        for table in lastKeys.indices where lastKeys[table] != nil {
            try connection.insertRecords(changes.inserts, plan: schema.objectTables[table].writing, version: 1)
        }
        tally.add(changes.inserts)
        if history != nil {
            for item in change.inserts { history?.insert(item.place.key, entity: item.entity) }
        }
        try store.raiseLastKeys(lastKeys, writer: writer)
    }

    // MARK: Links

    mutating func removeLinks() throws(StoreError) {
        for batch in change.removedLinks {
            let table = try linkTable(batch)
            for link in batch.links {
                guard let old = try storedLink(link, in: table) else { continue }
                try connection.run(
                    "DELETE FROM \(table.quotedName) WHERE source = \(schema.dialect.parameter(1)) AND target = \(schema.dialect.parameter(2))",
                    .integer(link.source), .integer(link.target))
                tally.relationships[batch.relationship].remove(RecordHash.link(old, of: batch.relationship))
                history?.link(old, of: batch.relationship, isAdded: false)
                hasChanged = true
            }
        }
    }

    mutating func addLinks() throws(StoreError) {
        for batch in change.addedLinks {
            let table = try linkTable(batch)
            for link in batch.links { try add(link, to: table) }
        }
    }

    private func linkTable(_ batch: LinkBatch) throws(StoreError) -> SQLSchema.LinkTable {
        guard schema.linkTables.indices.contains(batch.relationship), let table = schema.linkTables[batch.relationship]
        else {
            throw StoreError(
                .internalInconsistency, "The relationship with number \(batch.relationship) has no table.")
        }
        return table
    }

    private func storedLink(_ link: Link, in table: SQLSchema.LinkTable) throws(StoreError) -> Link? {
        let sql =
            "SELECT \(SQLLinkColumns(isFlipped: false).list) FROM \(table.quotedName) WHERE source = \(schema.dialect.parameter(1)) AND target = \(schema.dialect.parameter(2))"
        return try connection.withStatement(writer.locking(sql, lock: .change)) {
            (statement) throws(StoreError) -> Link? in
            try statement.bind([.integer(link.source), .integer(link.target)])
            return try statement.step() ? try Self.link(statement) : nil
        }
    }

    private mutating func add(_ link: Link, to table: SQLSchema.LinkTable) throws(StoreError) {
        let number = table.relationship.number
        let old = try storedLink(link, in: table)
        if old == link { return }
        hasChanged = true
        history?.link(link, of: number, isAdded: true)
        if let old { tally.relationships[number].remove(RecordHash.link(old, of: number)) }
        tally.relationships[number].add(RecordHash.link(link, of: number))
        let p = (1...4).map { schema.dialect.parameter($0) }
        let sql =
            old == nil
            ? "INSERT INTO \(table.quotedName) (\(SQLLinkColumns(isFlipped: false).list)) VALUES (\(p.joined(separator: ", ")))"
            : "UPDATE \(table.quotedName) SET \(SQLLinkColumns.order) = \(p[2]), inverse_order = \(p[3]) WHERE source = \(p[0]) AND target = \(p[1])"
        try connection.run(
            sql, .integer(link.source), .integer(link.target), .integer(link.order), .integer(link.inverseOrder))
    }

    /// Throws `objectNotFound` if a required object or an end of an added link does not exist or
    /// has the wrong entity.
    ///
    /// Call this method after the rows of the change are written and deleted.
    func requireObjects() throws(StoreError) {
        var missing = MissingObjects()
        // Objects are locked in the order of hierarchy and key, but reported in the order of the change set.
        var entities: [ObjectPlace: Int] = [:]
        for item in inLockOrder(change.existing) {
            entities[item.place] = try head(item.place, locking: .existence)?.entity
        }
        for item in change.existing where entities[item.place] != item.entity { missing.append(change.id(item)) }
        var known: Set<ObjectPlace> = []
        for batch in change.addedLinks {
            let relationship = model.relationships[batch.relationship]
            for link in batch.links {
                try find(link.source, at: relationship.source, of: relationship, known: &known, missing: &missing)
                try find(link.target, at: relationship.destination, of: relationship, known: &known, missing: &missing)
            }
        }
        try missing.throwIfAny()
    }

    private func find(
        _ key: Int64, at entity: Int, of relationship: ManagedObjectModel.Relationship,
        known: inout Set<ObjectPlace>, missing: inout MissingObjects
    ) throws(StoreError) {
        let entity = model.entities[entity]
        let place = ObjectPlace(root: entity.root, key: key)
        // The root entity includes all objects of a hierarchy, so a known object needs no look-up.
        let isRoot = entity.superentity == nil
        if isRoot, known.contains(place) || PreparedChange.item(at: place, in: change.inserts) != nil { return }
        guard let head = try head(place, locking: .existence), entity.includes(head.entity) else {
            return missing.append(endOf: relationship, entity: entity, key: key)
        }
        if isRoot { known.insert(place) }
    }
}
