package import RoostAppleModels
package import RoostCore

extension CoreDataModelReader {
    /// Reads one version of a model from XML or from a compiled model.
    ///
    /// - Parameters:
    ///   - path: A `.xcdatamodeld` or `.momd` bundle, a `.xcdatamodel` version or a compiled `.mom`
    ///     file.
    ///   - version: The version of a bundle, with or without `.xcdatamodel` or `.mom`; nil for the
    ///     current one.
    /// - Returns: The model, and warnings about parts without an equivalent.
    /// - Throws: The errors of ``read(at:version:compiled:)``.
    package static func read(
        at path: String, version: String? = nil
    ) throws(StoreError) -> (model: ManagedObjectModel, warnings: [ModelImportWarning]) {
        try read(at: path, version: version) { (archive, file) throws(StoreError) in
            try ModelCacheReader.read(archive: archive, file: file)
        }
    }
}
