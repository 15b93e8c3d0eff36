/// A temporary file without a name, with mode 0600, that exists until this object is deallocated or
/// the process ends.
///
/// The file is created and then unlinked. If the process ends in between, an empty file remains,
/// whose name ``isName(_:)`` recognizes. A cleanup may remove a file with such a name at any time.
package final class SpillFile {
    private static let namePrefix = ".roost-spill."
    private static let nameSuffix = ".roost-tmp"

    package static func isName(_ entry: String) -> Bool {
        guard entry.hasPrefix(namePrefix), entry.hasSuffix(nameSuffix) else { return false }
        let random = entry.dropFirst(namePrefix.count).dropLast(nameSuffix.count)
        return (1...16).contains(random.utf8.count) && UInt64(random, radix: 16) != nil && !random.hasPrefix("+")
    }

    private let descriptor: CInt
    package private(set) var byteCount = 0

    /// Creates an empty file in the first of the directories where this succeeds.
    ///
    /// The error names only the last directory.
    package init(inOneOf directories: [String]) throws(SystemFailure) {
        var failure = SystemFailure(.ioFailure, "Cannot make a temporary file: no directory was given for it.")
        for directory in directories {
            let random = UInt64.random(in: 0...UInt64.max)
            let path = directory + "/" + Self.namePrefix + String(random, radix: 16) + Self.nameSuffix
            let opened = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard opened >= 0 else {
                failure = Self.error(errno, what: "make a temporary file in '\(directory)'")
                continue
            }
            // ENOENT means that a cleanup has already removed the name.
            guard unlink(path) == 0 || errno == ENOENT else {
                failure = Self.error(errno, what: "unlink a temporary file in '\(directory)'")
                close(opened)
                continue
            }
            descriptor = opened
            return
        }
        throw failure
    }

    deinit {
        // The file has no name and is not read again, so a failure to close it has no effect.
        close(descriptor)
    }

    package func append(_ bytes: [UInt8]) throws(SystemFailure) { try write(bytes, at: byteCount) }

    /// Writes bytes at `offset`, over existing bytes; a gap before `offset` reads as zeros.
    package func write(_ bytes: [UInt8], at offset: Int) throws(SystemFailure) {
        var written = 0
        while written < bytes.count {
            let result = bytes.withUnsafeBytes { buffer in
                pwrite(
                    descriptor, buffer.baseAddress.map { $0 + written }, buffer.count - written,
                    off_t(offset + written))
            }
            if result < 0 {
                if errno == EINTR { continue }
                throw Self.error(errno, what: "write a temporary file")
            }
            guard result > 0 else { throw Self.error(ENOSPC, what: "write a temporary file") }
            written += result
        }
        byteCount = max(byteCount, offset + written)
    }

    /// Reads up to `count` bytes at `offset`; returns fewer only at the end of the file.
    package func read(_ count: Int, at offset: Int) throws(SystemFailure) -> [UInt8] {
        let wanted = max(0, min(count, byteCount - offset))
        var bytes = [UInt8](repeating: 0, count: wanted)
        var done = 0
        while done < wanted {
            let result = bytes.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress.map { $0 + done }, wanted - done, off_t(offset + done))
            }
            if result < 0 {
                if errno == EINTR { continue }
                throw Self.error(errno, what: "read a temporary file")
            }
            guard result > 0 else {
                throw SystemFailure(.ioFailure, "A temporary file is shorter than what was written to it.")
            }
            done += result
        }
        return bytes
    }

    private static func error(_ code: CInt, what: String) -> SystemFailure {
        let full = code == ENOSPC || code == EDQUOT
        let reason = String(cString: strerror(code))
        return SystemFailure(
            full ? .noSpace : .ioFailure,
            "Cannot \(what): \(reason).\(full ? " Make room, or set TMPDIR to a larger file system." : "")")
    }

    package static var systemDirectory: String {
        guard let value = getenv("TMPDIR") else { return "/tmp" }
        let path = String(cString: value)
        return path.isEmpty ? "/tmp" : path
    }
}
