public import RoostCore

/// The identity of a file, independent of its name: its device and its inode number.
///
/// An identity is valid only while the file exists or is open, because the system reuses the inode
/// numbers of deleted files.
public struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    /// The size when the identity was read; not part of the identity.
    public let byteCount: Int

    /// The modification time in nanoseconds since 1970; not part of the identity.
    package let modificationNanoseconds: Int

    /// The number of hard links; not part of the identity.
    package let linkCount: Int

    /// Reads the identity of the file at `path`, following symbolic links.
    ///
    /// Throws `notFound`, `missingDirectory`, `permissionDenied`.
    public init(at path: String) throws(StoreError) {
        self.init(try StoreFile.status(of: path))
    }

    init(_ status: FileStatus) {
        device = status.device
        inode = status.inode
        byteCount = status.byteCount
        modificationNanoseconds = status.modificationNanoseconds
        linkCount = status.linkCount
    }

    /// Whether `other` is the same file with the same size and modification time.
    public func isUnchanged(since other: Self) -> Bool {
        self == other && byteCount == other.byteCount && modificationNanoseconds == other.modificationNanoseconds
    }

    /// Whether both are the same file.
    public static func == (left: Self, right: Self) -> Bool { left.device == right.device && left.inode == right.inode }

    /// Hashes the device and the inode number.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(device)
        hasher.combine(inode)
    }
}

/// A check that the file of an open store is still the file at the store's path.
///
/// If the file is replaced while a library has it open, the library's later commits are lost.
/// Create the check before the library opens the file. Verify right after the opening, and at the
/// beginning of every transaction.
public final class FileHandleCheck: Sendable {
    package let identity: FileIdentity
    private let path: String

    /// Saves the identity of the file at `path`.
    public init(at path: String) throws(StoreError) {
        identity = try FileIdentity(at: path)
        self.path = path
    }

    /// Performs ``verify(minimumByteCount:)``, and checks that the file has no other hard link.
    ///
    /// Call this method at the beginning of a write transaction, and again right before the commit.
    ///
    /// - Parameter minimumByteCount: The minimum size of the file.
    /// - Returns: The file's current identity, with its size.
    /// - Throws: The errors of ``verify(minimumByteCount:)``; `hasOtherNames`.
    @discardableResult
    public func verifyForWriting(minimumByteCount: Int = 0) throws(StoreError) -> FileIdentity {
        let now = try verify(minimumByteCount: minimumByteCount)
        guard now.linkCount <= 1 else { throw StoreFile.hasOtherNames(path, now) }
        return now
    }

    /// Checks that the file has not changed since the check was created.
    ///
    /// Use this method for readers that cannot lock the file.
    ///
    /// - Throws: `storeReplaced`.
    package func verifyUnchanged(_ now: FileIdentity? = nil) throws(StoreError) {
        let found: FileIdentity
        if let now { found = now } else { found = try verify() }
        guard found.isUnchanged(since: identity) else {
            throw StoreError(
                .storeReplaced,
                "'\(path)' is read without locks, and another program changed it; open it again"
            )
        }
    }

    /// Checks that the path still refers to the same file.
    ///
    /// Takes about a microsecond.
    ///
    /// - Parameter minimumByteCount: The minimum size of the file.
    /// - Returns: The file's current identity, with its size.
    /// - Throws: `storeReplaced` if another file or no file is at the path; `corrupted` if the file
    ///   is shorter than `minimumByteCount`.
    @discardableResult
    public func verify(minimumByteCount: Int = 0) throws(StoreError) -> FileIdentity {
        let now: FileIdentity
        do throws(StoreError) {
            now = try FileIdentity(at: path)
        } catch  where error.code == .notFound || error.code == .missingDirectory {
            throw error.withMessage(
                "'\(path)' was removed or renamed while it was open; close the store and open it where it is now",
                code: .storeReplaced)
        }
        guard now == identity else {
            throw StoreError(
                .storeReplaced,
                "'\(path)' was replaced by another file while it was open; close the store and open the new one")
        }
        guard now.byteCount >= minimumByteCount else {
            throw StoreError(
                .corrupted,
                "'\(path)' was truncated to \(now.byteCount) bytes while it was open, but needs \(minimumByteCount); restore it from a backup"
            )
        }
        return now
    }
}
