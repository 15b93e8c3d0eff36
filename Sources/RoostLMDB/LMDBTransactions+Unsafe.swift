internal import CLMDB
internal import RoostCore
internal import RoostKeyValue

/// An LMDB transaction, its databases and its cursors.
///
/// Used by one thread at a time.
final class LMDBTransaction {
    // SAFETY: valid until `end()`, which closes all cursors first and hands it to whoever commits or aborts it.
    private var pointer: OpaquePointer?
    private let databases: [MDB_dbi]
    private var cursors: Set<OpaquePointer> = []
    let path: String

    init(_ pointer: OpaquePointer, _ databases: [MDB_dbi], path: String) {
        self.pointer = pointer
        self.databases = databases
        self.path = path
    }

    /// Closes the cursors and gives the transaction up; nil if that happened before.
    func end() -> OpaquePointer? {
        for cursor in cursors { mdb_cursor_close(cursor) }
        cursors = []
        defer { pointer = nil }
        return pointer
    }

    var isOpen: Bool { pointer != nil }

    func requireOpen() throws(StoreError) -> OpaquePointer {
        guard let pointer else {
            throw StoreError(.closed, "A snapshot or transaction of '\(path)' is used after its end")
        }
        return pointer
    }

    func database(_ space: KeySpace) throws(StoreError) -> MDB_dbi {
        guard space.position < databases.count else {
            throw StoreError(.internalInconsistency, "'\(path)' has no database '\(space.rawValue)'")
        }
        return databases[space.position]
    }

    func get(_ key: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) -> UnsafeRawBufferPointer? {
        let pointer = try requireOpen()
        var keyValue = MDB_val(key)
        var value = MDB_val()
        let code = mdb_get(pointer, try database(space), &keyValue, &value)
        switch code {
        case MDB_SUCCESS: return UnsafeRawBufferPointer(value)
        case MDB_NOTFOUND: return nil
        default: throw StoreError.lmdb(code, "cannot be read", path: path)
        }
    }

    func openCursor(_ space: KeySpace) throws(StoreError) -> OpaquePointer {
        let pointer = try requireOpen()
        var cursor: OpaquePointer?
        let code = mdb_cursor_open(pointer, try database(space), &cursor)
        guard code == MDB_SUCCESS, let cursor else { throw StoreError.lmdb(code, "cannot be read", path: path) }
        cursors.insert(cursor)
        return cursor
    }

    func closeCursor(_ cursor: OpaquePointer) {
        if cursors.remove(cursor) != nil { mdb_cursor_close(cursor) }
    }
}

extension MDB_val {
    /// Bytes to hand to LMDB, which only reads them although its type does not say so.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
}

extension UnsafeRawBufferPointer {
    /// Bytes that LMDB handed out.
    init(_ value: MDB_val) { self.init(start: value.mv_data, count: value.mv_size) }
}

/// A position in a database, straight in the mapped file.
final class LMDBCursor: KeyValueCursor {
    private let transaction: LMDBTransaction
    private let cursor: OpaquePointer
    private let verify: (() throws(StoreError) -> Void)?
    private var movesLeft = 0
    private var isAtEnd = false
    private(set) var key = UnsafeRawBufferPointer(start: nil, count: 0)
    private(set) var value = UnsafeRawBufferPointer(start: nil, count: 0)

    /// Opens a cursor.
    ///
    /// `verify` is called now and then while moving, for files that are read without locks.
    init(_ transaction: LMDBTransaction, _ space: KeySpace, verify: (() throws(StoreError) -> Void)? = nil)
        throws(StoreError)
    {
        self.transaction = transaction
        self.verify = verify
        cursor = try transaction.openCursor(space)
    }

    deinit { transaction.closeCursor(cursor) }

    func seek(to key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        isAtEnd = false
        return key.isEmpty ? try move(MDB_FIRST, MDB_val()) : try move(MDB_SET_RANGE, MDB_val(key))
    }

    func next() throws(StoreError) -> Bool {
        if isAtEnd {
            _ = try transaction.requireOpen()
            return false
        }
        // On a cursor that stands nowhere yet, this is the first key.
        return try move(MDB_NEXT, MDB_val())
    }

    func visit(
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        _ = try transaction.requireOpen()
        guard !key.isEmpty else { return false }
        var (keyValue, dataValue) = (MDB_val(key), MDB_val(value))
        // The position is noted once, at the end, and not for every entry.
        defer {
            key = UnsafeRawBufferPointer(keyValue)
            value = UnsafeRawBufferPointer(dataValue)
        }
        while try body(UnsafeRawBufferPointer(keyValue), UnsafeRawBufferPointer(dataValue)) {
            try verifyNowAndThen()
            let code = mdb_cursor_get(cursor, &keyValue, &dataValue, MDB_NEXT)
            guard code == MDB_SUCCESS else {
                (keyValue, dataValue) = (MDB_val(), MDB_val())
                guard code == MDB_NOTFOUND else {
                    throw StoreError.lmdb(code, "cannot be read", path: transaction.path)
                }
                isAtEnd = true
                return false
            }
        }
        return true
    }

    private func move(_ operation: MDB_cursor_op, _ target: MDB_val) throws(StoreError) -> Bool {
        _ = try transaction.requireOpen()
        try verifyNowAndThen()
        var (keyValue, value) = (target, MDB_val())
        let code = mdb_cursor_get(cursor, &keyValue, &value, operation)
        switch code {
        case MDB_SUCCESS:
            key = UnsafeRawBufferPointer(keyValue)
            self.value = UnsafeRawBufferPointer(value)
            return true
        case MDB_NOTFOUND:
            isAtEnd = true
            key = UnsafeRawBufferPointer(start: nil, count: 0)
            self.value = key
            return false
        default: throw StoreError.lmdb(code, "cannot be read", path: transaction.path)
        }
    }

