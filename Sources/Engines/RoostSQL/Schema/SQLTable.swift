package import RoostCore

/// A column for a field, or for a part of a field, of an entity and its subentities.
struct SQLColumn {
    /// The group of a column, which determines the column's position.
    ///
    /// To read a column, a database also scans the preceding columns of the row, so short columns
    /// come first. No condition contains `_version` or `_checksum`, so these columns come after the
    /// text.
    enum Place {
        case number, text, uuid, data
    }

    let name: String
    let quotedName: String
    let definition: String
    let place: Place
}

/// The columns of a field of one entity.
struct SQLFieldColumns {
    /// The position of the value's column among the table's property columns.
    ///
    /// The value of a reference is the destination's key.
    let column: Int
    /// The position of the column with the entity number, or nil.
    let entityColumn: Int?
}

/// The table of one entity hierarchy.
final class SQLTable: Sendable {
    let root: Int
    let name: String
    let quotedName: String
    /// The property columns; the columns of a superentity precede the columns of its subentities.
    let columns: [SQLColumn]
    /// The columns of fields, by entity number and field index; nil for entities of other
    /// hierarchies.
    let fields: [[SQLFieldColumns]?]
    /// The order of the columns in the table.
    ///
    /// The numbers 0 to 3 mean `_id`, `_entity`, `_version` and `_checksum`. The number 4 + *n*
    /// means `columns[n]`.
    private let order: [Int]
    let writing: SQLWritePlan

    init(
        root: Int, name: String, columns: [SQLColumn], fields: [[SQLFieldColumns]?], model: ManagedObjectModel,
        dialect: any SQLDialect, checksum: SQLChecksum
    ) {
        self.root = root
        self.name = name
        quotedName = dialect.quote(name)
        self.columns = columns
        self.fields = fields
        order = Self.order(columns, entityCount: fields.count { $0 != nil })
        writing = SQLWritePlan(
            model: model, table: dialect.quote(name), columns: columns.map(\.quotedName), order: order, fields: fields,
            dialect: dialect, checksum: checksum)
    }

    private static func order(_ columns: [SQLColumn], entityCount: Int) -> [Int] {
        func properties(_ place: SQLColumn.Place) -> [Int] {
            columns.indices.filter { columns[$0].place == place }.map { $0 + SQLRowColumns.systemColumnCount }
        }
        // If the table has only one entity, no condition contains `_entity`.
        let (early, late) = entityCount > 1 ? ([1], [2, 3]) : ([], [1, 2, 3])
        return [0] + properties(.number) + early + properties(.text) + late + properties(.uuid) + properties(.data)
    }

    func definitions(_ dialect: any SQLDialect) -> [String] {
        let system = ["_entity", "_version", "_checksum"].map { "\($0) \(dialect.integerType) NOT NULL" }
        let all = [dialect.keyColumn("_id")] + system + columns.map(\.definition)
        return order.map { all[$0] }
    }

    /// Returns whether all fields of all entities have the same column names in another table.
    func holdsFields(like other: SQLTable) -> Bool {
        func names(_ table: SQLTable) -> [[String?]?] {
            table.fields.map { places in
                places?.flatMap { place in
                    [table.columns[place.column].name, place.entityColumn.map { table.columns[$0].name }]
                }
            }
        }
        let (own, others) = (names(self), names(other))
        // One model may have more entities than the other.
        return (0..<max(own.count, others.count)).allSatisfy { number in
            (own.indices.contains(number) ? own[number] : nil)
                == (others.indices.contains(number) ? others[number] : nil)
        }
    }

    /// Returns the quoted name of a field's column.
    func column(_ field: RecordLayout.Field, of entity: Int) -> String? {
        fields[entity].map { columns[$0[field.index].column].quotedName }
    }

    /// Returns the quoted name of the column with a field's entity number, or nil.
    func entityColumn(_ field: RecordLayout.Field, of entity: Int) -> String? {
        fields[entity].flatMap { $0[field.index].entityColumn }.map { columns[$0].quotedName }
    }
}

