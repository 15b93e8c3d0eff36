internal import RoostCore
internal import RoostFiles

/// Which files this process has open through SQLite.
///
/// The system forgets all of a process's locks on a file when the process closes any handle on it. So a file that SQLite has
/// open must not be opened, looked at and closed by anybody else in the process: whoever wants to asks here first.
final class SQLiteOpenFiles: Sendable {
    static let shared = SQLiteOpenFiles()

    private let counts = Mutex<[FileIdentity: Int]>([:])

    /// Counts the file in, after `inspect` has looked at it; `inspect` runs only if the file is not open yet.
    func enter(
        _ identity: FileIdentity, inspect: () throws(StoreError) -> Void
    ) throws(StoreError) {
        try counts.withLock { (counts) throws(StoreError) in
            if counts[identity] == nil { try inspect() }
            counts[identity, default: 0] += 1
        }
    }

    /// Counts the file out.
    func leave(_ identity: FileIdentity) {
        counts.withLock { counts in
            let count = (counts[identity] ?? 1) - 1
            counts[identity] = count > 0 ? count : nil
        }
    }

    /// What `inspect` says of the file at `path`, or nil without running it when the file is open already.
    func inspectUnlessOpen<Result>(_ path: String, _ inspect: () -> Result) -> Result? {
        counts.withLock { counts in
            if let identity = try? FileIdentity(at: path), counts[identity] != nil { return nil }
            return inspect()
        }
    }
}
