internal import RoostCore
internal import RoostFiles

/// A lock on some of the bytes that SQLite locks in a database file, see
/// <https://www.sqlite.org/lockingv3.html>.
///
/// While open, each connection to a database with a log holds a shared lock on 510 bytes. An
/// exclusive lock on one of these bytes excludes the connections of all programs. Several users can
/// hold exclusive locks on different bytes.
final class SQLiteFileLock: Sendable {
    /// The bytes on which connections hold shared locks.
    ///
    /// SQLite's `os.h` defines them as `SHARED_FIRST` and `SHARED_SIZE`.
    private static let sharedBytes = 0x4000_0002..<0x4000_0002 + 510

    private let lock: FileRangeLock
    /// Whether the lock prevents all new connections.
    ///
    /// A shared lock prevents only changes to a database without a log.
    let keepsOthersOut: Bool

    private init(_ lock: FileRangeLock, keepsOthersOut: Bool) {
        self.lock = lock
        self.keepsOthersOut = keepsOthersOut
    }

    /// Locks one byte of the file at `path` exclusively, without waiting.
    ///
    /// Returns nil if a connection to the file is open, or if the system cannot lock single bytes.
    ///
    /// - Throws: `permissionDenied` or `readOnly` if this user may not write to the file.
    static func keepingOthersOut(of path: String) throws(StoreError) -> SQLiteFileLock? {
        let offset = Int.random(in: 0..<sharedBytes.count)
        let bytes = sharedBytes.indices.lazy.map { index in
            let byte = sharedBytes.lowerBound + (index - sharedBytes.lowerBound + offset) % sharedBytes.count
            return byte..<byte + 1
        }
        guard let lock = try FileRangeLock.acquire(oneOf: bytes, mode: .exclusive, at: path) else { return nil }
        return SQLiteFileLock(lock, keepsOthersOut: true)
    }

    /// Locks the file at `path`, so that it can be read without a log.
    ///
    /// Returns nil if a conflicting lock exists, or if the system cannot lock ranges of bytes. If
    /// this user may not write to the file, the lock is shared.
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

    /// Returns whether the file at `path` has a lock that ``keepingOthersOut(of:)`` made.
    static func isHeld(at path: String) -> Bool {
        // A lock on one byte is not SQLite's, because SQLite locks either all of the bytes or none.
        FileRangeLock.exclusiveByteCount(sharedBytes, at: path) == 1
    }
}
