internal import CLMDB
internal import RoostCore
internal import RoostKeyValue

/// An LMDB transaction with its databases and its open cursors.
///
/// Only one thread at a time may use it.
final class LMDBTransaction {
    // SAFETY: `pointer` is valid until `end()`. That method closes all cursors and then returns
    // the pointer, and its caller ends the LMDB transaction.
    private var pointer: OpaquePointer?
    private let databases: [MDB_dbi]
    /// The open cursors, oldest first; the newest are usually closed first.
    private var cursors: [OpaquePointer] = []
    let path: String
    private var visitCount = 0
    private var whenVisited: (() -> Void)?

    init(_ pointer: OpaquePointer, databases: [MDB_dbi], path: String) {
        self.pointer = pointer
        self.databases = databases
        self.path = path
    }

    /// Closes all cursors and returns the LMDB transaction, or nil if it was returned before.
    func end() -> OpaquePointer? {
        for cursor in cursors { mdb_cursor_close(cursor) }
        cursors = []
        defer { pointer = nil }
        return pointer
    }

    var isOpen: Bool { pointer != nil }

    /// Whether a caller is visiting entries in place.
    var isVisited: Bool { visitCount > 0 }

    func beginVisit() { visitCount += 1 }

    func endVisit() {
        visitCount -= 1
        guard visitCount == 0, let body = whenVisited else { return }
        whenVisited = nil
        body()
    }

    /// Calls `body` when all current visits have ended.
    func afterVisits(_ body: @escaping () -> Void) { whenVisited = body }

    @inline(__always)
    func requireOpen() throws(StoreError) -> OpaquePointer {
        guard let pointer else { throw closed }
        return pointer
    }

    @inline(__always)
    func database(_ space: KeySpace) throws(StoreError) -> MDB_dbi {
        guard space.position < databases.count else { throw lacking(space) }
        return databases[space.position]
    }

    private var closed: StoreError {
        @inline(never) get { StoreError(.closed, "A snapshot or transaction of '\(path)' is used after its end") }
    }

    @inline(never)
    private func lacking(_ space: KeySpace) -> StoreError {
        StoreError(.internalInconsistency, "'\(path)' has no database '\(space.rawValue)'")
    }

    func get(_ key: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) -> UnsafeRawBufferPointer? {
        let pointer = try requireOpen()
        var keyValue = MDB_val(key)
        var value = MDB_val()
        let code = mdb_get(pointer, try database(space), &keyValue, &value)
        switch code {
        case MDB_SUCCESS: return UnsafeRawBufferPointer(value)
        case MDB_NOTFOUND: return nil
        default: throw StoreError.lmdb(code, what: "cannot be read", path: path)
        }
    }

    func openCursor(_ space: KeySpace) throws(StoreError) -> OpaquePointer {
        let pointer = try requireOpen()
        var cursor: OpaquePointer?
        let code = mdb_cursor_open(pointer, try database(space), &cursor)
        guard code == MDB_SUCCESS, let cursor else { throw StoreError.lmdb(code, what: "cannot be read", path: path) }
        cursors.append(cursor)
        return cursor
    }

    var cursorCount: Int { cursors.count }

    func closeCursor(_ cursor: OpaquePointer) {
        var index = cursors.count - 1
        while index >= 0, cursors[index] != cursor { index -= 1 }
        guard index >= 0 else { return }
        cursors.remove(at: index)
        mdb_cursor_close(cursor)
    }
}

extension MDB_val {
    /// Creates a value whose bytes LMDB only reads, although `mv_data` is a mutable pointer.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
}

extension UnsafeRawBufferPointer {
    init(_ value: MDB_val) { self.init(start: value.mv_data, count: value.mv_size) }
}

/// A position in a database, whose ``key`` and ``value`` point into the mapped file.
final class LMDBCursor: KeyValueCursor {
    private let transaction: LMDBTransaction
    private let cursor: OpaquePointer
    private let verify: (() throws(StoreError) -> Void)?
    private var movesLeft = 0
    private var isAtEnd = false
    private(set) var key = UnsafeRawBufferPointer(start: nil, count: 0)
    private(set) var value = UnsafeRawBufferPointer(start: nil, count: 0)

    /// Opens a cursor, which calls `verify` once in 256 moves.
    ///
    /// `verify` checks that a file read without locks has not changed.
    init(_ transaction: LMDBTransaction, space: KeySpace, verify: (() throws(StoreError) -> Void)? = nil)
        throws(StoreError)
    {
        self.transaction = transaction
        self.verify = verify
        cursor = try transaction.openCursor(space)
    }

    deinit { transaction.closeCursor(cursor) }

    func seek(to key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        isAtEnd = false
        return key.isEmpty ? try move(MDB_FIRST, target: MDB_val()) : try move(MDB_SET_RANGE, target: MDB_val(key))
    }

    func seek(before key: UnsafeRawBufferPointer?) throws(StoreError) -> Bool {
        isAtEnd = false
        if let key {
            let isBehind =
                key.isEmpty ? try move(MDB_FIRST, target: MDB_val()) : try move(MDB_SET_RANGE, target: MDB_val(key))
            if isBehind { return try move(MDB_PREV, target: MDB_val()) }
            isAtEnd = false
        }
        return try move(MDB_LAST, target: MDB_val())
    }

    func next() throws(StoreError) -> Bool {
        if isAtEnd {
            _ = try transaction.requireOpen()
            return false
        }
        // `MDB_NEXT` moves a cursor without a position to the first key.
        return try move(MDB_NEXT, target: MDB_val())
    }

    func visit(
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        _ = try transaction.requireOpen()
        guard !key.isEmpty else { return false }
        transaction.beginVisit()
        defer { transaction.endVisit() }
        var (keyValue, dataValue) = (MDB_val(key), MDB_val(value))
        // To save time, `key` and `value` are set only after the visit.
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
                    throw StoreError.lmdb(code, what: "cannot be read", path: transaction.path)
                }
                isAtEnd = true
                return false
            }
        }
        return true
    }

    private func move(_ operation: MDB_cursor_op, target: MDB_val) throws(StoreError) -> Bool {
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
        default: throw StoreError.lmdb(code, what: "cannot be read", path: transaction.path)
        }
    }

    private func verifyNowAndThen() throws(StoreError) {
        guard let verify else { return }
        movesLeft -= 1
        guard movesLeft < 0 else { return }
        try verify()
        movesLeft = 255
    }
}

/// A snapshot; closing it returns its read transaction to the environment's pool.
final class LMDBReader: KeyValueReader {
    private let transaction: LMDBTransaction
    private var lease: EnvironmentLease?
    private let verify: (() throws(StoreError) -> Void)?

    init(_ lease: EnvironmentLease) throws(StoreError) {
        let environment = lease.environment
        let (pointer, databases) = try environment.beginRead()
        transaction = LMDBTransaction(pointer, databases: databases, path: environment.path)
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
        try LMDBCursor(transaction, space: space, verify: verify)
    }

    func close() {
        guard let lease else { return }
        self.lease = nil
        // A caller may close the reader during a visit. The entries' bytes must stay valid until
        // the visit ends.
        guard transaction.isVisited else { return Self.end(transaction, lease: lease) }
        transaction.afterVisits { [transaction] in Self.end(transaction, lease: lease) }
    }

    private static func end(_ transaction: LMDBTransaction, lease: EnvironmentLease) {
        if let pointer = transaction.end() { lease.environment.endRead(pointer) }
    }
}
