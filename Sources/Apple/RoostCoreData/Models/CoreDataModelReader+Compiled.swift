package import RoostAppleModels
package import RoostCore

extension CoreDataModelReader {
    /// Reads one version of a model, compiled ones included.
    ///
    /// - Parameters:
    ///   - path: A `.xcdatamodeld` or `.momd` bundle, a `.xcdatamodel` version or a compiled `.mom`
    ///     file.
    ///   - version: The version of a bundle, with or without `.xcdatamodel` or `.mom`; nil for the
    ///     current one.
    /// - Returns: The model, and warnings about parts that have no equivalent.
    /// - Throws: `notFound`, `permissionDenied`, `invalidModel` (with file and line),
    ///   `limitExceeded`, `corrupted`; `unsupported` for the binary files that were written before
    ///   Xcode 4.
    package static func read(
        at path: String, version: String? = nil
    ) throws(StoreError) -> (model: ManagedObjectModel, warnings: [ModelImportWarning]) {
        try read(at: path, version: version) { (archive, file) throws(StoreError) in
            try ModelCacheReader.read(archive: archive, file: file)
        }
    }
}
