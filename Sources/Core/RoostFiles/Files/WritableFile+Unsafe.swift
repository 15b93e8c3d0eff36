public import RoostCore
internal import RoostSystem

/// A regular file that is open for writing at any offset.
///
/// Opening never creates a file or follows a link; see ``StoreFile/createExclusive(at:)``. Closing
/// drops this process's POSIX locks on the file.
public struct WritableFile: ~Copyable {
    private let file: OpenFile
    package let path: String

    /// Opens a regular file.
    ///
    /// - Throws: `notFound`, `permissionDenied`, `readOnly`; `notAStore` if the file is not a
    ///   regular file.
    public init(at path: String) throws(StoreError) {
        do throws(SystemError) {
            file = try OpenFile.regular(path, flags: O_RDWR)
        } catch {
            throw StoreFile.error(errno: error.code, what: "cannot be opened for writing", path: path)
        }
        self.path = path
    }

    package func identity() throws(StoreError) -> FileIdentity {
        do throws(SystemError) { return FileIdentity(try file.status) } catch {
            throw StoreFile.error(errno: error.code, what: "cannot be examined", path: path)
        }
    }

    /// Writes all of `bytes` at `offset`.
    ///
    /// After an error, any part of `bytes` may have been written.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StoreError) {
        var done = 0
        while done < bytes.count {
            // SAFETY: `done` is below the buffer's count, so the rest of the buffer starts inside
            // the buffer.
            let written = pwrite(
                file.descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset) + off_t(done))
            if written < 0 {
                if errno == EINTR { continue }
                throw StoreFile.error(errno: errno, what: "cannot be written", path: path)
            }
            guard written > 0 else { throw StoreFile.error(errno: ENOSPC, what: "cannot be written", path: path) }
            done += written
        }
    }

    /// Truncates the file, or extends it with zeros.
    package func setByteCount(_ byteCount: Int) throws(StoreError) {
        guard retrying({ ftruncate(file.descriptor, off_t(byteCount)) }) == 0 else {
            throw StoreFile.error(errno: errno, what: "cannot be resized", path: path)
        }
    }

    /// Flushes the file to the medium.
    ///
    /// After an error, the written bytes may be lost although reading still returns them. Do not
    /// retry, because a second call may falsely succeed. Write a new file instead.
    public func sync() throws(StoreError) {
        do throws(SystemError) { try file.sync() } catch {
            throw StoreFile.error(errno: error.code, what: "cannot be flushed to the disk", path: path)
        }
    }

    /// Closes the file.
    ///
    /// On some file systems a failed write is reported only here.
    public consuming func close() throws(StoreError) {
        let path = self.path
        do throws(SystemError) { try file.close() } catch {
            throw StoreFile.error(errno: error.code, what: "cannot be closed", path: path)
        }
    }
}
