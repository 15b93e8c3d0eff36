internal import RoostCore

/// The related objects of an SQL store, read by statements that stay prepared.
final class SQLObjectGraph: ObjectGraph {
    private let snapshot: SQLSnapshot
    /// The statements that read the destinations of one object, by relationship number.
    private var leases: [SQLLease?]

    init(_ snapshot: SQLSnapshot) {
        self.snapshot = snapshot
        leases = [SQLLease?](repeating: nil, count: snapshot.model.relationships.count)
    }

    deinit { for case let lease? in leases { snapshot.end(lease) } }

    func read(_ keys: [Int64], inHierarchyOf root: Int, into batch: inout RecordBatch) throws(StoreError) {
        batch.removeAll()
        try snapshot.requireOpen()
        let lookup = try snapshot.lookup(snapshot.model.entities[root].name)
        for key in keys {
            if let error = try lookup.access.look(
                up: key, into: &batch, plan: lookup.plan, accepting: snapshot.acceptsChanges)
            {
                throw error
            }
        }
    }

    func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
    ) throws(StoreError) {
        try snapshot.requireOpen()
        let statement = try statement(for: relationship)
        defer { statement.reset() }
        try statement.bind(.integer(key), at: 1)
        while try statement.step() { keys.append(try statement.integer(at: 1)) }
    }

    private func statement(
        for relationship: ManagedObjectModel.Relationship
    ) throws(StoreError) -> any SQLStatement {
        if let known = leases[relationship.number] {
            guard let statement = known.statement else {
                throw StoreError(.internalInconsistency, "A statement was taken away from an open snapshot.")
            }
            return statement
        }
        let lease = try snapshot.lease(
            try snapshot.schema.linkQuery(relationship, from: nil), values: [], isRepeated: true)
        leases[relationship.number] = lease
        return try self.statement(for: relationship)
    }
}

extension SQLSchema {
    /// Returns the columns of a to-one relationship whose inverse is to-many.
    ///
    /// If the to-many relationship is ordered, `place` is the column with the object's position.
    func inverseColumns(
        _ inverse: ManagedObjectModel.Relationship
    ) throws(StoreError) -> (table: SQLTable, column: String, place: String?) {
        let entity = model.entities[inverse.source]
        let table = table(of: entity.number)
        guard let field = entity.layout.field(inverse.name.name), let column = table.column(field, of: entity.number)
        else {
            throw StoreError(.internalInconsistency, "Relationship '\(inverse.name)' has no column.")
        }
        let place = entity.layout.field(RecordLayout.orderFieldName(of: inverse.name.name))
            .flatMap { table.column($0, of: entity.number) }
        return (table, column, place)
    }
}
