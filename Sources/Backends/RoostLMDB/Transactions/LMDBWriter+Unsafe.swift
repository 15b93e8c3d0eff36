internal import CLMDB
internal import RoostCore
internal import RoostKeyValue
internal import RoostSystem

/// A write transaction, which belongs to the thread that began it.
///
/// If entries arrive in key order, each space's cursor usually avoids a search from the root.
final class LMDBWriter: KeyValueWriter {
    private struct Place {
        // SAFETY: valid until the transaction closes its cursors in `end()`. After that
        // `requireOpen` throws before the cursor is used.
        let cursor: OpaquePointer
        /// Whether the cursor is only used for appending, and so remains at the end of the space.
        let isAppending: Bool
    }

    private struct State {
        var isMapFull = false
        var places: [Place?] = KeySpace.allCases.map { _ in nil }
        var room: PageRoom?
        /// The greatest key in the space `records`; valid if `knowsLastRecordKey`.
        ///
        /// Deleting the record with this key does not change this property.
        var lastRecordKey: [UInt8] = []
        var knowsLastRecordKey = false
    }

    let transaction: LMDBTransaction
    // The state is accessed by address, because Swift checks each access to a class property at run
    // time. These checks cost 270 instructions per update. SAFETY: `state` is allocated in `init`
    // and freed in `deinit`. Only the thread that owns the transaction uses it. Accesses do not
    // overlap, since each access is an expression that calls no code of this class.
    private let state: UnsafeMutablePointer<State>

    init(_ transaction: LMDBTransaction) {
        self.transaction = transaction
        state = .allocate(capacity: 1)
        state.initialize(to: State())
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Whether the map was full, so that the transaction can only be aborted.
    var isMapFull: Bool { state.pointee.isMapFull }

    /// Returns the cursor of a space.
    ///
    /// A cursor for appending is used for nothing else, because LMDB assumes that a cursor that
    /// reached the end stays there.
    private func cursor(_ space: KeySpace, isAppending: Bool = false) throws(StoreError) -> OpaquePointer {
        _ = try transaction.requireOpen()
        if !isAppending, state.pointee.room != nil { try endRoom(in: space) }
        if let place = state.pointee.places[space.position] {
            if place.isAppending == isAppending { return place.cursor }
            state.pointee.places[space.position] = nil
            transaction.closeCursor(place.cursor)
        }
        let cursor = try transaction.openCursor(space)
        state.pointee.places[space.position] = Place(cursor: cursor, isAppending: isAppending)
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
        default: throw StoreError.lmdb(code, what: "cannot be read", path: transaction.path)
        }
    }

