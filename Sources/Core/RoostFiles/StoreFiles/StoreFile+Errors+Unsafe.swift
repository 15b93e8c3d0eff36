package import RoostCore
internal import RoostSystem

/// An `errno` value as an error.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    package let code: Int32

    package init(code: Int32) { self.code = code }

    package var description: String {
        // SAFETY: strerror never returns null, and its text is constant for the values that system
        // calls set.
        guard let text = strerror(code) else { return "error \(code)" }
        return "\(String(cString: text)), errno \(code)"
    }
}

extension StoreFile {
    /// Returns the store error for an `errno` value.
    ///
    /// `what` follows the path in the message. For "cannot be opened", the message is `'path'
    /// cannot be opened: …`.
    package static func error(errno code: Int32, what: String, path: String) -> StoreError {
        let system = SystemError(code: code)
        func error(_ code: StoreError.Code, remedy: String = "") -> StoreError {
            StoreError(
                code, "'\(path)' \(what): \(remedy.isEmpty ? "the system reported an error" : remedy)",
                underlying: system)
        }
        switch code {
        case ENOENT:
            if !isDirectory(at: directory(of: path)) {
                return error(.missingDirectory, remedy: "its directory does not exist; create it first")
            }
            return error(.notFound, remedy: "no such file; check the path")
        case ENOTDIR: return error(.missingDirectory, remedy: "a component of its path is not a directory")
        case EEXIST, ENOTEMPTY:
            return error(.alreadyExists, remedy: "something exists under this name; choose another or remove it")
        case EISDIR: return error(.notAStore, remedy: "it is a directory")
        case ENXIO, ENODEV: return error(.notAStore, remedy: "it is a device or a pipe, not a file")
        case ELOOP:
            return error(.notAStore, remedy: "it is a symbolic link instead of a file, or its links form a circle")
        case EACCES, EPERM:
            return error(
                .permissionDenied, remedy: "the system denies it; check the permissions of the file and its directory")
        case EROFS: return error(.readOnly, remedy: "the file system is read-only")
        case ENOSPC, EDQUOT: return error(.noSpace, remedy: "the disk or the quota is full; make room and try again")
        case EFBIG: return error(.noSpace, remedy: "the file would exceed a size limit of the system or of this user")
        case EMFILE, ENFILE: return error(.outOfResources, remedy: "too many files are open")
        case ENOMEM, ENOBUFS, ENOLCK: return error(.outOfResources, remedy: "the system is out of memory or locks")
        case EAGAIN, EBUSY, ETXTBSY: return error(.busy, remedy: "it is in use; try again later")
        case ETIMEDOUT: return error(.timedOut, remedy: "the system gave up waiting")
        case ENAMETOOLONG:
            return error(.invalidRequest, remedy: "the path or a name in it is too long; choose a shorter one")
        case EINVAL:
            return error(
                .invalidRequest,
                remedy: "the path is empty, has a NUL in it, or the file system does not support the operation"
            )
        case EXDEV: return error(.invalidRequest, remedy: "both files must be on one file system")
        case ENOSYS, ENOTSUP: return error(.unsupported, remedy: "the file system does not support it")
        default: return error(.ioFailure)
        }
    }
}
