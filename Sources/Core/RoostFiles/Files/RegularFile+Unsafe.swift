package import RoostCore
internal import RoostSystem

/// A regular file that is open for reading at any offset.
///
/// Destroying this value drops no POSIX locks on a file that ``HeldFiles`` contains.
package struct RegularFile: ~Copyable, Sendable {
    private let file: OpenFile
    private let path: String
    /// The size when the file was opened.
    package let byteCount: Int

    /// Opens a regular file, but not through a symbolic link.
    ///
    /// - Throws: `notFound`, `permissionDenied`; `notAStore` if the file is not a regular file.
    package init(at path: String) throws(StoreError) {
        do throws(SystemError) {
            let file = try OpenFile.regular(path, flags: O_RDONLY)
            byteCount = try file.status.byteCount
            self.file = file
        } catch {
            throw StoreFile.error(errno: error.code, what: "cannot be opened", path: path)
        }
        self.path = path
    }

    package func identity() throws(StoreError) -> FileIdentity {
        do throws(SystemError) { return FileIdentity(try file.status) } catch {
            throw StoreFile.error(errno: error.code, what: "cannot be examined", path: path)
        }
    }

    /// Returns up to `count` bytes at `offset`, fewer only at the end of the file.
    package func bytes(at offset: Int, count: Int) throws(StoreError) -> [UInt8] {
        var failure: StoreError?
        let bytes = [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, done in
            do throws(StoreError) {
                done = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Reads bytes at `offset` into `buffer`, and returns their number.
    ///
    /// The number is below the buffer's count only at the end of the file.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StoreError) -> Int {
        var done = 0
        while done < buffer.count {
            // SAFETY: `done` is below the buffer's count, so the rest of the buffer starts inside
            // the buffer.
            let got = pread(
                file.descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset) + off_t(done))
            if got == 0 { break }
            if got < 0 {
                if errno == EINTR { continue }
                throw StoreFile.error(errno: errno, what: "cannot be read", path: path)
            }
            done += got
        }
        return done
    }
}
