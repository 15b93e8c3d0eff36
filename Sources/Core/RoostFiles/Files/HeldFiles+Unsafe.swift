internal import RoostCore
internal import RoostSystem

/// The files on which a library in this process holds POSIX locks.
///
/// When a process closes any handle on a file, the system drops all POSIX locks of the process on
/// that file. SQLite uses POSIX locks. A store that has lost its locks continues to work. But the
/// next program that closes the file believes that it is the last user and removes the write-ahead
/// log, so later commits are lost. Therefore call ``enter(_:)`` before such a library opens a file.
/// Unless stated otherwise, RoostFiles closes handles of such files only through this type, which
/// keeps the handles open until ``leave(_:)`` is called.
public final class HeldFiles: Sendable {
    /// The files of this process.
    public static let shared = HeldFiles()

    private struct Entry {
        var count = 0
        /// The handles that will be closed after the library has closed the file.
        ///
        /// A handle is reused before a new one is opened, so the number of handles is limited.
        var handles: [(descriptor: Int32, isWritable: Bool)] = []
    }

    private let entries = Mutex<[FileIdentity: Entry]>([:])

    /// Counts a use of the file.
    ///
    /// Call this method before the library opens the file.
    public func enter(_ identity: FileIdentity) { entries.withLock { $0[identity, default: Entry()].count += 1 } }

    /// Ends a use of the file.
    ///
    /// Call this method after the library has closed the file.
    public func leave(_ identity: FileIdentity) {
        entries.withLock { entries in
            guard var entry = entries[identity] else { return }
            entry.count -= 1
            guard entry.count <= 0 else {
                entries[identity] = entry
                return
            }
            entries[identity] = nil
            // An error of closing is ignored, because the callers have already handled all errors
            // of reading and flushing.
            for handle in entry.handles { try? OpenFile.closeNow(handle.descriptor) }
        }
    }

    /// Whether a library that locks files has the file at `path` open in this process.
    public func contains(_ path: String) -> Bool {
        guard let identity = try? FileIdentity(at: path) else { return false }
        return entries.withLock { $0[identity] != nil }
    }

    /// Removes and returns a saved handle on the file at `path`, or returns nil.
    ///
    /// The handle itself has no lock on the file.
    func takeHandle(_ path: String, forWriting: Bool, followingLinks: Bool) -> Int32? {
        guard entries.withLock({ !$0.isEmpty }),
            case .success(let status) = FileStatus.of(path, followingLinks: followingLinks)
        else { return nil }
        return entries.withLock { entries in
            let identity = FileIdentity(status)
            guard let index = entries[identity]?.handles.lastIndex(where: { $0.isWritable == forWriting }) else {
                return nil
            }
            return entries[identity]?.handles.remove(at: index).descriptor
        }
    }

    /// Returns the first bytes of `file`, unless a library has the file at `path` open and may have
    /// locked `file`.
    ///
    /// The library cannot begin to use the file at `path` before this method returns.
    ///
    /// - Returns: Up to `count` bytes; nil if the library has the file at `path` open, or if `file`
    ///   cannot be read.
    func read(prefix count: Int, of file: String, unlessHeld path: String) -> [UInt8]? {
        entries.withLock { entries in
            if let identity = try? FileIdentity(at: path), entries[identity] != nil { return nil }
            guard isUsable(file) else { return nil }
            let descriptor = retrying { open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW) }
            guard descriptor >= 0 else { return nil }
            // A file that was only read loses nothing if closing fails.
            defer { try? OpenFile.closeNow(descriptor) }
            guard case .success(let status) = FileStatus.of(descriptor: descriptor), status.isRegular else {
                return nil
            }
            return try? StoreFile.readBytes(descriptor, count: min(count, status.byteCount), offset: 0)
        }
    }

    /// Closes a handle, or saves it for reuse while a library uses the file.
    func close(_ descriptor: Int32) throws(SystemError) {
        try entries.withLock { (entries) throws(SystemError) in
            if !entries.isEmpty, case .success(let status) = FileStatus.of(descriptor: descriptor) {
                let identity = FileIdentity(status)
                if entries[identity] != nil {
                    let isWritable = fcntl(descriptor, F_GETFL) & O_ACCMODE == O_RDWR
                    entries[identity]?.handles.append((descriptor, isWritable))
                    return
                }
            }
            // Close while the mutex is locked, so that no library can begin to use the file after
            // the check.
            try OpenFile.closeNow(descriptor)
        }
    }
}
