package import RoostAppleModels
package import RoostCore
package import RoostMigration

/// The result of reading one of Apple's mapping models.
package struct CoreDataMappingModel: Sendable {
    package var mapping: MappingModel
    /// The path of the source model in the project, as recorded in the file, for example
    /// `App/Model.xcdatamodeld/Model 2.xcdatamodel`.
    package var sourceModelPath: String?
    /// The path of the destination model in the project.
    package var destinationModelPath: String?
    /// Warnings about parts that were left out or changed.
    package var warnings: [ModelImportWarning]
}

/// A reader of Apple's mapping models: `.xcmappingmodel` bundles and the `xcmapping.xml` in them.
///
/// As in Xcode's compiler, mappings are in the order of their numbers, and unnamed mappings get
/// default names. An attribute without an expression gets `$source.name` if the source entity has
/// that attribute too. For a relationship without an expression, the source relationship with the
/// same name is followed. The destination gets the objects that were created from the related
/// source objects. If several entity mappings create objects of the destination entity, only the
/// first mapping is used.
///
/// Entity mappings that the mapping model does not link to are left out with a warning. Some entity
/// mappings may create objects of subentities of a relationship's destination. A relationship
/// without a key path then gets the objects of all these mappings, with a warning. Apple's compiler
/// uses only the first mapping and loses the other objects.
///
/// With an empty key path, no expression is inferred. `SELF.name` and `name` mean `$source.name`.
/// If both models are given, an inferred expression that is invalid for them is left out with a
/// warning.
package enum CoreDataMappingReader {
    /// Reads a mapping model.
    ///
    /// - Parameters:
    ///   - path: An `.xcmappingmodel` bundle, or the XML file.
    ///   - source: The source model. If given, it provides the source version hashes, and the types
    ///     for parsing filters.
    ///   - destination: The destination model. If both models are given, mappings between equal
    ///     entities have type `copy` if they only copy. If a model is not given, its names come
    ///     from the copy of the model in the file.
    /// - Returns: The mapping model, and warnings about parts that were left out or changed.
    /// - Throws: `notFound`, `permissionDenied`, `outOfResources`, `ioFailure`, `limitExceeded`;
    ///   `invalidMappingModel` with file and line. For an expression without a counterpart, the
    ///   error names the mapping and the function.
    package static func read(
        at path: String, source: ManagedObjectModel? = nil, destination: ManagedObjectModel? = nil
    ) throws(StoreError) -> CoreDataMappingModel {
        let limit = XMLPullParser.Limit.byteCount
        guard let bundle = try BundleDirectory.open(at: path) else {
            let bytes = try BundleDirectory.readFile(at: path, limit: limit)
            return try read(xml: bytes, file: path, source: source, destination: destination)
        }
        guard let bytes = try bundle.read("xcmapping.xml", limit: limit, refusal: .invalidMappingModel) else {
            throw StoreError(
                .notFound, "Cannot read a mapping model in '\(path)': its file 'xcmapping.xml' is missing.")
        }
        return try read(xml: bytes, file: "\(path)/xcmapping.xml", source: source, destination: destination)
    }

    /// Reads the XML of a mapping model.
    ///
    /// See ``read(at:source:destination:)``. Warnings and errors contain `file` as the file name.
    package static func read(
        xml bytes: [UInt8], file: String, source: ManagedObjectModel? = nil, destination: ManagedObjectModel? = nil
    ) throws(StoreError) -> CoreDataMappingModel {
        do throws(StoreError) {
            let root = try XMLElement.document(bytes, file: file, allowsPlainDoctype: true)
            var reading = MappingImport(file: file, objects: try XMLStoreObject.all(in: root, file: file))
            return try reading.read(source: source, destination: destination)
        } catch {
            // The parsers of models and archives throw `invalidModel` and `corrupted`.
            guard error.code == .invalidModel || error.code == .corrupted else { throw error }
            throw error.withMessage(error.message, code: .invalidMappingModel)
        }
    }
}
