internal import RoostCore
internal import RoostFiles

/// A lock on a database file at the bytes where SQLite has its own, see
/// <https://www.sqlite.org/lockingv3.html>.
///
/// Each connection to a database with a log shares a lock on 510 bytes as long as it is open.
/// An exclusive lock on one of these bytes keeps all connections of every program out. Several
/// users can hold such a lock, each on another byte.
final class SQLiteFileLock: Sendable {
    /// The bytes that connections share, `SHARED_FIRST` and `SHARED_SIZE` in SQLite's `os.h`.
    private static let sharedBytes = 0x4000_0002..<0x4000_0002 + 510

    private let lock: FileRangeLock
    /// Whether no connection can begin to use the file; if not, none can change it without a log.
    let keepsOthersOut: Bool

    private init(_ lock: FileRangeLock, keepsOthersOut: Bool) {
        self.lock = lock
        self.keepsOthersOut = keepsOthersOut
    }

    /// Locks the file at `path`, without waiting; nil where a connection to it is open.
    ///
    /// - Throws: `permissionDenied` or `readOnly` where this user may not write the file; what
    ///   opening it reports.
    static func keepingOthersOut(of path: String) throws(StoreError) -> SQLiteFileLock? {
        let offset = Int.random(in: 0..<sharedBytes.count)
        let bytes = sharedBytes.indices.lazy.map { index in
            let byte = sharedBytes.lowerBound + (index - sharedBytes.lowerBound + offset) % sharedBytes.count
            return byte..<byte + 1
        }
        guard let lock = try FileRangeLock.acquire(oneOf: bytes, mode: .exclusive, at: path) else { return nil }
        return SQLiteFileLock(lock, keepsOthersOut: true)
    }

    /// Locks the file at `path` to be read without a log; shared where this user may not write it.
    static func forReading(_ path: String) throws(StoreError) -> SQLiteFileLock? {
        do throws(StoreError) {
            return try keepingOthersOut(of: path)
        } catch  where error.code == .permissionDenied || error.code == .readOnly {
            guard let lock = try FileRangeLock.acquire(oneOf: CollectionOfOne(sharedBytes), mode: .shared, at: path)
            else {
                return nil
            }
            return SQLiteFileLock(lock, keepsOthersOut: false)
        }
    }

    /// Whether such a lock keeps connections out of the file at `path`.
    static func isHeld(at path: String) -> Bool {
        // SQLite locks all of the bytes or none.
        FileRangeLock.exclusiveByteCount(sharedBytes, at: path) == 1
    }
}
