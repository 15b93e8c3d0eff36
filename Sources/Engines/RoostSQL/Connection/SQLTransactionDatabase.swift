internal import RoostCore

/// A database that uses the open transaction of another database.
///
/// Reads show the changes of the transaction. Commits of this database take effect when the
/// transaction commits. After a rollback of this database, the whole transaction can only be rolled
/// back.
final class SQLTransactionDatabase: SQLRebuilding {
    private struct State {
        /// The connection of the transaction; set once.
        var connection: (any SQLConnection)?
        var isWriting = false
        /// Whether a write was rolled back.
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
    var connection: (any SQLConnection)? { state.withLock { $0.connection } }

    /// Throws `closed` during a write, or after a write was rolled back.
    func requireSound() throws(StoreError) -> any SQLConnection {
        try state.withLock { (state) throws(StoreError) in
            guard !state.isWriting else {
                throw StoreError(.closed, "A write in the transaction on '\(base.name)' has not ended.")
            }
            guard let connection = state.connection, !state.isSpoilt else {
                throw StoreError(.closed, "A write in the transaction on '\(base.name)' was rolled back.")
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

    var canRebuild: Bool { false }

    func beginRebuilding(_ difference: SQLSchemaDifference) throws(StoreError) -> (any SQLConnection)? {
        throw unsupported
    }

    func finishRebuilding(
        _ difference: SQLSchemaDifference, to schema: SQLSchema, on connection: any SQLConnection
    ) throws(StoreError) {
        throw unsupported
    }

    func requireSoundStructure(_ connection: any SQLConnection) throws(StoreError) {
        try base.requireSoundStructure(connection)
    }

    func integrityFindings() throws(StoreError) -> [StoreFinding] { throw unsupported }

    func byteCount() throws(StoreError) -> Int { try base.byteCount() }

    /// Does nothing: the other database owns all resources.
    func close() throws(StoreError) {}

    private var unsupported: StoreError {
        StoreError(
            .unsupported, "This operation is not possible while the model of '\(base.name)' is being changed.")
    }
}