/// The mapping of one field between a record and a row.
package struct SQLStep: Sendable {
    package let kind: RecordLayout.Field.Kind
    /// The offset of the record's byte with the field's null bit.
    package let nullByte: Int32
    package let nullMask: UInt8
    /// The offset of the field's slot in the record.
    package let byteOffset: Int32
    /// The position of the column in the row; −1 if the column is omitted.
    package let column: Int32
    /// The position of the column with the entity number; −1 without this column.
    package let entityColumn: Int32
    package let fieldIndex: Int32

    /// The number of the destination entity, for references; otherwise −1.
    package let destination: Int32

    /// Creates a step for a single field in column 0.
    package init(_ field: RecordLayout.Field) { self.init(field, column: 0, entityColumn: nil) }

    init(_ field: RecordLayout.Field, column: Int, entityColumn: Int?) {
        destination = Int32(truncatingIfNeeded: field.destination ?? -1)
        kind = field.kind
        nullByte = Int32(truncatingIfNeeded: RecordLayout.Header.bitmap + field.index / 8)
        nullMask = 1 << UInt8(field.index % 8)
        byteOffset = Int32(truncatingIfNeeded: field.byteOffset)
        self.column = Int32(truncatingIfNeeded: column)
        self.entityColumn = Int32(truncatingIfNeeded: entityColumn ?? -1)
        fieldIndex = Int32(truncatingIfNeeded: field.index)
    }
}

/// A plan for converting rows of a SELECT to records of one entity and its subentities.
package final class SQLReadPlan: Sendable {
    /// A plan for converting rows of one entity to records.
    package final class Entity: Sendable {
        package let number: Int
        /// The fixed part of a record, with a header and without null fields.
        package let template: [UInt8]
        /// The fields in the order of the layout, which is also their order in a record's tail.
        package let steps: [SQLStep]

        init(_ layout: RecordLayout, steps: [SQLStep]) {
            var template = layout.template
            for index in 0..<(layout.fields.count + 7) / 8 { template[RecordLayout.Header.bitmap + index] = 0 }
            number = layout.entityNumber
            self.template = template
            self.steps = steps
        }
    }

    package let model: ManagedObjectModel
    /// The number of the requested entity.
    package let entity: Int
    /// The plans by entity number; nil for entities that cannot occur in the rows.
    package let entities: [Entity?]
    /// The columns of the SELECT: `_id`, `_entity`, `_version`, `_checksum`, then the property
    /// columns.
    package let columnList: String
    package let checksum: SQLChecksum
    /// The SELECT of ``columnList`` from the table; conditions can follow.
    let selectSQL: String
    /// ``selectSQL`` with the table alias `t0`; JOINs and conditions can follow.
    let qualifiedSQL: String
    /// Whether a polymorphic reference may refer to an entity, by destination number, then entity
    /// number.
    private let allowedDestinations: [[Bool]?]

    /// The number of columns before the property columns.
    package static let systemColumnCount = 4

    init(entity: ManagedObjectModel.Entity, in table: SQLTable, model: ManagedObjectModel, checksum: SQLChecksum) {
        self.model = model
        self.checksum = checksum
        self.entity = entity.number
        var used = [Int?](repeating: nil, count: table.columns.count)
        var list = ["_id", "_entity", "_version", "_checksum"]
        func position(_ column: Int) -> Int {
            if let known = used[column] { return known }
            used[column] = list.count
            list.append(table.columns[column].quotedName)
            return list.count - 1
        }
        var entities = [Entity?](repeating: nil, count: model.entities.count)
        var allowed = [[Bool]?](repeating: nil, count: model.entities.count)
        for number in entity.selfAndSubentities where !model.entities[number].isAbstract {
            let layout = model.entities[number].layout
            guard let columns = table.fields[number] else { continue }
            let steps = layout.fields.map { field in
                if field.kind == .polymorphicReference, let destination = field.destination, allowed[destination] == nil
                {
                    allowed[destination] = model.entities.indices.map { model.entities[destination].includes($0) }
                }
                return SQLStep(
                    field, column: position(columns[field.index].column),
                    entityColumn: columns[field.index].entityColumn.map(position))
            }
            entities[number] = Entity(layout, steps: steps)
        }
        self.entities = entities
        allowedDestinations = allowed
        columnList = list.joined(separator: ", ")
        selectSQL = "SELECT \(columnList) FROM \(table.quotedName)"
        qualifiedSQL = "SELECT \(list.map { "t0.\($0)" }.joined(separator: ", ")) FROM \(table.quotedName) AS t0"
    }

    /// Returns whether a reference or an object ID may refer to the entity with the given number.
    package func allows(_ entity: Int64, at step: SQLStep) -> Bool {
        guard entity >= 0, entity < Int64(model.entities.count) else { return false }
        guard step.destination >= 0 else { return true }
        return allowedDestinations[Int(step.destination)]?[Int(entity)] ?? false
    }

    /// Returns the error for a row with invalid values, with the ID of the object.
    ///
    /// `entity` is nil if the row has no valid entity. `reason` is text that can follow the
    /// property's name.
    @inline(never)
    package func damaged(key: Int64, entity: Int?, field: Int32? = nil, reason: String) -> StoreError {
        let known = model.entities[entity ?? self.entity]
        let id = ObjectID(known.name, key: key)
        let property = field.map { known.layout.fields[Int($0)].name }.map { "property '\($0)' " } ?? ""
        return StoreError(
            .corrupted,
            "The row of \(id) cannot be read: \(property)\(reason). Repair it with an SQL tool, or convert the store without its damaged objects (roost convert --skip-damaged).",
            damagedObject: id)
    }

    /// Returns the error for a row whose values do not match its checksum, with the ID of the
    /// object.
    @inline(never)
    package func changed(key: Int64, entity: Int) -> StoreError {
        let id = ObjectID(model.entities[entity].name, key: key)
        return StoreError(
            .corrupted,
            "\(id) does not match its checksum: it was damaged, or changed by another program. 'roost check' lists all such objects. For changes that were made on purpose, use --accept-changes, or 'roost check --accept' to keep them.",
            damagedObject: id)
    }

    /// Returns the error for a value that is too large for the connection, with the object's ID.
    @inline(never)
    func tooLarge(key: Int64, error: StoreError) -> StoreError {
        let id = ObjectID(model.entities[entity].name, key: key)
        return error.withMessage(
            "\(id) has a value that is larger than the option maximumValueBytes allows; open the store with a larger maximumValueBytes."
        ).naming(damagedObject: id)
    }
}

/// The assignment of a record's fields to the parameters of a statement.
///
/// The parameters are key, entity, version, checksum, then one for each property column.
package struct SQLRowColumns: Sendable {
    /// The steps for all fields, by entity number; nil for entities of other hierarchies.
    ///
    /// The column of a field without a parameter is −1.
    package let entities: [[SQLStep]?]
    /// The columns that no field of an entity fills, by entity number.
    package let unused: [[Int32]]
    package let count: Int
    package let checksum: SQLChecksum

    /// The number of parameters before the properties.
    package static let systemColumnCount = 4

    /// Creates an assignment.
    ///
    /// For each property column of the table, `positions` has its position among the statement's
    /// property columns, or nil if the statement omits it.
    init(_ positions: [Int?], fields: [[SQLFieldColumns]?], model: ManagedObjectModel, checksum: SQLChecksum) {
        self.checksum = checksum
        count = positions.count { $0 != nil }
        var steps = model.entities.map { _ in [SQLStep]?.none }
        var unused = model.entities.map { _ in [Int32]() }
        for entity in model.entities {
            guard let places = fields[entity.number] else { continue }
            steps[entity.number] = entity.layout.fields.map { field in
                let place = places[field.index]
                return SQLStep(
                    field, column: positions[place.column] ?? -1,
                    entityColumn: place.entityColumn.flatMap { positions[$0] })
            }
            var isUsed = [Bool](repeating: false, count: positions.count)
            for place in places {
                isUsed[place.column] = true
                if let entityColumn = place.entityColumn { isUsed[entityColumn] = true }
            }
            unused[entity.number] = positions.indices.filter { !isUsed[$0] }
                .compactMap { positions[$0].map { Int32(truncatingIfNeeded: $0) } }
        }
        entities = steps
        self.unused = unused
    }
}

/// A plan for converting records of a hierarchy to rows of its table.
package final class SQLWritePlan: Sendable {
    package let columns: SQLRowColumns
    /// The maximum number of rows of an INSERT statement.
    package let rowsPerInsert: Int
    /// The text `table (a, b)`: the table, and its columns in the order of the parameters.
    package let target: String
    /// The INSERT of one row, with parameters in the order of the columns.
    package let insertOneSQL: String
    /// The INSERT of ``rowsPerInsert`` rows, with parameters row by row.
    package let insertManySQL: String
    /// The UPDATE of one row, with parameters as in an INSERT; the key selects the row.
    package let updateSQL: String
    /// The SELECT that checks whether a row with a key exists.
    let existsSQL: String

    init(
        model: ManagedObjectModel, table: String, columns: [String], order: [Int], fields: [[SQLFieldColumns]?],
        dialect: any SQLDialect, checksum: SQLChecksum
    ) {
        self.columns = SQLRowColumns(Array(columns.indices), fields: fields, model: model, checksum: checksum)
        let names = ["_id", "_entity", "_version", "_checksum"] + columns
        target = "\(table) (\(names.joined(separator: ", ")))"
        rowsPerInsert = max(1, min(24, dialect.maximumParameterCount / names.count))
        existsSQL = "SELECT 1 FROM \(table) WHERE _id = \(dialect.parameter(1))"
        insertOneSQL = Self.insertSQL(table, columns: names, order: order, rows: 1, dialect: dialect)
        insertManySQL = Self.insertSQL(table, columns: names, order: order, rows: rowsPerInsert, dialect: dialect)
        let settings = names.dropFirst().enumerated().map { "\($1) = \(dialect.parameter($0 + 2))" }
        updateSQL = "UPDATE \(table) SET \(settings.joined(separator: ", ")) WHERE _id = \(dialect.parameter(1))"
    }

    /// Returns an INSERT with the columns in the order of the table.
    ///
    /// A database may copy all values if they are in another order.
    private static func insertSQL(
        _ table: String, columns: [String], order: [Int], rows: Int, dialect: any SQLDialect
    ) -> String {
        let values = (0..<rows).map { row in
            "(" + order.map { dialect.parameter(row * columns.count + $0 + 1) }.joined(separator: ", ") + ")"
        }
        let names = order.map { columns[$0] }.joined(separator: ", ")
        return "\(dialect.insertMany(into: table)) (\(names)) VALUES \(values.joined(separator: ", "))"
    }
}

/// The SELECT that precedes a change, and the UPDATE of rows whose indexed columns do not change.
///
/// The UPDATE omits indexed columns, because some databases rewrite index entries even for an equal
/// value.
package final class SQLUpdatePlan: Sendable {
    /// The SELECT of version, entity and checksum of one row, by key.
    let headSQL: String
    /// The fields in indexed columns, by entity number.
    ///
    /// Nil for entities of other hierarchies, and for all entities if updates set all columns.
    let indexed: [RecordAgreement?]
    /// The columns without an index, which ``updateSQL`` sets.
    package let columns: SQLRowColumns
    /// The UPDATE of the columns without an index, in a row that has the given entity.
    ///
    /// Its parameters are key, entity, version, checksum, then the columns without an index.
    package let updateSQL: String

    /// Creates the plan for a table; `isIndexed` is by position in `table.columns`.
    init(
        _ table: SQLTable, isIndexed: [Bool], model: ManagedObjectModel, dialect: any SQLDialect, checksum: SQLChecksum
    ) {
        var others: [Int?] = []
        var otherNames: [String] = []
        for (position, column) in table.columns.enumerated() {
            others.append(isIndexed[position] ? nil : otherNames.count)
            if !isIndexed[position] { otherNames.append(column.quotedName) }
        }
        headSQL =
            "SELECT _version, _entity, _checksum FROM \(table.quotedName) WHERE _id = \(dialect.parameter(1))"
        // If the database does not rewrite the indexes of unchanged columns, a statement that sets all columns is
        // sufficient.
        let isOfUse = dialect.rewritesIndexesOfSetColumns
        indexed = zip(model.entities, table.fields).map { entity, places in
            (isOfUse ? places : nil).map { places in
                let layout = entity.layout
                let fields = layout.fields.filter { field in
                    let place = places[field.index]
                    return isIndexed[place.column] || place.entityColumn.map { isIndexed[$0] } ?? false
                }
                return RecordAgreement(fields, layout: layout)
            }
        }
        columns = SQLRowColumns(others, fields: table.fields, model: model, checksum: checksum)
        let settings = (["_version", "_checksum"] + otherNames).enumerated().map {
            "\($1) = \(dialect.parameter($0 + 3))"
        }
        updateSQL =
            "UPDATE \(table.quotedName) SET \(settings.joined(separator: ", ")) WHERE _id = \(dialect.parameter(1)) AND _entity = \(dialect.parameter(2))"
    }
}
