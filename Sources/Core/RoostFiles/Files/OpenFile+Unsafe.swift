internal import RoostCore
internal import RoostSystem

struct FileStatus {
    enum Kind { case regular, directory, symbolicLink, other(String) }

    let kind: Kind
    let device: UInt64
    let inode: UInt64
    let linkCount: Int
    let byteCount: Int
    let modificationNanoseconds: Int
    let permissions: mode_t
    let owner: uid_t
    let group: gid_t

    private init(_ status: stat) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .regular
        case S_IFDIR: kind = .directory
        case S_IFLNK: kind = .symbolicLink
        case S_IFIFO: kind = .other("a pipe")
        case S_IFSOCK: kind = .other("a socket")
        case S_IFCHR, S_IFBLK: kind = .other("a device")
        default: kind = .other("no file")
        }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        linkCount = Int(clamping: status.st_nlink)
        byteCount = Int(clamping: status.st_size)
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        modificationNanoseconds = Int(time.tv_sec) &* 1_000_000_000 &+ Int(time.tv_nsec)
        permissions = status.st_mode & 0o7777
        owner = status.st_uid
        group = status.st_gid
    }

    var isRegular: Bool { if case .regular = kind { true } else { false } }
    var isDirectory: Bool { if case .directory = kind { true } else { false } }
    var isSymbolicLink: Bool { if case .symbolicLink = kind { true } else { false } }

    var noun: String {
        switch kind {
        case .regular: "a file"
        case .directory: "a directory"
        case .symbolicLink: "a symbolic link"
        case .other(let noun): noun
        }
    }

    static func of(_ path: String, followingLinks: Bool) -> Result<FileStatus, SystemError> {
        guard isUsable(path) else { return .failure(SystemError(code: EINVAL)) }
        var status = stat()
        let result = retrying { followingLinks ? stat(path, &status) : lstat(path, &status) }
        return result == 0 ? .success(FileStatus(status)) : .failure(SystemError(code: errno))
    }

    static func of(descriptor: Int32) -> Result<FileStatus, SystemError> {
        var status = stat()
        return retrying { fstat(descriptor, &status) } == 0
            ? .success(FileStatus(status)) : .failure(SystemError(code: errno))
    }
}

/// Whether a path is not empty and contains no NUL, which would end the path in C.
///
/// Every transaction calls this function, so it must be fast.
func isUsable(_ path: String) -> Bool {
    guard !path.isEmpty else { return false }
    let hasNUL = path.utf8.withContiguousStorageIfAvailable { bytes in
        // SAFETY: `memchr` reads no more bytes than the text has.
        bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
    }
    return !(hasNUL ?? path.utf8.contains(0))
}

/// Repeats a call while signals interrupt it.
func retrying(_ call: () -> Int32) -> Int32 {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}

/// A file descriptor that is closed at the end of the value's lifetime.
struct OpenFile: ~Copyable {
    let descriptor: Int32
    /// Whether ``HeldFiles`` closes the file, because a library in this process may have locked it.
    private let isClosedLater: Bool

    /// Opens a file without waiting for a pipe or acquiring a controlling terminal.
    ///
    /// `isLockedElsewhere` means that a library in this process may have locked the file. For
    /// `O_RDONLY`, this is always assumed.
    init(
        _ path: String, flags: Int32, permissions: mode_t = 0o600, followingLinks: Bool = false,
        isLockedElsewhere: Bool = false
    ) throws(SystemError) {
        guard isUsable(path) else { throw SystemError(code: EINVAL) }
        let isReused = flags == O_RDONLY || isLockedElsewhere && flags == O_RDWR
        let held =
            isReused
            ? HeldFiles.shared.takeHandle(path, forWriting: flags == O_RDWR, followingLinks: followingLinks) : nil
        let all = flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (followingLinks ? 0 : O_NOFOLLOW)
        let descriptor = held ?? retrying { open(path, all, permissions) }
        guard descriptor >= 0 else { throw SystemError(code: errno) }
        self.descriptor = descriptor
        isClosedLater = flags == O_RDONLY || isLockedElsewhere
    }

    static func regular(
        _ path: String, flags: Int32, isLockedElsewhere: Bool = false
    ) throws(SystemError) -> OpenFile {
        let file = try OpenFile(path, flags: flags, isLockedElsewhere: isLockedElsewhere)
        let status = try file.status
        guard status.isRegular else { throw SystemError(code: status.isDirectory ? EISDIR : ENXIO) }
        return file
    }

    var status: FileStatus { get throws(SystemError) { try FileStatus.of(descriptor: descriptor).get() } }

    /// Flushes the file to the medium; see ``WritableFile/sync()``.
    func sync() throws(SystemError) {
        let code = croost_sync(descriptor)
        guard code == 0 else { throw SystemError(code: code) }
    }

    consuming func close() throws(SystemError) {
        let descriptor = self.descriptor
        let isClosedLater = self.isClosedLater
        discard self
        if isClosedLater { try HeldFiles.shared.close(descriptor) } else { try Self.closeNow(descriptor) }
    }

    /// Closes a descriptor of a file that no library in this process has locked.
    static func closeNow(_ descriptor: Int32) throws(SystemError) {
        // The system closes the descriptor even on EINTR, so a second call could close a descriptor
        // of another caller.
        guard systemClose(descriptor) == 0 || errno == EINTR else { throw SystemError(code: errno) }
    }

    deinit {
        // No error needs to be reported: the file was only read, or an earlier call has failed.
        if isClosedLater { try? HeldFiles.shared.close(descriptor) } else { _ = systemClose(descriptor) }
    }
}

/// Calls the system's `close`, which the methods named `close` hide.
private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }
