public import RoostCore

extension SQLSnapshot {
    /// Reads the records of `entity` and its subentities in ascending key order, behind `id` if given.
    public func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
        _ = try open()
        let entity = try model.requireEntity(entity)
        var conditions: [String] = []
        var values: [SQLValue] = []
        if let id {
            guard try model.requireEntity(id.entity).root == entity.root else {
                throw StoreError(
                    .invalidRequest,
                    "Records of '\(entity.name)' cannot go on behind \(id), which is of another hierarchy.")
            }
            conditions.append("_id > \(schema.dialect.parameter(1))")
            values.append(.integer(id.key))
        }
        return try records(of: entity, entities: entity.selfAndSubentities, where: conditions, values)
    }

    /// Reads the records of some entities of a table in key order.
    func records(
        of entity: ManagedObjectModel.Entity, entities: [Int], where conditions: [String], _ values: [SQLValue],
        orderBy order: [String] = [], suffix: String = ""
    ) throws(StoreError) -> SQLRecordCursor {
        let plan = schema.reading[entity.number]
        let table = schema.table(of: entity.number)
        let all = conditions + (schema.entityFilter(entities, in: table).map { [$0] } ?? [])
        let filter = all.isEmpty ? "" : " WHERE " + all.joined(separator: " AND ")
        let sql =
            "SELECT \(plan.columnList) FROM \(table.quotedName)\(filter) ORDER BY \((order + ["_id"]).joined(separator: ", "))\(suffix)"
        return SQLRecordCursor(self, try lease(sql, values), plan: plan)
    }

    /// Reads the records with these IDs, in this order.
    ///
    /// IDs of objects that do not exist are left out.
    public func records(with ids: [ObjectID]) throws(StoreError) -> any RecordCursor {
        _ = try open()
        var known: EntityName?
        for id in ids where id.entity != known {
            _ = try model.requireEntity(id.entity)
            known = id.entity
        }
        return SQLRecordLookup(self, ids)
    }

    /// Reads all links of a to-many relationship that has no to-one inverse, behind `link` if given.
    public func links(of relationship: RelationshipName, after link: Link?) throws(StoreError) -> any LinkCursor {
        _ = try open()
        let relationship = try model.requireRelationship(relationship)
        guard case .links(let owner, let isFlipped) = relationship.storage, let table = schema.linkTables[owner] else {
            throw StoreError(
                .invalidRequest,
                "Relationship '\(relationship.name)' has no links of its own: it follows from a to-one relationship, which is in the records."
            )
        }
        let (dialect, columns) = (schema.dialect, SQLLinkColumns(isFlipped: isFlipped))
        var condition = ""
        var values: [SQLValue] = []
        if let link = link.map({ model.relationships[owner].normalised($0, isFlipped: isFlipped) }) {
            let p = (1...3).map { dialect.parameter($0) }
            condition =
                " WHERE \(columns.source) >= \(p[0]) AND (\(columns.source) > \(p[0]) OR (\(columns.order), \(columns.target)) > (\(p[1]), \(p[2])))"
            values = [.integer(link.source), .integer(link.order), .integer(link.target)]
        }
        let sql =
            "SELECT \(columns.list) FROM \(table.quotedName)\(condition) ORDER BY \(columns.source), \(columns.order), \(columns.target)"
        return SQLLinkCursor(self, try lease(sql, values), relationship: relationship.number)
    }

    /// Reads where the to-many `relationship` leads from one object, in its order, or in key order.
    public func links(of relationship: RelationshipName, from id: ObjectID) throws(StoreError) -> any LinkCursor {
        let connection = try open()
        let relationship = try model.requireRelationship(relationship)
        let source = try model.requireEntity(id.entity)
        let p = schema.dialect.parameter(1)
        let sql: String
        switch relationship.storage {
        case .field:
            throw StoreError(
                .invalidRequest, "Relationship '\(relationship.name)' is to-one: its destination is in the record.")
        case .derived(let inverse):
            let inverse = model.relationships[inverse]
            let entity = model.entities[inverse.source]
            let table = schema.table(of: entity.number)
            guard let field = entity.layout.field(inverse.name.name),
                let column = table.column(field, of: entity.number)
            else {
                throw StoreError(.internalInconsistency, "Relationship '\(inverse.name)' has no column.")
            }
            let order =
                entity.layout.field(RecordLayout.orderFieldName(of: inverse.name.name))
                .flatMap { table.column($0, of: entity.number) }.map { "COALESCE(\($0), 0)" } ?? "0"
            sql = "SELECT \(p), _id, \(order), 0 FROM \(table.quotedName) WHERE \(column) = \(p) ORDER BY 3, 2"
        case .links(let owner, let isFlipped):
            guard let table = schema.linkTables[owner] else {
                throw StoreError(.internalInconsistency, "Relationship '\(relationship.name)' has no table.")
            }
            let (own, other) = (SQLLinkColumns(isFlipped: isFlipped), SQLLinkColumns(isFlipped: !isFlipped))
            let select = "SELECT \(own.list) FROM \(table.quotedName) WHERE \(own.source) = \(p)"
            // Of a relationship that is its own inverse each pair is kept once; from the object it leads to, it leads back.
            let back =
                relationship.isReflexive
                ? " UNION ALL SELECT \(other.list) FROM \(table.quotedName) WHERE \(other.source) = \(p) AND source <> target"
                : ""
            sql = "\(select)\(back) ORDER BY 3, 2"
        }
        guard model.entities[relationship.source].includes(source.number), try exists(id, source, connection) else {
            return SQLLinkCursor(self, nil, relationship: relationship.number)
        }
        return SQLLinkCursor(self, try lease(sql, [.integer(id.key)]), relationship: relationship.number)
    }

    private func exists(
        _ id: ObjectID, _ entity: ManagedObjectModel.Entity, _ connection: any SQLConnection
    ) throws(StoreError) -> Bool {
        let table = schema.table(of: entity.number)
        let filter = schema.entityFilter(entity.selfAndSubentities, in: table).map { " AND \($0)" } ?? ""
        return try connection.integer(
            "SELECT 1 FROM \(table.quotedName) WHERE _id = \(schema.dialect.parameter(1))\(filter)", .integer(id.key))
            != nil
    }
}

/// The columns of a link table, seen from one end.
struct SQLLinkColumns {
    let source: String
    let target: String
    let order: String
    let inverseOrder: String

    init(isFlipped: Bool) {
        (source, target) = isFlipped ? ("target", "source") : ("source", "target")
        (order, inverseOrder) = isFlipped ? ("inverse_order", "\"order\"") : ("\"order\"", "inverse_order")
    }

    var list: String { "\(source), \(target), \(order), \(inverseOrder)" }
}
