package import RoostCore

/// A reader of small files, such as model documents.
package enum SmallFile {
    /// Returns the bytes of the file at `path`, following a symbolic link.
    ///
    /// `noun` describes the expected file in messages, such as `a model document`.
    ///
    /// - Throws: `notFound`, `missingDirectory`, `notAStore` for a directory or a device,
    ///   `permissionDenied`, `limitExceeded`.
    package static func bytes(at path: String, maximumByteCount: Int, noun: String) throws(StoreError) -> [UInt8] {
        do throws(StoreError) {
            try StoreFile.requireRegularFile(at: path, forWriting: false)
        } catch {
            guard error.code == .notAStore else { throw error }
            throw StoreError(.notAStore, "'\(path)' is not a file and cannot be \(noun); check the path")
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
