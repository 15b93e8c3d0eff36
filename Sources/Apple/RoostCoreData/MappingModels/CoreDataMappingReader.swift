package import RoostAppleModels
package import RoostCore
package import RoostMigration

/// A mapping model of Apple's as it was read.
package struct CoreDataMappingModel: Sendable {
    /// The mappings.
    package var mapping: MappingModel
    /// The path of the source model in the project, as the file says, for example
    /// `App/Model.xcdatamodeld/Model 2.xcdatamodel`.
    package var sourceModelPath: String?
    /// The path of the destination model in the project.
    package var destinationModelPath: String?
    /// Warnings about parts that were left out or changed.
    package var warnings: [ModelImportWarning]
}

/// A reader of Apple's mapping models: `.xcmappingmodel` bundles and the `xcmapping.xml` in them.
///
/// The result is what Xcode's compiler would make of the file (reference §6.3). Mappings are in the
/// order of their numbers, and those without a name get the default one. An attribute without an
/// expression gets `$source.name` if the source entity has it too. A relationship without one gets
/// the objects that the first entity mapping to its destination entity made of the source's
/// relationship of that name.
///
/// Objects of the editor that the mapping model does not link to are left out with a warning. If
/// entity mappings also make subentities of a relationship's destination, the relationship gets
/// what any of them made, and a warning says so. Apple's compiler names only the first of them, so
/// the others' objects are lost.
///
/// An empty key path means no expression. `SELF.name` and `name` mean `$source.name`. Where both
/// models are given, an expression that the file does not have and that does not fit is left out
/// with a warning; an expression of the file never is.
///
/// The archives in the file are looked at as data; no class of them is ever instantiated.
package enum CoreDataMappingReader {
    /// Reads a mapping model.
    ///
    /// - Parameters:
    ///   - path: An `.xcmappingmodel` bundle, or the XML file.
    ///   - source: The source model. With it, filters are read by its types and version hashes are
    ///     set.
    ///   - destination: The destination model. With both, mappings of entities that are the same in
    ///     both models have type `copy`. Where a model is not given, the names in the copy that the
    ///     file embeds are used.
    /// - Returns: The mapping model, and warnings about parts that were left out or changed.
    /// - Throws: `notFound`, `permissionDenied`, `limitExceeded`; `invalidMappingModel` with file
    ///   and line, also for an expression that has no counterpart here, naming the mapping and the
    ///   function.
    package static func read(
        at path: String, source: ManagedObjectModel? = nil, destination: ManagedObjectModel? = nil
    ) throws(StoreError) -> CoreDataMappingModel {
        let limit = XMLPullParser.Limit.byteCount
        guard let bundle = try BundleDirectory.open(at: path) else {
            let bytes = try BundleDirectory.readFile(at: path, limit: limit)
            return try read(xml: bytes, file: path, source: source, destination: destination)
        }
        guard let bytes = try bundle.read("xcmapping.xml", limit: limit) else {
            throw StoreError(
                .notFound, "Cannot read a mapping model in '\(path)': its file 'xcmapping.xml' is missing.")
        }
        return try read(xml: bytes, file: "\(path)/xcmapping.xml", source: source, destination: destination)
    }

    /// Reads the XML of a mapping model.
    ///
    /// As ``read(at:source:destination:)``; `file` is the name that warnings and errors give.
    package static func read(
        xml bytes: [UInt8], file: String, source: ManagedObjectModel? = nil, destination: ManagedObjectModel? = nil
    ) throws(StoreError) -> CoreDataMappingModel {
        do throws(StoreError) {
            let root = try XMLElement.document(bytes, file: file, allowsPlainDoctype: true)
            var reading = MappingImport(file: file, objects: try XMLStoreObject.all(in: root, file: file))
            return try reading.read(source: source, destination: destination)
        } catch {
            // The parsers of models and archives, which are used here, have codes of their own.
            guard error.code == .invalidModel || error.code == .corrupted else { throw error }
            throw error.withMessage(error.message, code: .invalidMappingModel)
        }
    }
}
