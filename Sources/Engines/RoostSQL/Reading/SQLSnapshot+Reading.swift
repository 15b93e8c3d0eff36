package import RoostCore

extension SQLSnapshot {
    package func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
        _ = try open()
        let entity = try model.requireEntity(entity)
        if let id {
            guard try model.requireEntity(id.entity).root == entity.root else {
                throw StoreError(
                    .invalidRequest,
                    "Records of '\(entity.name)' cannot continue after \(id), which is of another hierarchy.")
            }
        }
        let (plan, sql) = (schema.reading[entity.number], schema.reading.scanSQL(entity.number))
        // All keys are at least 1, so a scan after key 0 reads all records.
        let scan = SQLScan(restSQL: sql.rest, nextKeySQL: sql.nextKey, lastKey: max(0, id?.key ?? 0))
        let lease =
            if let id { try lease(sql.rest, values: [.integer(id.key)]) } else { try lease(sql.all, values: []) }
        return SQLRecordCursor(self, lease: lease, plan: plan, scan: scan)
    }

    package func records(with ids: [ObjectID]) throws(StoreError) -> any RecordCursor {
        try requireOpen()
        var known: EntityName?
        for id in ids where id.entity != known {
            _ = try lookup(id.entity)
            known = id.entity
        }
        return SQLRecordLookup(self, ids: ids)
    }

    package func record(with id: ObjectID, into batch: inout RecordBatch) throws(StoreError) -> Bool {
        try batch.requireModel(model)
        batch.removeAll()
        try requireOpen()
        let lookup = try lookup(id.entity)
        if let error = try lookup.access.look(
            up: id.key, into: &batch, plan: lookup.plan, accepting: acceptsChanges)
        {
            throw error
        }
        return !batch.isEmpty
    }

    package func links(of relationship: RelationshipName, after link: Link?) throws(StoreError) -> any LinkCursor {
        _ = try open()
        let relationship = try model.requireRelationship(relationship)
        guard case .links(let owner, let isFlipped) = relationship.storage, let table = schema.linkTables[owner] else {
            throw StoreError(
                .invalidRequest,
                "Relationship '\(relationship.name)' stores no links: references in records represent it.")
        }
        let (dialect, columns) = (schema.dialect, SQLLinkColumns(isFlipped: isFlipped))
        var condition = ""
        var values: [SQLValue] = []
        if let link = link.map({ model.relationships[owner].normalized($0, isFlipped: isFlipped) }) {
            let p = (1...3).map { dialect.parameter($0) }
            condition =
                " WHERE \(columns.source) >= \(p[0]) AND (\(columns.source) > \(p[0]) OR (\(columns.order), \(columns.target)) > (\(p[1]), \(p[2])))"
            values = [.integer(link.source), .integer(link.order), .integer(link.target)]
        }
        let sql =
            "SELECT \(columns.list) FROM \(table.quotedName)\(condition) ORDER BY \(columns.source), \(columns.order), \(columns.target)"
        return SQLLinkCursor(
            self, lease: try lease(sql, values: values), relationship: relationship.number, isScan: true)
    }

    package func links(of relationship: RelationshipName, from id: ObjectID) throws(StoreError) -> any LinkCursor {
        try requireOpen()
        let relationship = try model.requireRelationship(relationship)
        let source = try model.requireEntity(id.entity)
        let sql = try linkQuery(relationship, from: source)
        guard model.entities[relationship.source].includes(source.number) else {
            return SQLLinkCursor(self, lease: nil, relationship: relationship.number)
        }
        return SQLLinkCursor(self, lease: try lease(sql, values: [.integer(id.key)]), relationship: relationship.number)
    }

    package func groupedLinks(
        of relationship: ManagedObjectModel.Relationship, from ids: [ObjectID]
    ) throws(StoreError) -> any LinkCursor {
        try requireOpen()
        return SQLGroupedLinkCursor(self, relationship: relationship, ids: ids)
    }
}

extension SQLSchema {
    /// Returns a SELECT of one object's links in a to-many relationship.
    ///
    /// Parameter 1 is the object's key. The columns are source, target, order, inverse order. Rows
    /// are in the relationship's order if it has one, otherwise in key order, which an index can
    /// provide.
    ///
    /// `source` is the entity of the object; nil only for an object that exists. With `source`, a
    /// missing object has no links, even if other objects refer to it.
    ///
    /// - Throws: `invalidRequest` if the relationship is to-one.
    func linkQuery(
        _ relationship: ManagedObjectModel.Relationship, from source: ManagedObjectModel.Entity?
    ) throws(StoreError) -> String {
        let p = dialect.parameter(1)
        let exists =
            source.map { source in
                let sources = table(of: source.number)
                let filter = entityFilter(source.selfAndSubentities, in: sources).map { " AND \($0)" } ?? ""
                return " AND EXISTS (SELECT 1 FROM \(sources.quotedName) WHERE _id = \(p)\(filter))"
            } ?? ""
        switch relationship.storage {
        case .field:
            throw StoreError(
                .invalidRequest, "Relationship '\(relationship.name)' is to-one: its destination is in the record.")
        case .derived(let inverse):
            let (table, column, place) = try inverseColumns(model.relationships[inverse])
            return
                "SELECT \(column), _id, \(place.map { "COALESCE(\($0), 0)" } ?? "0"), 0 FROM \(table.quotedName) WHERE \(column) = \(p)\(exists) ORDER BY \(place == nil ? "2" : "3, 2")"
        case .links(let owner, let isFlipped):
            guard let table = linkTables[owner] else {
                throw StoreError(.internalInconsistency, "Relationship '\(relationship.name)' has no table.")
            }
            let (own, other) = (SQLLinkColumns(isFlipped: isFlipped), SQLLinkColumns(isFlipped: !isFlipped))
            let select = "SELECT \(own.list) FROM \(table.quotedName) WHERE \(own.source) = \(p)\(exists)"
            // A relationship that is its own inverse stores each pair once, so an object's links
            // include pairs in which the object is the target.
            let back =
                relationship.isReflexive
                ? " UNION ALL SELECT \(other.list) FROM \(table.quotedName) WHERE \(other.source) = \(p) AND source <> target\(exists)"
                : ""
            return "\(select)\(back) ORDER BY \(relationship.isOrdered ? "3, 2" : "2")"
        }
    }
}

/// The columns of a link table, seen from one end.
struct SQLLinkColumns {
    /// The column with a link's position, quoted because its name is an SQL keyword.
    static let order = "\"order\""

    let source: String
    let target: String
    let order: String
    let inverseOrder: String

    init(isFlipped: Bool) {
        (source, target) = isFlipped ? ("target", "source") : ("source", "target")
        (order, inverseOrder) = isFlipped ? ("inverse_order", Self.order) : (Self.order, "inverse_order")
    }

    var list: String { "\(source), \(target), \(order), \(inverseOrder)" }
}