    func cursor(in space: KeySpace) throws(StoreError) -> any KeyValueCursor {
        try endRoom(in: space)
        return try LMDBCursor(transaction, space: space)
    }

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) {
        if try isPastEnd(key, space: space) { return try append(key, value, in: space) }
        let code = put(key, value: value, flags: 0, cursor: try cursor(space))
        guard code == MDB_SUCCESS else { throw failure(code) }
    }

    func insert(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace
    ) throws(StoreError) -> Bool {
        if try isPastEnd(key, space: space) {
            try append(key, value, in: space)
            return true
        }
        let code = put(key, value: value, flags: UInt32(MDB_NOOVERWRITE), cursor: try cursor(space))
        switch code {
        case MDB_SUCCESS: return true
        case MDB_KEYEXIST: return false
        default: throw failure(code)
        }
    }

    func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) {
        let cursor = try cursor(space, isAppending: true)
        if PageRoom.isLeft(in: space) { try leaveRoom(before: key, value: value, space: space, cursor: cursor) }
        let code = put(key, value: value, flags: UInt32(MDB_APPEND), cursor: cursor)
        guard code == MDB_SUCCESS else { throw failure(code) }
        guard space == .records, state.pointee.knowsLastRecordKey else { return }
        state.pointee.lastRecordKey.removeAll(keepingCapacity: true)
        state.pointee.lastRecordKey.append(contentsOf: key)
    }

    /// Returns whether `space` is `records` and `key` comes after all keys in that space.
    ///
    /// Appending such keys fills the pages. An ordinary put would split them in the middle.
    private func isPastEnd(_ key: UnsafeRawBufferPointer, space: KeySpace) throws(StoreError) -> Bool {
        guard space == .records else { return false }
        if !state.pointee.knowsLastRecordKey {
            var (last, value) = (MDB_val(), MDB_val())
            // The appending cursor is used, because an append usually follows.
            let code = mdb_cursor_get(try cursor(space, isAppending: true), &last, &value, MDB_LAST)
            guard code == MDB_SUCCESS || code == MDB_NOTFOUND else { throw failure(code) }
            state.pointee.lastRecordKey = code == MDB_SUCCESS ? Array(UnsafeRawBufferPointer(last)) : []
            state.pointee.knowsLastRecordKey = true
        }
        return state.pointee.lastRecordKey.lexicographicallyPrecedes(key)
    }

    private func put(
        _ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, flags: UInt32, cursor: OpaquePointer
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

    // MARK: Room in pages

    /// Removes the previous placeholder and appends a new one, if one is due before an entry.
    private func leaveRoom(
        before key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, space: KeySpace, cursor: OpaquePointer
    ) throws(StoreError) {
        if state.pointee.room?.space != space {
            if let other = state.pointee.room?.space { try endRoom(in: other) }
            var statistics = MDB_stat()
            let code = mdb_stat(try transaction.requireOpen(), try transaction.database(space), &statistics)
            guard code == MDB_SUCCESS else { throw failure(code) }
            state.pointee.room = PageRoom(space: space, pageByteCount: Int(statistics.ms_psize))
        }
        guard let placeholderByteCount = state.pointee.room?.add(key.count + value.count) else { return }
        try removePlaceholder()
        // The cursors that callers have opened must not see a placeholder.
        guard transaction.cursorCount == state.pointee.places.count(where: { $0 != nil }) else { return }
        var (last, lastValue) = (MDB_val(), MDB_val())
        let position = mdb_cursor_get(cursor, &last, &lastValue, MDB_GET_CURRENT)
        // A cursor that has not appended anything yet has no position.
        guard position != EINVAL, position != MDB_NOTFOUND else { return }
        guard position == MDB_SUCCESS else { throw failure(position) }
        let placeholder = Array(UnsafeRawBufferPointer(last)) + [0]
        guard placeholder.count < LMDBStorage.longestKeyByteCount, !placeholder.elementsEqual(key) else { return }
        let zeros = [UInt8](repeating: 0, count: placeholderByteCount)
        let code = placeholder.withUnsafeBytes { key in
            zeros.withUnsafeBytes { put(key, value: $0, flags: UInt32(MDB_APPEND), cursor: cursor) }
        }
        guard code == MDB_SUCCESS else { throw failure(code) }
        state.pointee.room?.placeholder = placeholder
    }

    /// Removes the placeholder of a space, if any, and stops leaving room in its pages.
    ///
    /// This happens before the space is used for anything but appending, and before the commit.
    private func endRoom(in space: KeySpace) throws(StoreError) {
        guard state.pointee.room?.space == space else { return }
        try removePlaceholder()
        state.pointee.room = nil
    }

    private func removePlaceholder() throws(StoreError) {
        guard let room = state.pointee.room, let placeholder = room.placeholder else { return }
        state.pointee.room?.placeholder = nil
        let (pointer, database) = (try transaction.requireOpen(), try transaction.database(room.space))
        let code = placeholder.withUnsafeBytes { bytes in
            var key = MDB_val(bytes)
            return mdb_del(pointer, database, &key, nil)
        }
        guard code == MDB_SUCCESS else { throw failure(code) }
    }

    func finish() throws(StoreError) {
        if let space = state.pointee.room?.space { try endRoom(in: space) }
    }

    private func failure(_ code: Int32) -> StoreError {
        if code == MDB_MAP_FULL { state.pointee.isMapFull = true }
        return StoreError.lmdb(code, what: "cannot be written", path: transaction.path)
    }

    /// Does nothing, because the code that began the transaction ends it.
    func close() {}

    /// Aborts the transaction; a second call does nothing.
    func abort() {
        if let pointer = transaction.end() { mdb_txn_abort(pointer) }
    }
}
