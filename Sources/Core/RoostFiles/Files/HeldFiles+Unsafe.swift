internal import RoostCore
internal import RoostSystem

/// The files on which a library in this process holds POSIX locks.
///
/// When a process closes any handle on a file, the system drops all POSIX locks of the process on
/// that file. A SQLite store without its locks continues to work. But the next program that closes
/// the file removes the write-ahead log, so the store's later commits are lost. Therefore call
/// ``enter(_:)`` before a library that uses POSIX locks opens a file. Until ``leave(_:)`` is
/// called, RoostFiles closes no handle with which it reads or locks the file.
public final class HeldFiles: Sendable {
    /// The files of this process.
    public static let shared = HeldFiles()

    private struct Entry {
        var count = 0
        /// The handles to close after the library has closed the file; reuse limits their number.
        var handles: [(descriptor: Int32, isWritable: Bool)] = []
    }

    private let entries = Mutex<[FileIdentity: Entry]>([:])

    /// Counts a use of the file, before the library opens the file.
    public func enter(_ identity: FileIdentity) { entries.withLock { $0[identity, default: Entry()].count += 1 } }

    /// Ends a use of the file, after the library has closed the file.
    public func leave(_ identity: FileIdentity) {
        entries.withLock { entries in
            guard var entry = entries[identity] else { return }
            entry.count -= 1
            guard entry.count <= 0 else {
                entries[identity] = entry
                return
            }
            entries[identity] = nil
            // The callers have already handled all errors of reading and flushing.
            for handle in entry.handles { try? OpenFile.closeNow(handle.descriptor) }
        }
    }

    /// Whether a library in this process uses the file at `path`.
    public func contains(_ path: String) -> Bool {
        guard let identity = try? FileIdentity(at: path) else { return false }
        return entries.withLock { $0[identity] != nil }
    }

    /// Removes and returns a saved handle on the file at `path`; nil if none is saved.
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

    /// Returns up to `count` first bytes of `file`; nil if a library uses the file at `path`, or if
    /// `file` cannot be read.
    ///
    /// Such a library may have locked `file`. No library can begin to use the file at `path` before
    /// this method returns.
    func read(prefix count: Int, of file: String, unlessHeld path: String) -> [UInt8]? {
        entries.withLock { entries in
            if let identity = try? FileIdentity(at: path), entries[identity] != nil { return nil }
            guard isUsable(file) else { return nil }
            let descriptor = retrying { open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW) }
            guard descriptor >= 0 else { return nil }
            // Nothing was written, so a failure is harmless.
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
