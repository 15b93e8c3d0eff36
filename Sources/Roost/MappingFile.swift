internal import RoostAppleModels
public import RoostCore
internal import RoostCoreData
internal import RoostFiles
internal import RoostMigration

/// A reader of mapping models from documents and Apple's bundles.
public enum MappingFile {
    package static let maximumByteCount = 16 << 20

    /// Reads the mapping model at `path`.
    ///
    /// - Parameters:
    ///   - path: A mapping document (`*.json`), or Apple's `.xcmappingmodel`
    ///     (`CoreDataMappingReader`).
    ///   - source: The source model; used only to complete a mapping model from Apple's file.
    ///   - destination: The destination model; used only to complete a mapping model from Apple's
    ///     file.
    /// - Returns: The mapping model, and warnings about content that was changed or left out.
    /// - Throws: `notFound`; `permissionDenied`; `limitExceeded`; `notAStore` if `path` is not a
    ///   file; `invalidMappingModel` with the location of the problem.
    public static func read(
        _ path: String, source: ManagedObjectModel? = nil, destination: ManagedObjectModel? = nil
    ) throws(StoreError) -> (mapping: MappingModel, warnings: [String]) {
        if path.lowercased().hasSuffix(".json") {
            let noun = "a mapping document"
            let bytes = try SmallFile.bytes(at: path, maximumByteCount: maximumByteCount, noun: noun)
            do throws(StoreError) { return (try MappingModel(document: bytes), []) } catch {
                throw error.located(in: "'\(path)'")
            }
        }
        let read = try CoreDataMappingReader.read(at: path, source: source, destination: destination)
        return (read.mapping, read.warnings.map(\.description))
    }
}
