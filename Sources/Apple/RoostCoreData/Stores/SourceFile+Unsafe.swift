internal import RoostCore

#if SQLite
    internal import RoostSystem

    /// The identity, size and modification time of a file, for detecting changes.
    struct FileStamp: Hashable {
        let device: UInt64
        let inode: UInt64
        let size: Int64
        let seconds: Int64
        let nanoseconds: Int64
        let isRegular: Bool

        /// Creates the stamp of a file, following symbolic links, or returns nil if the file does
        /// not exist.
        init?(at path: String) throws(StoreError) {
            var status = stat()
            guard stat(path, &status) == 0 else {
                switch errno {
                case ENOENT, ENOTDIR: return nil
                case EACCES, EPERM: throw StoreError(.permissionDenied, "Cannot read '\(path)': permission denied.")
                default:
                    throw StoreError(
                        .ioFailure, "Cannot examine '\(path)': \(String(cString: strerror(errno))).")
                }
            }
            device = UInt64(truncatingIfNeeded: status.st_dev)
            inode = UInt64(truncatingIfNeeded: status.st_ino)
            size = Int64(status.st_size)
            #if canImport(Darwin)
                seconds = Int64(status.st_mtimespec.tv_sec)
                nanoseconds = Int64(status.st_mtimespec.tv_nsec)
            #else
                seconds = Int64(status.st_mtim.tv_sec)
                nanoseconds = Int64(status.st_mtim.tv_nsec)
            #endif
            isRegular = status.st_mode & S_IFMT == S_IFREG
        }
    }

    /// A private directory for copies, which is removed when the object is deallocated.
    final class PrivateDirectory: Sendable {
        let path: String
        private let names: [String]

        /// Copies the existing files among `names` from `directory` into a new directory.
        ///
        /// After an error, no copy remains.
        init(copying names: [String], of directory: String) throws(StoreError) {
            let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
            var template = Array("\(base)/roost-coredata-XXXXXX".utf8CString)
            let made = template.withUnsafeMutableBufferPointer { buffer -> String? in
                // mkdtemp creates a new directory with mode 0700.
                guard let start = buffer.baseAddress, let made = mkdtemp(start) else { return nil }
                return String(cString: made)
            }
            guard let made else {
                throw Self.failure(errno, what: "Cannot create a temporary directory in '\(base)'")
            }
            path = made
            self.names = names
            for name in names {
                do throws(StoreError) {
                    try Self.copy("\(directory)/\(name)", to: "\(path)/\(name)")
                } catch {
                    remove()
                    throw error
                }
            }
        }

        deinit { remove() }

        private func remove() {
            // Ignores errors, because the system cleans up temporary files.
            for name in names {
                for suffix in ["", "-wal", "-shm", "-journal"] { _ = unlink("\(path)/\(name)\(suffix)") }
            }
            _ = rmdir(path)
        }

        private static func copy(_ source: String, to destination: String) throws(StoreError) {
            let input = open(source, O_RDONLY | O_CLOEXEC)
            guard input >= 0 else {
                if errno == ENOENT { return }
                throw failure(errno, what: "Cannot open '\(source)'")
            }
            defer { _ = close(input) }
            let output = open(destination, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard output >= 0 else { throw failure(errno, what: "Cannot create a private copy of '\(source)'") }
            var isOpen = true
            defer { if isOpen { _ = close(output) } }
            var piece = [UInt8](repeating: 0, count: 1 << 20)
            while true {
                let taken = piece.withUnsafeMutableBytes { read(input, $0.baseAddress, $0.count) }
                if taken < 0, errno == EINTR { continue }
                guard taken >= 0 else { throw failure(errno, what: "Cannot read '\(source)'") }
                if taken == 0 {
                    // A network file system may report a failed write only when the file is closed.
                    isOpen = false
                    guard close(output) == 0 || errno == EINTR else {
                        throw failure(errno, what: "Cannot write a private copy of '\(source)'")
                    }
                    return
                }
                var written = 0
                while written < taken {
                    let count = piece.withUnsafeBytes { bytes in
                        // SAFETY: `written` is below `taken`, which is at most the buffer's count.
                        bytes.baseAddress.map { write(output, $0 + written, taken - written) } ?? 0
                    }
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { throw failure(errno, what: "Cannot write a private copy of '\(source)'") }
                    written += count
                }
            }
        }

        private static func failure(_ code: Int32, what: String) -> StoreError {
            let kind: StoreError.Code =
                switch code {
                case ENOSPC, EDQUOT: .noSpace
                case EACCES, EPERM, EROFS: .permissionDenied
                case EMFILE, ENFILE, ENOMEM: .outOfResources
                default: .ioFailure
                }
            return StoreError(kind, "\(what): \(String(cString: strerror(code))).")
        }
    }
#endif
