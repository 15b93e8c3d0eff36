package import RoostAppleModels
package import RoostCore

extension CoreDataModelReader {
    /// Reads one version of a model from XML or from a compiled model; a nil `version` means the
    /// current one.
    package static func read(
        at path: String, version: String? = nil
    ) throws(StoreError) -> (model: ManagedObjectModel, warnings: [ModelImportWarning]) {
        try read(at: path, version: version) { (archive, file) throws(StoreError) in
            try ModelCacheReader.read(archive: archive, file: file)
        }
    }
}
