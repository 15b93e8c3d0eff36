internal import Foundation
package import RoostCore

/// The rows of `_roost_tallies`: counts, digests and the generation.
package enum SQLTallies {
    /// The generation and the store's mark; nil when they are not there.
    ///
    /// Every commit writes both, and thus the page that they are on.
    package static func generationAndMark(
        _ connection: any SQLConnection
    ) throws(StoreError) -> (generation: Int64, mark: Int64)? {
        let kind = SQLTallyKind.generation.rawValue
        return try connection.withStatement(
            "SELECT count, sum FROM _roost_tallies WHERE kind = '\(kind)' AND number = 0"
        ) { (statement) throws(StoreError) in
            try statement.step() ? (try statement.integer(at: 0), try statement.integer(at: 1)) : nil
        }
    }

    /// The number that tells the tallies of one store from those of another: the first half of its UUID.
    package static func mark(of uuid: StoreUUID) -> Int64 {
        let bytes = uuid.uuid.uuid
        return [bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5, bytes.6, bytes.7]
            .reduce(0) { $0 << 8 | Int64($1) }
    }

    /// Everything that is recorded.
    static func read(_ connection: any SQLConnection, _ store: SQLStore) throws(StoreError) -> StoreTally {
        var tally = StoreTally(model: store.model)
        var hasGeneration = false
        try connection.withStatement("SELECT kind, number, count, sum FROM _roost_tallies") {
            (statement) throws(StoreError) in
            while try statement.step() {
                guard case .text(let name) = try statement.value(at: 0) else { throw damaged(store) }
                let number = Int(truncatingIfNeeded: try statement.integer(at: 1))
                let count = Int(truncatingIfNeeded: try statement.integer(at: 2))
                let sum = UInt64(bitPattern: try statement.integer(at: 3))
                let kind = SQLTallyKind(rawValue: name)
                guard kind == .generation || Tally.canBe(count: count) else { throw damaged(store) }
                switch kind {
                case .generation:
                    tally.generation = Generation(number: UInt64(bitPattern: Int64(count)))
                    hasGeneration = true
                case .entity where tally.entities.indices.contains(number):
                    tally.entities[number] = Tally(count: count, sum: sum)
                case .relationship where tally.relationships.indices.contains(number):
                    tally.relationships[number] = Tally(count: count, sum: sum)
                default: throw damaged(store)
                }
            }
        }
        guard hasGeneration else { throw damaged(store) }
        return tally
    }

    /// Adds what changed to what is recorded, and one to the generation.
    ///
    /// A row is replaced on the condition that it holds what `known` says. Only where it does not, because somebody else wrote since, or
    /// where nothing is known, it is read before. `known` then has what was written, which holds if the transaction is committed.
    ///
    /// - Returns: The generations before and after it.
    static func apply(
        _ change: StoreTally, known: inout SQLKnownTallies, _ connection: any SQLConnection, _ store: SQLStore
    ) throws(StoreError) -> (previous: Generation, now: Generation) {
        // A count that no store can have is found before anything is added to it, whichever row it is in.
        if known[.generation, 0] == nil { _ = try read(connection, store) }
        // A commit of one object spends more on statements about the store than on its own: their texts are made once.
        return try connection.withStatement(store.schema.tallySQL.update) {
            (update) throws(StoreError) -> (previous: Generation, now: Generation) in
            func add(_ change: Tally, _ kind: SQLTallyKind, _ number: Int) throws(StoreError) -> Int {
                func replace(_ old: Tally) throws(StoreError) -> Tally? {
                    // A generation is stored as the bits of a signed number.
                    if kind == .generation {
                        _ = try Generation(number: UInt64(bitPattern: Int64(old.count))).next()
                    }
                    let new = Tally(count: old.count &+ change.count, sum: old.sum &+ change.sum)
                    // What is known may be old. Another program may have set what is stored to anything, or
                    // removed what is counted out here.
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
                if new == nil { new = try replace(try row(kind, number, connection, store)) }
                guard let new else { throw damaged(store) }
                known[kind, number] = new
                return new.count
            }
            for (number, tally) in change.entities.enumerated() where tally != Tally() {
                _ = try add(tally, .entity, number)
            }
            for (number, tally) in change.relationships.enumerated() where tally != Tally() {
                _ = try add(tally, .relationship, number)
            }
            let now = UInt64(bitPattern: Int64(try add(Tally(count: 1), .generation, 0)))
            return (Generation(number: now &- 1), Generation(number: now))
        }
    }

    /// Records counts and sums of entities and relationships, and adds one to the generation, which
    /// is returned.
    static func set(
        _ tally: StoreTally, _ connection: any SQLConnection, _ store: SQLStore
    ) throws(StoreError) -> Generation {
        let upsert = SQLUpsert(
            into: "_roost_tallies", key: ["kind", "number"], columns: ["count", "sum"], dialect: store.schema.dialect)
        func set(_ tally: Tally, _ kind: SQLTallyKind, _ number: Int) throws(StoreError) {
            try upsert.run(
                [
                    .text(kind.rawValue), .integer(Int64(number)), .integer(Int64(tally.count)),
                    .integer(Int64(bitPattern: tally.sum)),
                ], on: connection)
        }
        for (number, tally) in tally.entities.enumerated() { try set(tally, .entity, number) }
        for relationship in store.model.linkRelationships {
            try set(tally.relationships[relationship.number], .relationship, relationship.number)
        }
        var nothing = SQLKnownTallies(model: store.model)
        return try apply(StoreTally(model: store.model), known: &nothing, connection, store).now
    }

    /// One row as it is stored.
    private static func row(
        _ kind: SQLTallyKind, _ number: Int, _ connection: any SQLConnection, _ store: SQLStore
    ) throws(StoreError) -> Tally {
        try connection.withStatement(store.schema.tallySQL.select) { (select) throws(StoreError) -> Tally in
            try select.bind([.text(kind.rawValue), .integer(Int64(number))])
            guard try select.step() else { throw damaged(store) }
            return Tally(
                count: Int(truncatingIfNeeded: try select.integer(at: 0)),
                sum: UInt64(bitPattern: try select.integer(at: 1)))
        }
    }

    /// SELECT of one row's count and sum, with the parameters kind and number; and UPDATE of them where they are as expected, with the
    /// expected and then the new ones as further parameters.
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
            "The tallies in '\(store.database.name)' are not those of its model; restore the store from a backup.")
    }
}
