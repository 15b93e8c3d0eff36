internal import RoostCore

/// Finds the objects that have or claim the same unique values.
struct SQLViolations {
    private let schema: SQLSchema
    private let connection: any SQLConnection
    /// The maximum number of pairs that a search of the tables finds.
    private static let maximumCount = 1000

    init(_ schema: SQLSchema, connection: any SQLConnection) {
        self.schema = schema
        self.connection = connection
    }

    /// Returns the error for a batch whose unique values collide, with the pairs of objects;
    /// `original` if it finds no pair.
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

    /// Returns the error for tables whose unique index cannot be created, with the pairs of
    /// objects.
    func errorInTables(_ original: StoreError) throws(StoreError) -> StoreError {
        Self.error(try violations(of: schema.constraints), original: original)
    }

    /// Throws `constraintViolation` if several objects have the same unique values.
    func requireUnique(_ constraints: [SQLSchema.Constraint]) throws(StoreError) {
        let violations = try violations(of: constraints)
        guard violations.isEmpty else { throw .constraintViolations(violations) }
    }

    /// Finds violations by reading the values of each constraint in order.
    private func violations(of constraints: [SQLSchema.Constraint]) throws(StoreError) -> [ConstraintViolation] {
        var violations: [ConstraintViolation] = []
        for constraint in constraints {
            let columns = constraint.columns.joined(separator: ", ")
            let conditions = constraint.columns.map { "\($0) IS NOT NULL" } + (constraint.scope.map { [$0] } ?? [])
            let sql =
                "SELECT _id, _entity, \(columns) FROM \(constraint.table.quotedName) WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(columns), _id"
            try connection.withRows(sql) { (statement) throws(StoreError) in
                var first: (id: ObjectID, values: [SQLValue])?
                while try statement.step(), violations.count < Self.maximumCount {
                    let entity = Int(truncatingIfNeeded: try statement.integer(at: 1))
                    let known = schema.model.entities.indices.contains(entity) ? entity : constraint.table.root
                    let id = ObjectID(schema.model.entities[known].name, key: try statement.integer(at: 0))
                    var values: [SQLValue] = []
                    for column in constraint.columns.indices { values.append(try statement.value(at: column + 2)) }
                    if let first, first.values == values {
                        violations.append(violation(constraint, rejected: id, existing: first.id))
                    } else {
                        first = (id, values)
                    }
                }
            }
        }
        return violations
    }

    private func violation(_ constraint: SQLSchema.Constraint, rejected: ObjectID, existing: ObjectID)
        -> ConstraintViolation
    {
        ConstraintViolation(
            entity: schema.model.entities[constraint.constraint.entity].name,
            attributes: constraint.constraint.attributes, rejected: rejected, existing: existing)
    }

    private static func error(_ violations: [ConstraintViolation], original: StoreError) -> StoreError {
        violations.isEmpty ? original : .constraintViolations(violations, underlying: original.underlying)
    }
}
