internal import RoostCore

extension SQLCommit {
    /// Throws `constraintViolation` if unique values of the change set belong to other objects.
    ///
    /// The error contains all violations. If the key of an inserted object is also in the store,
    /// the error is `duplicateObject` instead.
    mutating func checkConstraints() throws(StoreError) {
        var violations: [ConstraintViolation] = []
        for constraint in schema.constraints {
            let declaring = model.entities[constraint.constraint.entity]
            let claims =
                try claims(changes.updates, constraint: constraint) + claims(changes.inserts, constraint: constraint)
            var owners: [[UInt8]: ObjectID] = [:]
            // An object that keeps its values takes precedence over objects that claim them.
            for claim in claims where claim.isKept { owners[claim.values] = claim.id }
            for claim in claims {
                guard let holder = owners[claim.values] ?? claim.holder else {
                    owners[claim.values] = claim.id
                    continue
                }
                guard holder != claim.id else { continue }
                violations.append(
                    ConstraintViolation(
                        entity: declaring.name, attributes: constraint.constraint.attributes, rejected: claim.id,
                        existing: holder))
            }
        }
        guard violations.isEmpty else {
            try requireNoDuplicates()
            throw .constraintViolations(violations)
        }
    }

    private struct Claim {
        let id: ObjectID
        let values: [UInt8]
        /// The other object with these values in the store; nil if the change set updates or
        /// deletes it.
        var holder: ObjectID?
        /// Whether the object itself has the values in the store.
        var isKept = false
    }

    private mutating func claims(
        _ batch: RecordBatch, constraint: SQLSchema.Constraint
    ) throws(StoreError) -> [Claim] {
        let declaring = model.entities[constraint.constraint.entity]
        let query = SQLUniqueQuery(constraint, schema: schema)
        var claims: [Claim] = []
        for index in 0..<batch.count where declaring.includes(batch.entityNumber(at: index)) {
            let found = try batch.withRecord(at: index) {
                (record) throws(StoreError) -> (values: [UInt8], holders: [ObjectID])? in
                guard let fields = query.fields(of: record), let key = SQLUniqueQuery.key(fields, record: record) else {
                    return nil
                }
                return (key, try query.holders(fields, record: record, connection: connection))
            }
            guard let found else { continue }
            var claim = Claim(id: batch.id(at: index), values: found.values)
            for holder in found.holders {
                let place = ObjectPlace(root: declaring.root, key: holder.key)
                if holder.key == claim.id.key {
                    claim.isKept = true
                } else if PreparedChange.item(at: place, in: change.updates) != nil {
                    // The new values of this updated holder are among the claims. Its old values must be removed before
                    // other objects get them.
                    constraintsToRelease.insert(constraint.constraint.number)
                } else if claim.holder == nil, PreparedChange.item(at: place, in: change.deletes) == nil {
                    claim.holder = holder
                }
            }
            claims.append(claim)
        }
        return claims
    }

    /// Removes old unique values from updated objects, so that other objects can get these values.
    func releaseUniqueValues() throws(StoreError) {
        for constraint in schema.constraints where constraintsToRelease.contains(constraint.constraint.number) {
            let declaring = model.entities[constraint.constraint.entity]
            let settings = constraint.columns.map { "\($0) = NULL" }.joined(separator: ", ")
            let sql =
                "UPDATE \(constraint.table.quotedName) SET \(settings) WHERE _id = \(schema.dialect.parameter(1))"
            for index in 0..<changes.updates.count where declaring.includes(changes.updates.entityNumber(at: index)) {
                try connection.run(sql, .integer(changes.updates.key(at: index)))
            }
        }
    }
}

struct SQLUniqueQuery {
    private let constraint: SQLSchema.Constraint
    private let schema: SQLSchema
    private let sql: String

    init(_ constraint: SQLSchema.Constraint, schema: SQLSchema) {
        self.constraint = constraint
        self.schema = schema
        var conditions = constraint.scope.map { [$0] } ?? []
        for (index, column) in constraint.columns.enumerated() {
            conditions.append("\(column) = \(schema.dialect.parameter(index + 1))")
        }
        sql =
            "SELECT _id, _entity FROM \(constraint.table.quotedName) WHERE \(conditions.joined(separator: " AND ")) ORDER BY _id"
    }

    /// Returns the constraint's fields; nil if a value is null, because null violates nothing.
    func fields(of record: RecordReader) -> [RecordLayout.Field]? {
        var fields: [RecordLayout.Field] = []
        for name in constraint.constraint.attributes {
            guard let field = record.layout.field(name), !record.isNull(field) else { return nil }
            fields.append(field)
        }
        return fields
    }

    /// Returns bytes that are equal if and only if the database treats the values as equal.
    static func key(_ fields: [RecordLayout.Field], record: RecordReader) -> [UInt8]? {
        var key: [UInt8] = []
        for field in fields {
            switch field.kind {
            case .double, .float, .date:
                let number = record.double(field)
                // 0.0 and −0.0 are one value.
                withUnsafeBytes(of: number == 0 ? 0 : number.bitPattern) { key.append(contentsOf: $0) }
            case .reference, .polymorphicReference:
                withUnsafeBytes(of: record.integer(field)) { key.append(contentsOf: $0) }
            default:
                let bytes = record.bytes(field)
                withUnsafeBytes(of: bytes.count) { key.append(contentsOf: $0) }
                key.append(contentsOf: bytes)
            }
        }
        return key
    }

    func holders(
        _ fields: [RecordLayout.Field], record: RecordReader, connection: any SQLConnection
    ) throws(StoreError) -> [ObjectID] {
        try connection.withStatement(sql) { (statement) throws(StoreError) -> [ObjectID] in
            var position = 1
            for field in fields {
                try statement.bind(field, of: record, at: position)
                position += 1
                guard field.kind == .objectID else { continue }
                try statement.bind(.integer(Int64(record.reference(field)?.entity ?? -1)), at: position)
                position += 1
            }
            var holders: [ObjectID] = []
            while try statement.step() {
                let entity = Int(truncatingIfNeeded: try statement.integer(at: 1))
                let known = schema.model.entities.indices.contains(entity) ? entity : constraint.table.root
                holders.append(ObjectID(schema.model.entities[known].name, key: try statement.integer(at: 0)))
            }
            return holders
        }
    }
}
