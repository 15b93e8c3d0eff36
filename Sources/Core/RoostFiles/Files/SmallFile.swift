package import RoostCore

/// Files that people write, and that are read as a whole.
package enum SmallFile {
    /// The bytes of the file at `path`.
    ///
    /// - Parameters:
    ///   - path: The file, or a link to it.
    ///   - maximumByteCount: The most bytes it may have.
    ///   - noun: What the file is, for messages: `a model document`.
    /// - Returns: All its bytes.
    /// - Throws: `notFound`, `missingDirectory`, `notAStore` for a directory or a device,
    ///   `permissionDenied`, `limitExceeded`.
    package static func bytes(at path: String, maximumByteCount: Int, noun: String) throws(StoreError) -> [UInt8] {
        do throws(StoreError) {
            try StoreFile.requireRegularFile(at: path, forWriting: false)
        } catch {
            guard error.code == .notAStore else { throw error }
            throw StoreError(.notAStore, "'\(path)' is not a file, but \(noun) is one; check the path")
        }
        guard try StoreFile.byteCount(at: path) <= maximumByteCount else {
            throw StoreError(
                .limitExceeded, "'\(path)' is larger than \(noun) may be (\(maximumByteCount) bytes).")
        }
        guard let bytes = StoreFile.read(prefix: maximumByteCount, of: path) else {
            throw StoreError(.permissionDenied, "'\(path)' cannot be read; check its permissions.")
        }
        return bytes
    }
}
