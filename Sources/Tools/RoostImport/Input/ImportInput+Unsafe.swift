internal import Foundation
package import RoostCore
internal import RoostFiles
internal import RoostSystem

/// A file, or a temporary copy of a pipe, that can be read several times.
package final class ImportInput: Sendable {
    private enum Place: Sendable {
        case file(CInt)
        case spill(Mutex<SpillFile>)
    }

    /// The attributes of a file that change when another program writes to it.
    private struct Stamp: Equatable {
        var byteCount: Int
        var seconds: Int
        var nanoseconds: Int
    }

    /// The name in messages: the path, or `standard input`.
    package let name: String
    private let place: Place
    private let stamp: Stamp?

    /// Opens a regular file.
    ///
    /// - Throws: `notFound`, `permissionDenied`, `ioFailure`; `invalidRequest` for any other kind
    ///   of file.
    package init(path: String) throws(StoreError) {
        name = path
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw StoreFile.error(errno: errno, what: "cannot be opened", path: path)
        }
        do throws(StoreError) {
            let (status, stamp) = try Self.status(of: descriptor, path: path)
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw StoreError(
                    .invalidRequest, "'\(path)' is not a regular file. Give a file, or - for standard input.")
            }
            self.stamp = stamp
        } catch {
            _ = close(descriptor)
            throw error
        }
        place = .file(descriptor)
    }

    /// Reads a stream to its end into a temporary file, in the first usable directory.
    ///
    /// `source` fills the beginning of a buffer, and returns the number of bytes, or 0 at the end.
    ///
    /// - Throws: `noSpace`, `ioFailure`, and the errors of `source`.
    package init(
        spooling name: String, inOneOf directories: [String],
        source: (UnsafeMutableRawBufferPointer) throws(StoreError) -> Int
    ) throws(StoreError) {
        self.name = name
        let file = try StoreError.ofSystem { () throws(SystemFailure) in try SpillFile(inOneOf: directories) }
        var bytes = [UInt8](repeating: 0, count: Self.chunkByteCount)
        while true {
            var failure: StoreError?
            let count = bytes.withUnsafeMutableBytes { buffer -> Int in
                do throws(StoreError) { return try source(buffer) } catch {
                    failure = error
                    return 0
                }
            }
            if let failure { throw failure }
            guard count > 0 else { break }
            let part = Array(bytes.prefix(count))
            try StoreError.ofSystem { () throws(SystemFailure) in try file.append(part) }
        }
        place = .spill(Mutex(file))
        stamp = nil
    }

    deinit {
        // A failure to close is ignored, because nothing was written.
        if case .file(let descriptor) = place { _ = close(descriptor) }
    }

    private static let chunkByteCount = 256 << 10

    package var byteCount: Int {
        switch place {
        case .file: stamp?.byteCount ?? 0
        case .spill(let file): file.withLock { $0.byteCount }
        }
    }

    /// Reads bytes from an offset, and returns their number, or 0 at the end.
    ///
    /// - Throws: `ioFailure`.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StoreError) -> Int {
        switch place {
        case .file(let descriptor):
            while true {
                // SAFETY: `pread` writes at most as many bytes as the buffer has.
                let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
                if count >= 0 { return count }
                guard errno == EINTR else {
                    throw StoreFile.error(errno: errno, what: "cannot be read", path: name)
                }
            }
        case .spill(let file):
            let bytes = try file.withLock { (file) throws(StoreError) in
                try StoreError.ofSystem { () throws(SystemFailure) in try file.read(buffer.count, at: offset) }
            }
            buffer.copyBytes(from: bytes)
            return bytes.count
        }
    }

    /// Throws `conflict` if another program has changed the file since it was opened.
    package func requireUnchanged() throws(StoreError) {
        guard case .file(let descriptor) = place, let stamp else { return }
        guard try Self.status(of: descriptor, path: name).stamp == stamp else {
            throw StoreError(
                .conflict, "'\(name)' was changed while it was read. Import it again when no program writes to it.")
        }
    }

    private static func status(of descriptor: CInt, path: String) throws(StoreError) -> (status: stat, stamp: Stamp) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw StoreFile.error(errno: errno, what: "cannot be read", path: path)
        }
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        return (
            status, Stamp(byteCount: Int(status.st_size), seconds: Int(time.tv_sec), nanoseconds: Int(time.tv_nsec))
        )
    }
}
