internal import RoostCore

/// A search for objects with the same unique values, in tables or in a batch to load.
struct SQLViolations {
    private let schema: SQLSchema
    private let connection: any SQLConnection
    /// The maximum number of named pairs.
    private static let maximumCount = 1000

    init(_ schema: SQLSchema, connection: any SQLConnection) {
        self.schema = schema
        self.connection = connection
    }

    /// Returns an error with the pairs of objects that have the same unique values.
    ///
    /// The first object of a pair is in `batch`, the second in `batch` or in the tables. Returns
    /// `original` if the search fails or finds nothing.
    func error(loading batch: RecordBatch, original: StoreError) -> StoreError {
        var violations: [ConstraintViolation] = []
        do throws(StoreError) {
            for constraint in schema.constraints {
                let declaring = schema.model.entities[constraint.constraint.entity]
                let query = SQLUniqueQuery(constraint, schema: schema)
                var owners: [[UInt8]: ObjectID] = [:]
                for index in 0..<batch.count where declaring.includes(batch.entityNumber(at: index)) {
                    let id = batch.id(at: index)
                    let existing = try batch.withRecord(at: index) { (record) throws(StoreError) -> ObjectID? in
                        guard let fields = query.fields(of: record),
                            let key = SQLUniqueQuery.key(fields, record: record)
                        else {
                            return nil
                        }
                        if let owner = owners[key] { return owner }
                        owners[key] = id
                        return try query.holders(fields, record: record, connection: connection).first {
                            $0.key != id.key
                        }
                    }
                    if let existing { violations.append(violation(constraint, rejected: id, existing: existing)) }
                }
            }
        } catch {
            return original
        }
        return Self.error(violations, original: original)
    }

    /// Returns an error with the pairs of objects that prevent a unique index, or `original`.
    func errorInTables(_ original: StoreError) throws(StoreError) -> StoreError {
        let found = try violations(of: schema.constraints)
        return Self.error(found.named, furtherCount: found.furtherCount, original: original)
    }

    func requireUnique(_ constraints: [SQLSchema.Constraint]) throws(StoreError) {
        let found = try violations(of: constraints)
        guard found.named.isEmpty else {
            throw .constraintViolations(found.named, furtherCount: found.furtherCount)
        }
    }

    /// Returns up to ``maximumCount`` pairs of objects, and the number of further pairs.
    private func violations(
        of constraints: [SQLSchema.Constraint]
    ) throws(StoreError) -> (named: [ConstraintViolation], furtherCount: Int) {
        var named: [ConstraintViolation] = []
        var furtherCount = 0
        for constraint in constraints {
            let columns = constraint.columns.joined(separator: ", ")
            let conditions = constraint.columns.map { "\($0) IS NOT NULL" } + (constraint.scope.map { [$0] } ?? [])
            let sql =
                "SELECT _id, _entity, \(columns) FROM \(constraint.table.quotedName) WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(columns), _id"
            try connection.withRows(sql) { (statement) throws(StoreError) in
                var first: (id: ObjectID, values: [SQLValue])?
                while try statement.step() {
                    let entity = Int(truncatingIfNeeded: try statement.integer(at: 1))
                    let known = schema.model.entities.indices.contains(entity) ? entity : constraint.table.root
                    let id = ObjectID(schema.model.entities[known].name, key: try statement.integer(at: 0))
                    var values: [SQLValue] = []
                    for column in constraint.columns.indices { values.append(try statement.value(at: column + 2)) }
                    guard let old = first, old.values == values else {
                        first = (id, values)
                        continue
                    }
                    if named.count < Self.maximumCount {
                        named.append(violation(constraint, rejected: id, existing: old.id))
                    } else {
                        furtherCount += 1
                    }
                }
            }
        }
        return (named, furtherCount)
    }

    private func violation(_ constraint: SQLSchema.Constraint, rejected: ObjectID, existing: ObjectID)
        -> ConstraintViolation
    {
        ConstraintViolation(
            entity: schema.model.entities[constraint.constraint.entity].name,
            attributes: constraint.constraint.attributes, rejected: rejected, existing: existing)
    }

    private static func error(
        _ violations: [ConstraintViolation], furtherCount: Int = 0, original: StoreError
    ) -> StoreError {
        violations.isEmpty
            ? original
            : .constraintViolations(violations, furtherCount: furtherCount, underlying: original.underlying)
    }
}
