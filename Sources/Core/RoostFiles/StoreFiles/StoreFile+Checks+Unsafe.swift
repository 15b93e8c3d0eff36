public import RoostCore
internal import RoostSystem

extension StoreFile {
    /// Checks, without opening the file, that `path` is a readable regular file or a symbolic link
    /// to one.
    ///
    /// Call this method before passing the path to a library, because a library may block on a pipe
    /// or a device.
    ///
    /// - Parameters:
    ///   - path: The path that is passed to the library.
    ///   - forWriting: Whether the file must be writable too.
    /// - Throws: `notFound`, `missingDirectory`, `notAStore` for a path that is not a file,
    ///   `permissionDenied`, `readOnly`.
    public static func requireRegularFile(at path: String, forWriting: Bool) throws(StoreError) {
        let status = try self.status(of: path)
        guard status.isRegular else {
            throw StoreError(.notAStore, "'\(path)' is \(status.noun), not a store file; check the path")
        }
        guard retrying({ faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) }) == 0 else {
            throw error(errno: errno, what: "cannot be read", path: path)
        }
        guard !forWriting || retrying({ faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) }) == 0 else {
            throw error(errno: errno, what: "cannot be written", path: path)
        }
    }

    /// Checks that nothing exists at `path`, not even a dangling link, and that the directory
    /// exists and is writable.
    ///
    /// - Throws: `alreadyExists`, `missingDirectory`, `permissionDenied`, `readOnly`.
    public static func requireAbsent(at path: String) throws(StoreError) {
        switch FileStatus.of(path, followingLinks: false) {
        case .success:
            throw StoreError(.alreadyExists, "'\(path)' exists already; choose another path or remove it")
        case .failure(let system) where system.code == ENOENT:
            break
        case .failure(let system):
            throw error(errno: system.code, what: "cannot be examined", path: path)
        }
        let directory = directory(of: path)
        guard isDirectory(at: directory) else {
            throw StoreError(
                .missingDirectory,
                "The directory '\(directory)' for '\(name(of: path))' does not exist; create it first")
        }
        guard retrying({ faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) }) == 0 else {
            throw error(errno: errno, what: "is a directory in which nothing can be created", path: directory)
        }
    }

    package static func canMakeFiles(beside path: String) -> Bool {
        retrying({ faccessat(AT_FDCWD, directory(of: resolvingLink(path)), W_OK | X_OK, AT_EACCESS) }) == 0
    }

    /// Checks that a replacement of the file at `path` can have the same owner.
    ///
    /// - Throws: `permissionDenied`, `notFound`, `missingDirectory`.
    package static func requireKeepingOwner(at path: String) throws(StoreError) {
        let (user, owner) = (geteuid(), try status(of: path).owner)
        guard user == 0 || user == owner else {
            throw StoreError(
                .permissionDenied,
                "'\(path)' belongs to another user and cannot be replaced without changing its owner; run this as that user or as the superuser"
            )
        }
    }

    /// Returns up to `count` first bytes of the file at `path`; nil if it is not a readable regular
    /// file.
    ///
    /// Never blocks. If ``HeldFiles`` contains the file, this process keeps its POSIX locks on the
    /// file.
    public static func read(prefix count: Int, of path: String) -> [UInt8]? {
        // Check the kind before opening, because opening a device can have side effects. Check again
        // after opening, because the file may have been replaced.
        guard count >= 0, case .success(let before) = FileStatus.of(path, followingLinks: true), before.isRegular else {
            return nil
        }
        do throws(SystemError) {
            let file = try OpenFile(path, flags: O_RDONLY, followingLinks: true)
            guard try file.status.isRegular else { return nil }
            let bytes = try readBytes(file.descriptor, count: min(count, before.byteCount), offset: 0)
            try file.close()
            return bytes
        } catch {
            // Opening the file as a store reports the error.
            return nil
        }
    }

    /// Reads up to `count` bytes at `offset`, fewer only at the end of the file.
    static func readBytes(_ descriptor: Int32, count: Int, offset: Int) throws(SystemError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            while done < count {
                // SAFETY: `done` is below `count`, so the rest of the buffer starts inside it.
                let got = pread(descriptor, buffer.baseAddress.map { $0 + done }, count - done, off_t(offset + done))
                if got == 0 { return }
                if got < 0 {
                    if errno == EINTR { continue }
                    failure = errno
                    return
                }
                done += got
            }
        }
        guard failure == 0 else { throw SystemError(code: failure) }
        return bytes
    }

    /// Returns the size of a file in bytes.
    public static func byteCount(at path: String) throws(StoreError) -> Int {
        try status(of: path).byteCount
    }

    /// Returns the number of bytes that an ordinary user can still write on the file system of
    /// `path`.
    package static func freeBytes(inDirectoryOf path: String) throws(StoreError) -> Int {
        let directory = directory(of: resolvingLink(path))
        guard isUsable(directory) else { throw error(errno: EINVAL, what: "cannot be examined", path: directory) }
        var information = statvfs()
        guard retrying({ statvfs(directory, &information) }) == 0 else {
            throw error(errno: errno, what: "is on a file system that cannot be examined", path: path)
        }
        let unit = UInt64(information.f_frsize > 0 ? UInt64(information.f_frsize) : UInt64(information.f_bsize))
        let (bytes, overflow) = UInt64(information.f_bavail).multipliedReportingOverflow(by: unit)
        return overflow ? .max : Int(clamping: bytes)
    }

    /// Throws `unsupported` if `path` is on a network file system, where locks and memory mapping
    /// are not reliable.
    public static func refuseNetworkFileSystem(at path: String) throws(StoreError) {
        guard isUsable(path) else { throw error(errno: EINVAL, what: "cannot be examined", path: path) }
        var type: UInt64 = 0
        var code = croost_file_system_type(path, &type)
        if code == ENOENT { code = croost_file_system_type(directory(of: resolvingLink(path)), &type) }
        guard code == 0 else { throw error(errno: code, what: "cannot be examined", path: path) }
        if let name = networkFileSystem(type: type) {
            throw StoreError(
                .unsupported,
                "'\(path)' is on a network file system (\(name)), where locks are not reliable; use a local disk")
        }
    }

    /// Returns the name of the network file system with this statfs(2) type; nil for other types.
    static func networkFileSystem(type: UInt64) -> String? {
        #if os(Linux) || os(Android)
            switch type {
            case 0x6969: return "NFS"
            case 0x517B, 0xFF53_4D42, 0xFE53_4D42: return "SMB"
            case 0x0102_1997: return "9P"
            case 0x6573_5546: return "FUSE"
            case 0x5346_414F, 0x6B41_4653: return "AFS"
            case 0x7375_7245: return "Coda"
            case 0x564C: return "NCP"
            case 0x00C3_6400: return "Ceph"
            case 0x0BD0_0BD0: return "Lustre"
            case 0x4750_4653: return "GPFS"
            case 0x0116_1970: return "GFS2"
            case 0x7461_636F: return "OCFS2"
            case 0x786F_4256: return "VirtualBox shared folder"
            default: return nil
            }
        #else
            return type == 0 ? nil : "not local"
        #endif
    }

    /// Whether anything exists at `path`, even a dangling link.
    ///
    /// False if this user may not search the directory.
    package static func hasEntry(at path: String) -> Bool {
        guard case .success = FileStatus.of(path, followingLinks: false) else { return false }
        return true
    }

    /// Whether two paths refer to the same file, even through symbolic or hard links.
    ///
    /// False if one of them does not exist.
    package static func sameFile(_ a: String, _ b: String) -> Bool {
        guard case .success(let left) = FileStatus.of(a, followingLinks: true),
            case .success(let right) = FileStatus.of(b, followingLinks: true)
        else { return false }
        return left.device == right.device && left.inode == right.inode
    }

    /// Returns the path of the file that a symbolic link refers to; `path` itself if it is not a
    /// link or is a dangling link.
    public static func resolvingLink(_ path: String) -> String {
        guard case .success(let status) = FileStatus.of(path, followingLinks: false), status.isSymbolicLink,
            let target = realpath(path, nil)
        else { return path }
        // SAFETY: realpath without a buffer returns null or a C string that the caller frees.
        defer { free(target) }
        return String(cString: target)
    }

    /// Returns the result of ``resolvingLink(_:)`` as an absolute path.
    ///
    /// A relative path remains relative if the working directory no longer exists.
    package static func absolutePath(_ path: String) -> String {
        let path = resolvingLink(path)
        guard path.utf8.first != UInt8(ascii: "/"), let directory = getcwd(nil, 0) else { return path }
        // SAFETY: getcwd without a buffer returns null or a C string that the caller frees.
        defer { free(directory) }
        let parent = String(cString: directory)
        return parent == "/" ? "/" + path : parent + "/" + path
    }

    static func isDirectory(at path: String) -> Bool {
        guard case .success(let status) = FileStatus.of(path, followingLinks: true) else { return false }
        return status.isDirectory
    }

    static func status(of path: String) throws(StoreError) -> FileStatus {
        switch FileStatus.of(path, followingLinks: true) {
        case .success(let status): return status
        case .failure(let system):
            if system.code == ENOENT, case .success = FileStatus.of(path, followingLinks: false) {
                throw StoreError(
                    .notFound, "'\(path)' is a symbolic link to a file that does not exist", underlying: system)
            }
            throw error(errno: system.code, what: "cannot be opened", path: path)
        }
    }

    /// Checks that the directory of `path` exists, and that not every user may replace other users'
    /// files in it.
    static func requireSafeDirectory(of path: String) throws(StoreError) {
        let directory = directory(of: path)
        let status: FileStatus
        switch FileStatus.of(directory, followingLinks: true) {
        case .success(let found): status = found
        case .failure(let system) where system.code == ENOENT:
            throw StoreError(
                .missingDirectory, "The directory '\(directory)' does not exist; create it first", underlying: system)
        case .failure(let system): throw error(errno: system.code, what: "cannot be examined", path: directory)
        }
        guard status.isDirectory else {
            throw StoreError(.missingDirectory, "'\(directory)' is \(status.noun), not a directory")
        }
        // The sticky bit prevents users from replacing each other's files.
        guard status.permissions & 0o002 == 0 || status.permissions & 0o1000 != 0 else {
            throw StoreError(
                .permissionDenied,
                "Every user can replace files in '\(directory)'; take write permission from others (chmod o-w) or set the sticky bit"
            )
        }
    }
}
