internal import Foundation
package import RoostCore

/// The rows of `_roost_tallies`: counts, digests and the generation.
package enum SQLTallies {
    /// Returns the columns of the rows' key.
    static func key(_ dialect: any SQLDialect) -> [String] {
        ["kind", "number"] + (dialect is any SQLParallelDialect ? ["place"] : [])
    }

    /// Returns the sum that forms the generation, and the store's mark (``mark(of:)``).
    package static func generationAndMark(
        _ connection: any SQLConnection
    ) throws(StoreError) -> (generation: Int64, mark: Int64)? {
        let kind = SQLTallyKind.generation.rawValue
        return try connection.withStatement(
            "SELECT count, sum FROM _roost_tallies WHERE kind = '\(kind)' AND number = 0"
        ) { (statement) throws(StoreError) in
            var found: (generation: Int64, mark: Int64)?
            // A database with writer places has one row for each place.
            while try statement.step() {
                found = ((found?.generation ?? 0) &+ (try statement.integer(at: 0)), try statement.integer(at: 1))
            }
            return found
        }
    }

    /// Returns the generation of a store with one or several writer places.
    ///
    /// With several places, each commit adds a random number to the sum. The generation omits the
    /// sum's highest bits, so that it can count commits after the history is turned on.
    package static func generation(sum: Int64, writerPlaceCount: Int) -> Generation {
        let bits = UInt64(bitPattern: sum)
        return Generation(number: writerPlaceCount > 1 ? bits & Generation.highestSum : bits)
    }

    /// Returns the number that distinguishes the tallies of two stores: the first half of the UUID.
    package static func mark(of uuid: StoreUUID) -> Int64 {
        let bytes = uuid.uuid.uuid
        return [bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5, bytes.6, bytes.7]
            .reduce(0) { $0 << 8 | Int64($1) }
    }

    /// Reads all recorded tallies.
    ///
    /// - Throws: `corrupted` if a row is missing, if a row is of an entity or relationship that the
    ///   model does not have, or if a count is impossible.
    static func read(_ connection: any SQLConnection, store: SQLStore) throws(StoreError) -> StoreTally {
        var tally = StoreTally(model: store.model)
        var generation: Int64?
        let entityCount = tally.entities.count
        // Whether a row exists, by entity and then by relationship.
        var hasRow = [Bool](repeating: false, count: entityCount + tally.relationships.count)
        try connection.withStatement("SELECT kind, number, count, sum FROM _roost_tallies") {
            (statement) throws(StoreError) in
            while try statement.step() {
                guard case .text(let name) = try statement.value(at: 0) else { throw damaged(store) }
                let number = Int(truncatingIfNeeded: try statement.integer(at: 1))
                let count = Int(truncatingIfNeeded: try statement.integer(at: 2))
                let sum = UInt64(bitPattern: try statement.integer(at: 3))
                // A row contains the changes of only one writer place, so its count can be
                // negative.
                func add(to old: inout Tally) {
                    old = Tally(count: old.count &+ count, sum: old.sum &+ sum)
                }
                switch SQLTallyKind(rawValue: name) {
                case .generation: generation = (generation ?? 0) &+ Int64(count)
                case .entity where tally.entities.indices.contains(number):
                    hasRow[number] = true
                    add(to: &tally.entities[number])
                case .relationship where tally.relationships.indices.contains(number):
                    hasRow[entityCount + number] = true
                    add(to: &tally.relationships[number])
                default: throw damaged(store)
                }
            }
        }
        let isComplete = hasRow.indices.allSatisfy {
            hasRow[$0] || $0 >= entityCount && store.schema.linkTables[$0 - entityCount] == nil
        }
        guard isComplete, let generation,
            (tally.entities + tally.relationships).allSatisfy({ Tally.canBe(count: $0.count) })
        else { throw damaged(store) }
        tally.generation = Self.generation(sum: generation, writerPlaceCount: store.schema.writerPlaceCount)
        return tally
    }

    /// Adds the changes of a commit to the recorded tallies, and creates the next generation.
    ///
    /// Without writer places, a row is replaced only if it still has the old value. The old value
    /// is from `known` or, if that is missing or outdated, from the row. The new values in `known`
    /// are valid once the transaction is committed.
    static func apply(
        _ change: StoreTally, at place: SQLWriterPlace = .all, known: inout SQLKnownTallies,
        connection: any SQLConnection,
        store: SQLStore
    ) throws(StoreError) -> (previous: Generation, now: Generation) {
        if let dialect = store.schema.parallelDialect {
            return try add(change, at: place, dialect: dialect, connection: connection, store: store)
        }
        // Without known tallies, all rows are read first, to find impossible counts.
        if known[.generation, 0] == nil { _ = try read(connection, store: store) }
        // The statements' texts are created once: creating them would dominate a small commit.
        return try connection.withStatement(store.schema.tallySQL.update) {
            (update) throws(StoreError) -> (previous: Generation, now: Generation) in
            func add(_ change: Tally, kind: SQLTallyKind, number: Int) throws(StoreError) -> Int {
                func replace(_ old: Tally) throws(StoreError) -> Tally? {
                    // The count is the number of the generation. After the highest generation, `next()` throws.
                    if kind == .generation {
                        _ = try Generation(number: UInt64(bitPattern: Int64(old.count))).next()
                    }
                    let new = Tally(count: old.count &+ change.count, sum: old.sum &+ change.sum)
                    // A count can be impossible if the known tally is stale, or if another program changed the row.
                    guard kind == .generation || Tally.canBe(count: old.count) && Tally.canBe(count: new.count) else {
                        return nil
                    }
                    try update.bind(.text(kind.rawValue), at: 1)
                    try update.bind(.integer(Int64(number)), at: 2)
                    try update.bind(.integer(Int64(old.count)), at: 3)
                    try update.bind(.integer(Int64(bitPattern: old.sum)), at: 4)
                    try update.bind(.integer(Int64(new.count)), at: 5)
                    try update.bind(.integer(Int64(bitPattern: new.sum)), at: 6)
                    while try update.step() {}
                    update.reset()
                    return connection.changedRowCount == 1 ? new : nil
                }
                var new: Tally?
                if let old = known[kind, number] { new = try replace(old) }
                if new == nil { new = try replace(try row(kind, number: number, connection: connection, store: store)) }
                guard let new else { throw damaged(store) }
                known[kind, number] = new
                return new.count
            }
            for (number, tally) in change.entities.enumerated() where tally != Tally() {
                _ = try add(tally, kind: .entity, number: number)
            }
            for (number, tally) in change.relationships.enumerated() where tally != Tally() {
                _ = try add(tally, kind: .relationship, number: number)
            }
            let now = UInt64(bitPattern: Int64(try add(Tally(count: 1), kind: .generation, number: 0)))
            return (Generation(number: now &- 1), Generation(number: now))
        }
    }

    /// Adds changes to the rows of a writer place, which no other transaction writes.
    private static func add(
        _ change: StoreTally, at place: SQLWriterPlace, dialect: any SQLParallelDialect,
        connection: any SQLConnection,
        store: SQLStore
    ) throws(StoreError) -> (previous: Generation, now: Generation) {
        let isCounted = store.schema.writerPlaceCount == 1
        let increment = isCounted ? 1 : Int64.random(in: 1...Int64(Generation.highestSum))
        var rows: [(SQLTallyKind, Int, Tally)] = [(.generation, 0, Tally(count: Int(increment)))]
        for (number, tally) in change.entities.enumerated() where tally != Tally() {
            rows.append((.entity, number, tally))
        }
        for (number, tally) in change.relationships.enumerated() where tally != Tally() {
            rows.append((.relationship, number, tally))
        }
        var previous = place.generationSum
        for start in stride(from: 0, to: rows.count, by: mostTogether) {
            let part = rows[start..<min(start + mostTogether, rows.count)]
            let insert =
                store.schema.tallyInserts.indices.contains(part.count - 1)
                ? store.schema.tallyInserts[part.count - 1] : addingInsert(dialect, rowCount: part.count)
            var values: [SQLValue] = []
            values.reserveCapacity(part.count * 5)
            for (kind, number, tally) in part {
                values += [
                    .text(kind.rawValue), .integer(Int64(number)), .integer(Int64(place.number)),
                    .integer(Int64(tally.count)), .integer(Int64(bitPattern: tally.sum)),
                ]
            }
            if place.generationSum != nil, let connection = connection as? any SQLDeferringConnection {
                try connection.deferringRuns { () throws(StoreError) in
                    try connection.withStatement(insert) { (statement) throws(StoreError) in
                        try statement.bind(values)
                        while try statement.step() {}
                    }
                }
                continue
            }
            // The sum does not include the rows that the statement writes.
            let sql =
                "WITH written AS (\(insert)) SELECT \(dialect.wrappingSum("count")) FROM _roost_tallies WHERE kind = '\(SQLTallyKind.generation.rawValue)'"
            try connection.withStatement(sql) { (statement) throws(StoreError) in
                try statement.bind(values)
                guard try statement.step(), try !statement.isNull(at: 0) else { throw damaged(store) }
                if start == 0 { previous = try statement.integer(at: 0) }
            }
        }
        guard let previous else { throw damaged(store) }
        func generation(_ sum: Int64) -> Generation {
            Self.generation(sum: sum, writerPlaceCount: store.schema.writerPlaceCount)
        }
        let before = generation(previous)
        return (before, isCounted ? try before.next() : generation(previous &+ increment))
    }

    private static let mostTogether = 32

    /// Returns an INSERT that adds its values to existing rows.
    static func addingInsert(_ dialect: any SQLParallelDialect, rowCount: Int) -> String {
        dialect.addingInsert(
            into: "_roost_tallies", key: key(dialect), columns: ["count", "sum"], rowCount: rowCount)
    }

    /// Replaces the tallies of entities and relationships, and creates the next generation.
    static func set(
        _ tally: StoreTally, connection: any SQLConnection, store: SQLStore
    ) throws(StoreError) -> Generation {
        let hasPlaces = store.schema.parallelDialect != nil
        if hasPlaces {
            try connection.run(
                "DELETE FROM _roost_tallies WHERE kind <> \(store.schema.dialect.parameter(1))",
                .text(SQLTallyKind.generation.rawValue))
        }
        let upsert = SQLUpsert(
            into: "_roost_tallies", key: key(store.schema.dialect), columns: ["count", "sum"],
            dialect: store.schema.dialect)
        func set(_ tally: Tally, kind: SQLTallyKind, number: Int) throws(StoreError) {
            try upsert.run(
                [.text(kind.rawValue), .integer(Int64(number))] + (hasPlaces ? [.integer(0)] : []) + [
                    .integer(Int64(tally.count)), .integer(Int64(bitPattern: tally.sum)),
                ], on: connection)
        }
        for (number, tally) in tally.entities.enumerated() { try set(tally, kind: .entity, number: number) }
        for relationship in store.model.linkRelationships {
            try set(tally.relationships[relationship.number], kind: .relationship, number: relationship.number)
        }
        var nothing = SQLKnownTallies(model: store.model)
        return try apply(StoreTally(model: store.model), known: &nothing, connection: connection, store: store).now
    }

    /// Replaces the generation's rows with one row for each writer place.
    static func setPlaces(
        of schema: SQLSchema, generation: Generation, mark: Int64, on connection: any SQLConnection
    ) throws(StoreError) {
        let kind = SQLTallyKind.generation
        try connection.run(
            "DELETE FROM _roost_tallies WHERE kind = \(schema.dialect.parameter(1))", .text(kind.rawValue))
        for place in 0..<schema.writerPlaceCount {
            let count = place == 0 ? Int64(bitPattern: generation.number) : 0
            try insert(
                kind, number: 0, at: place, tally: Tally(count: Int(count), sum: UInt64(bitPattern: mark)), of: schema,
                on: connection)
        }
    }

    static func insert(
        _ kind: SQLTallyKind, number: Int, at place: Int = 0, tally: Tally = Tally(), of schema: SQLSchema,
        on connection: any SQLConnection
    ) throws(StoreError) {
        let columns = key(schema.dialect) + ["count", "sum"]
        let p = SQLMetadata.parameters(columns.count, dialect: schema.dialect)
        try connection.withStatement(
            "INSERT INTO _roost_tallies (\(columns.joined(separator: ", "))) VALUES (\(p))"
        ) { (statement) throws(StoreError) in
            try statement.bind(
                [.text(kind.rawValue), .integer(Int64(number))]
                    + (schema.parallelDialect == nil ? [] : [.integer(Int64(place))]) + [
                        .integer(Int64(tally.count)), .integer(Int64(bitPattern: tally.sum)),
                    ])
            while try statement.step() {}
        }
    }

    private static func row(
        _ kind: SQLTallyKind, number: Int, connection: any SQLConnection, store: SQLStore
    ) throws(StoreError) -> Tally {
        try connection.withStatement(store.schema.tallySQL.select) { (select) throws(StoreError) -> Tally in
            try select.bind([.text(kind.rawValue), .integer(Int64(number))])
            guard try select.step() else { throw damaged(store) }
            return Tally(
                count: Int(truncatingIfNeeded: try select.integer(at: 0)),
                sum: UInt64(bitPattern: try select.integer(at: 1)))
        }
    }

    /// Returns statements to read one row and to replace it if it has expected values.
    ///
    /// The parameters are kind and number, then the expected values, then the new values.
    static func statements(_ dialect: any SQLDialect) -> (select: String, update: String) {
        let p = (1...6).map { dialect.parameter($0) }
        let row = "WHERE kind = \(p[0]) AND number = \(p[1])"
        return (
            "SELECT count, sum FROM _roost_tallies \(row)",
            "UPDATE _roost_tallies SET count = \(p[4]), sum = \(p[5]) \(row) AND count = \(p[2]) AND sum = \(p[3])"
        )
    }

    private static func damaged(_ store: SQLStore) -> StoreError {
        StoreError(
            .corrupted,
            "The recorded counts in '\(store.database.name)' are damaged or do not match its model. Restore the store from a backup."
        )
    }
}
