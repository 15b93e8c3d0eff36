package import RoostAppleModels
package import RoostCore
package import RoostMigration

/// The result of reading one of Apple's mapping models.
package struct CoreDataMappingModel: Sendable {
    package var mapping: MappingModel
    /// The path of the source model in the Xcode project, as recorded in the file.
    package var sourceModelPath: String?
    /// The path of the destination model in the Xcode project.
    package var destinationModelPath: String?
    package var warnings: [ModelImportWarning]
}

/// A reader of Apple's mapping models: `.xcmappingmodel` bundles and the `xcmapping.xml` in them.
///
/// As in Xcode's compiler, mappings are in the order of their numbers, and unnamed mappings get
/// default names. An attribute `a` without an expression gets `$source.a` if the source entity has
/// that attribute too. A relationship without an expression follows the source relationship with
/// the same name, and gets the objects created from the related objects. If several entity mappings
/// create objects of the destination entity, only the first mapping is used.
///
/// If entity mappings create objects of subentities of a relationship's destination, a relationship
/// without a key path gets the objects of all mappings, with a warning. Apple's compiler uses only
/// the first mapping and loses the other objects.
///
/// With an empty key path, no expression is inferred. If both models are given, an inferred
/// expression that is invalid for them is left out with a warning.
package enum CoreDataMappingReader {
    /// Reads a mapping model.
    ///
    /// Given models provide version hashes and the types for parsing filters. If both models are
    /// given, mappings between equal entities have type `copy` if they only copy. If a model is
    /// not given, its copy in the file provides the names of entities and properties.
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

    /// Reads the XML of a mapping model, as ``read(at:source:destination:)`` does.
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