    /// Makes sure, once in 256 moves, that a file that is read without locks is still the same.
    private func verifyNowAndThen() throws(StoreError) {
        guard let verify else { return }
        movesLeft -= 1
        guard movesLeft < 0 else { return }
        try verify()
        movesLeft = 255
    }
}

/// A snapshot: a read transaction that goes back to the environment's pool when it is closed.
final class LMDBReader: KeyValueReader {
    private let transaction: LMDBTransaction
    private var lease: EnvironmentLease?
    private let verify: (() throws(StoreError) -> Void)?

    init(_ lease: EnvironmentLease) throws(StoreError) {
        let environment = lease.environment
        let (pointer, databases) = try environment.beginRead()
        transaction = LMDBTransaction(pointer, databases, path: environment.path)
        verify = environment.isUnlocked ? { () throws(StoreError) in try environment.verifyUnchanged() } : nil
        self.lease = lease
    }

    deinit { close() }

    func withValue(
        of key: UnsafeRawBufferPointer, in space: KeySpace,
        _ body: (UnsafeRawBufferPointer?) throws(StoreError) -> Void
    ) throws(StoreError) {
        try verify?()
        try body(try transaction.get(key, in: space))
    }

    func cursor(in space: KeySpace) throws(StoreError) -> any KeyValueCursor {
        try LMDBCursor(transaction, space, verify: verify)
    }

    func close() {
        guard let lease else { return }
        if let pointer = transaction.end() { lease.environment.endRead(pointer) }
        self.lease = nil
    }
}

/// A write transaction, which belongs to the thread that began it.
///
/// It has one cursor for each space it writes: what comes in the order of the keys is mostly on the page that the cursor stands on, and
/// then needs no search from the root.
final class LMDBWriter: KeyValueWriter {
    /// The cursor of a space.
    private struct Place {
        // SAFETY: valid until the transaction closes its cursors in `end()`, after which `requireOpen` throws before it is used.
        let cursor: OpaquePointer
        /// Whether it stands at the end, where LMDB lets it stay from one append to the next.
        let isAppending: Bool
    }

    let transaction: LMDBTransaction
    /// Whether LMDB ran out of map; the transaction can then only be aborted.
    private(set) var isMapFull = false
    private var places: [Place?] = KeySpace.allCases.map { _ in nil }

    init(_ transaction: LMDBTransaction) { self.transaction = transaction }

    /// The cursor of a space.
    ///
    /// One that was used for appending is used for nothing else, and the other way round: LMDB takes a cursor that once stood at the
    /// end for one that still does.
    private func cursor(_ space: KeySpace, isAppending: Bool = false) throws(StoreError) -> OpaquePointer {
        _ = try transaction.requireOpen()
        if let place = places[space.position] {
            if place.isAppending == isAppending { return place.cursor }
            places[space.position] = nil
            transaction.closeCursor(place.cursor)
        }
        let cursor = try transaction.openCursor(space)
        places[space.position] = Place(cursor: cursor, isAppending: isAppending)
        return cursor
    }

    func withValue(
        of key: UnsafeRawBufferPointer, in space: KeySpace,
        _ body: (UnsafeRawBufferPointer?) throws(StoreError) -> Void
    ) throws(StoreError) {
        var (keyValue, value) = (MDB_val(key), MDB_val())
        let code = mdb_cursor_get(try cursor(space), &keyValue, &value, MDB_SET)
        switch code {
        case MDB_SUCCESS: try body(UnsafeRawBufferPointer(value))
        case MDB_NOTFOUND: try body(nil)
        default: throw StoreError.lmdb(code, "cannot be read", path: transaction.path)
        }
    }

    func cursor(in space: KeySpace) throws(StoreError) -> any KeyValueCursor { try LMDBCursor(transaction, space) }

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) {
        let code = put(key, value, flags: 0, try cursor(space))
        guard code == MDB_SUCCESS else { throw failure(code) }
    }

    func insert(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace
    ) throws(StoreError) -> Bool {
        let code = put(key, value, flags: UInt32(MDB_NOOVERWRITE), try cursor(space))
        switch code {
        case MDB_SUCCESS: return true
        case MDB_KEYEXIST: return false
        default: throw failure(code)
        }
    }

    func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) {
        let code = put(key, value, flags: UInt32(MDB_APPEND), try cursor(space, isAppending: true))
        guard code == MDB_SUCCESS else { throw failure(code) }
    }

    private func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, flags: UInt32, _ cursor: OpaquePointer
    ) -> Int32 {
        var (keyValue, dataValue) = (MDB_val(key), MDB_val(value))
        return mdb_cursor_put(cursor, &keyValue, &dataValue, flags)
    }

    func delete(_ key: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) -> Bool {
        let cursor = try cursor(space)
        var (keyValue, value) = (MDB_val(key), MDB_val())
        var code = mdb_cursor_get(cursor, &keyValue, &value, MDB_SET)
        if code == MDB_SUCCESS { code = mdb_cursor_del(cursor, 0) }
        switch code {
        case MDB_SUCCESS: return true
        case MDB_NOTFOUND: return false
        default: throw failure(code)
        }
    }

    private func failure(_ code: Int32) -> StoreError {
        if code == MDB_MAP_FULL { isMapFull = true }
        return StoreError.lmdb(code, "cannot be written", path: transaction.path)
    }

    /// Does nothing: whoever began the transaction ends it.
    func close() {}

    /// Gives the transaction up.
    ///
    /// Calling it again does nothing.
    func abort() {
        if let pointer = transaction.end() { mdb_txn_abort(pointer) }
    }
}
