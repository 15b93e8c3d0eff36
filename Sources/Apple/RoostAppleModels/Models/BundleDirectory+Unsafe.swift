package import RoostCore
internal import RoostSystem

/// A directory whose contents are opened by plain name, without following symbolic links.
package final class BundleDirectory {
    package let path: String
    private let descriptor: Int32

    private init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { _ = close(descriptor) }

    /// Opens the directory at `path`, following symbolic links, or returns nil for another kind of
    /// file.
    package static func open(at path: String) throws(StoreError) -> BundleDirectory? {
        guard !path.utf8.contains(0) else { throw StoreError(.notFound, "The path of a model contains a NUL byte.") }
        let descriptor = openFile(AT_FDCWD, name: path, flags: O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOTDIR { return nil }
            throw failure(errno, path: path)
        }
        return BundleDirectory(path: path, descriptor: descriptor)
    }

    /// Opens a directory inside this one, or returns nil if the name does not exist.
    package func directory(_ name: String) throws(StoreError) -> BundleDirectory? {
        try requirePlain(name, code: .invalidModel)
        let descriptor = Self.openFile(
            self.descriptor, name: name, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw refusal(errno, name: name, code: .invalidModel)
        }
        return BundleDirectory(path: "\(path)/\(name)", descriptor: descriptor)
    }

    /// Reads a whole file inside this directory, or returns nil if the name does not exist.
    ///
    /// Throws an error with the code `refusal` if the name is a path, or the file is not regular.
    package func read(
        _ name: String, limit: Int, refusal code: StoreError.Code = .invalidModel
    ) throws(StoreError) -> [UInt8]? {
        try requirePlain(name, code: code)
        let file = Self.openFile(descriptor, name: name, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw refusal(errno, name: name, code: code)
        }
        defer { _ = close(file) }
        return try Self.contents(of: file, path: "\(path)/\(name)", limit: limit, code: code)
    }

    /// Reads the whole file at `path`, following symbolic links.
    package static func readFile(at path: String, limit: Int) throws(StoreError) -> [UInt8] {
        guard !path.utf8.contains(0) else { throw StoreError(.notFound, "The path of a model contains a NUL byte.") }
        let file = openFile(AT_FDCWD, name: path, flags: O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw failure(errno, path: path) }
        defer { _ = close(file) }
        return try contents(of: file, path: path, limit: limit, code: .invalidModel)
    }

    /// Returns the sorted names of all entries except `.` and `..`.
    package func names() throws(StoreError) -> [String] {
        let copy = Self.openFile(descriptor, name: ".", flags: O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { throw Self.failure(errno, path: path) }
        guard let stream = fdopendir(copy) else {
            let code = errno
            _ = close(copy)
            throw Self.failure(code, path: path)
        }
        defer { _ = closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw Self.failure(errno, path: path) }
                return names.sorted()
            }
            // SAFETY: The entry stays valid until the next readdir. Its array `d_name` is
            // NUL-terminated.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }

    private func requirePlain(_ name: String, code: StoreError.Code) throws(StoreError) {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")), !name.utf8.contains(0)
        else {
            throw StoreError(
                code,
                "'\(path)' refers to '\(name)', which is not a plain file name. Files outside a bundle are not read.")
        }
    }

    private func refusal(_ number: Int32, name: String, code: StoreError.Code) -> StoreError {
        guard number == ELOOP || number == ENOTDIR else { return Self.failure(number, path: "\(path)/\(name)") }
        return StoreError(
            code,
            "'\(path)/\(name)' is a symbolic link or not of the expected kind; links inside a bundle are not followed.")
    }

    private static func contents(
        of file: Int32, path: String, limit: Int, code: StoreError.Code
    ) throws(StoreError) -> [UInt8] {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure(errno, path: path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(code, "'\(path)' is not a regular file.")
        }
        guard status.st_size <= limit else {
            throw StoreError(.limitExceeded, "'\(path)' has \(status.st_size) bytes; at most \(limit) are read.")
        }
        // The additional byte detects a file that grows while it is read.
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size) + 1)
        var count = 0
        while count < bytes.count {
            let taken = bytes.withUnsafeMutableBytes { buffer in
                SystemCalls.read(file, into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
            }
            if taken < 0, errno == EINTR { continue }
            guard taken >= 0 else { throw failure(errno, path: path) }
            if taken == 0 { break }
            count += taken
        }
        guard count == Int(status.st_size) else {
            throw StoreError(.ioFailure, "'\(path)' changed while it was read; try again.")
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    private static func openFile(_ directory: Int32, name: String, flags: Int32) -> Int32 {
        while true {
            let descriptor = openat(directory, name, flags)
            if descriptor >= 0 || errno != EINTR { return descriptor }
        }
    }

    private static func failure(_ code: Int32, path: String) -> StoreError {
        let reason = String(cString: strerror(code))
        switch code {
        case ENOENT: return StoreError(.notFound, "Cannot open '\(path)': it does not exist. Check the path.")
        case EACCES, EPERM: return StoreError(.permissionDenied, "Cannot read '\(path)': \(reason).")
        case EMFILE, ENFILE, ENOMEM: return StoreError(.outOfResources, "Cannot open '\(path)': \(reason).")
        default: return StoreError(.ioFailure, "Cannot read '\(path)': \(reason).")
        }
    }
}
