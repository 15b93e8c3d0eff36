internal import RoostAppleModels
public import RoostCore
internal import RoostCoreData
internal import RoostFiles

/// A reader of models from documents, Apple's files and stores.
public enum ModelFile {
    package static let maximumByteCount = 16 << 20

    /// Reads the model at `path`.
    ///
    /// - Parameters:
    ///   - path: A model document (`*.json`), an Apple bundle or version (`.xcdatamodeld`, `.momd`,
    ///     `.xcdatamodel`, `.mom`), or a store, which contains its model. Name a store by its path
    ///     or by a URL `type:path`.
    ///   - version: The version in an Apple bundle; nil for the current one.
    ///   - registry: The store types.
    /// - Returns: The model, and warnings about content that was changed or left out.
    /// - Throws: `notFound`, `permissionDenied`, `limitExceeded`; `invalidModel` with all problems;
    ///   `invalidRequest` for a version of a document or store; `notAStore` for any other file; the
    ///   errors of opening a store.
    public static func read(
        _ path: String, version: String? = nil, registry: StoreRegistry = .standard
    ) throws(StoreError) -> (model: ManagedObjectModel, warnings: [String]) {
        let name = path.split(separator: "/").last.map { $0.lowercased() } ?? ""
        // A store may have the name of a model document, so examine its first bytes.
        let isStore = registry.all.contains { type in
            type.recognizes(fileAt: path) || StoreLocation(text: path)?.type == type.name
        }
        if name.hasSuffix(".json"), !isStore {
            try requireNoVersion(version, path: path)
            let bytes = try SmallFile.bytes(at: path, maximumByteCount: maximumByteCount, noun: "a model document")
            do throws(StoreError) { return (try ManagedObjectModel(document: bytes), []) } catch {
                throw error.located(in: "'\(path)'")
            }
        }
        if isBundle(path) || name.hasSuffix(".xcdatamodel") || name.hasSuffix(".mom") {
            let read = try CoreDataModelReader.read(at: path, version: version)
            return (read.model, read.warnings.map(\.description))
        }
        try requireNoVersion(version, path: path)
        let location = try registry.resolve(path)
        return (
            try registry.type(named: location.type).metadata(at: location, options: StoreOptions(isReadOnly: true))
                .model, []
        )
    }

    private static func requireNoVersion(_ version: String?, path: String) throws(StoreError) {
        guard let version else { return }
        throw StoreError(
            .invalidRequest, "'\(path)' is one model and has no versions; leave the version '\(version)' out.")
    }
}
