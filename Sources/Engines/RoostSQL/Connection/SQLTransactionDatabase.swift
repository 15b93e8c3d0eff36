internal import RoostCore

/// A database inside a transaction.
///
/// Reads show what the transaction wrote. Commits here take effect when the transaction commits.
///
/// A change that is rolled back here spoils the whole transaction, which then can only be rolled
/// back too.
final class SQLTransactionDatabase: SQLRebuilding {
    private struct State {
        /// Set for good when the transaction is made.
        var connection: (any SQLConnection)?
        /// Whether a write is in progress, and whether a part of the transaction was abandoned.
        var isWriting = false
        var isSpoilt = false
    }

    private let base: any SQLDatabase
    private let state = Mutex(State())

    init(_ base: any SQLDatabase, connection: any SQLConnection) {
        self.base = base
        state.withLock { $0.connection = connection }
    }

    var dialect: any SQLDialect { base.dialect }
    var name: String { base.name }
    /// The connection that the transaction is on.
    var connection: (any SQLConnection)? { state.withLock { $0.connection } }

    /// The connection; throws where the transaction must not be committed.
    func requireSound() throws(StoreError) -> any SQLConnection {
        try state.withLock { (state) throws(StoreError) in
            guard let connection = state.connection, !state.isSpoilt, !state.isWriting else {
                throw StoreError(.closed, "A part of the transaction on '\(base.name)' was rolled back.")
            }
            return connection
        }
    }

    func beginReading() throws(StoreError) -> any SQLConnection { try requireSound() }
    func endReading(_ connection: any SQLConnection) {}

    func beginWriting() throws(StoreError) -> any SQLConnection {
        let connection = try requireSound()
        state.withLock { $0.isWriting = true }
        return connection
    }

    func commitWriting(_ connection: any SQLConnection) throws(StoreError) { state.withLock { $0.isWriting = false } }

    func rollBackWriting(_ connection: any SQLConnection) {
        state.withLock { ($0.isWriting, $0.isSpoilt) = (false, true) }
    }

    func beginIndexing(_ connection: any SQLConnection) throws(StoreError) { try base.beginIndexing(connection) }

    func beginRebuilding(_ difference: SQLSchemaDifference) throws(StoreError) -> (any SQLConnection)? {
        throw unsupported
    }

    func requireSoundStructure(_ connection: any SQLConnection) throws(StoreError) {
        try base.requireSoundStructure(connection)
    }

    func integrityFindings() throws(StoreError) -> [StoreFinding] { throw unsupported }

    func byteCount() throws(StoreError) -> Int { try base.byteCount() }

    /// Does nothing, because the transaction owns no resource.
    func close() throws(StoreError) {}

    private var unsupported: StoreError {
        StoreError(.unsupported, "That is not possible while the model of '\(base.name)' changes.")
    }
}
