public import RoostCore
internal import RoostCoreData

/// Reads mapping models from whatever holds one.
public enum MappingFile {
    /// Reads the mapping model at `path`: an `.xcmappingmodel` of Apple's (``CoreDataMappingReader``).
    ///
    /// - Parameters:
    ///   - path: The file or bundle.
    ///   - source: The model that the mappings lead from; what Apple's files leave open is derived from it.
    ///   - destination: The model that they lead to.
    /// - Returns: The mapping model, and what of it was not taken over as it stands, as messages.
    /// - Throws: `notFound`, `permissionDenied`, `limitExceeded`; `invalidMappingModel` with the place.
    public static func read(
        _ path: String, source: ManagedObjectModel? = nil, destination: ManagedObjectModel? = nil
    ) throws(StoreError) -> (mapping: MappingModel, warnings: [String]) {
        let read = try CoreDataMappingReader.read(at: path, source: source, destination: destination)
        return (read.mapping, read.warnings.map(\.description))
    }
}
