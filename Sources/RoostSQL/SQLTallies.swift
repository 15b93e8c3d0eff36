internal import Foundation
public import RoostCore

/// The rows of `_roost_tallies`: counts, digests and the generation.
public enum SQLTallies {
    /// The generation and the store's mark; nil when they are not there.
    ///
    /// Every commit writes both, and thus the page that they are on.
    public static func generationAndMark(
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
    public static func mark(of uuid: StoreUUID) -> Int64 {
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
                guard case .text(let kind) = try statement.value(at: 0) else { throw damaged(store) }
                let number = Int(truncatingIfNeeded: try statement.integer(at: 1))
                let count = Int(truncatingIfNeeded: try statement.integer(at: 2))
                let sum = UInt64(bitPattern: try statement.integer(at: 3))
                switch SQLTallyKind(rawValue: kind) {
                case .generation:
                    tally.generation = UInt64(bitPattern: Int64(count))
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

    /// Adds what changed to what is recorded, and one to the generation, which is returned.
    static func apply(
        _ change: StoreTally, _ connection: any SQLConnection, _ store: SQLStore
    ) throws(StoreError) -> UInt64 {
        // A commit of one object spends more on statements about the store than on its own: their texts are made once.
        try connection.withStatement(store.schema.tallySQL.select) { (select) throws(StoreError) -> UInt64 in
            try connection.withStatement(store.schema.tallySQL.update) { (update) throws(StoreError) -> UInt64 in
                func add(_ change: Tally, _ kind: SQLTallyKind, _ number: Int) throws(StoreError) -> Int {
                    for statement in [select, update] {
                        try statement.bind(.text(kind.rawValue), at: 1)
                        try statement.bind(.integer(Int64(number)), at: 2)
                    }
                    guard try select.step() else { throw damaged(store) }
                    let count = Int(truncatingIfNeeded: try select.integer(at: 0)) &+ change.count
                    let sum = UInt64(bitPattern: try select.integer(at: 1)) &+ change.sum
                    select.reset()
                    try update.bind(.integer(Int64(count)), at: 3)
                    try update.bind(.integer(Int64(bitPattern: sum)), at: 4)
                    while try update.step() {}
                    update.reset()
                    return count
                }
                for (number, tally) in change.entities.enumerated() where tally != Tally() {
                    _ = try add(tally, .entity, number)
                }
                for (number, tally) in change.relationships.enumerated() where tally != Tally() {
                    _ = try add(tally, .relationship, number)
                }
                return UInt64(bitPattern: Int64(try add(Tally(count: 1), .generation, 0)))
            }
        }
    }

    /// SELECT of one row's count and sum, and UPDATE of them; parameters kind, number, count, sum.
    static func statements(_ dialect: any SQLDialect) -> (select: String, update: String) {
        let row = "WHERE kind = \(dialect.parameter(1)) AND number = \(dialect.parameter(2))"
        return (
            "SELECT count, sum FROM _roost_tallies \(row)",
            "UPDATE _roost_tallies SET count = \(dialect.parameter(3)), sum = \(dialect.parameter(4)) \(row)"
        )
    }

    private static func damaged(_ store: SQLStore) -> StoreError {
        StoreError(
            .corrupted,
            "The tallies in '\(store.database.name)' are not those of its model; restore the store from a backup.")
    }
}
