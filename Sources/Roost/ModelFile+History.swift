internal import RoostAppleModels
public import RoostCore
internal import RoostCoreData
internal import RoostFiles
public import RoostMigration

extension ModelFile {
    /// Returns the versions of an Apple bundle (`.xcdatamodeld`, `.momd`), oldest first, or nil for
    /// a model with one version.
    ///
    /// A bundle records its current version, but not the order of its versions. The order is the
    /// natural order of the names, in which `Notes 10` follows `Notes 9`, with two exceptions.
    /// Names with the same first word as the current version's name come last. If the current
    /// version's name has no number, it follows the other names with this word and no number. So
    /// the current version need not be the last.
    ///
    /// - Parameter path: The bundle.
    /// - Returns: A history without mapping models.
    /// - Throws: The errors of ``read(_:version:registry:)``, with the name of the unreadable
    ///   version.
    public static func history(at path: String) throws(StoreError) -> ModelHistory? {
        try VersionBundle(at: path)?.history(VersionEvidence()).history
    }

    /// Returns the versions of an Apple bundle, oldest first, or nil for a model with one version.
    ///
    /// `VersionOrder.Reason` lists the kinds of evidence for the order.
    /// ``ModelHistory/orderReasons`` contains the evidence that was used. The history includes the
    /// evidence's mapping models. The warnings are about content that the import changed or left
    /// out.
    ///
    /// - Throws: The errors of ``history(at:)``; `invalidRequest` for a version that is not in the
    ///   bundle or is listed twice, or for a malformed `@FROM..TO`; `invalidMappingModel` for a
    ///   mapping model that does not match two versions.
    package static func history(
        at path: String, evidence: VersionEvidence
    ) throws(StoreError) -> (history: ModelHistory, warnings: [String])? {
        guard let (history, warnings, _) = try VersionBundle(at: path)?.history(evidence) else { return nil }
        return (history, warnings)
    }

    static func isBundle(_ path: String) -> Bool {
        let name = path.split(separator: "/").last.map { $0.lowercased() } ?? ""
        return name.hasSuffix(".xcdatamodeld") || name.hasSuffix(".momd")
    }

    /// Splits `FILE@VERSION` into the path and the version.
    ///
    /// The version is nil if `@VERSION` is missing, if the whole text is an existing path, or if
    /// FILE does not exist.
    package static func splitVersion(_ text: String) -> (path: String, version: String?) {
        guard !StoreFile.hasEntry(at: text), let at = text.lastIndex(of: "@"), at > text.startIndex else {
            return (text, nil)
        }
        let (path, version) = (String(text[..<at]), String(text[text.index(after: at)...]))
        return version.isEmpty || !StoreFile.hasEntry(at: path) ? (text, nil) : (path, version)
    }

    /// Reads the model at `path`; in a bundle, reads the version that matches the given store.
    ///
    /// - Parameters:
    ///   - path: The same paths as in ``read(_:version:registry:)``.
    ///   - store: The store.
    ///   - registry: The store types.
    /// - Returns: The model, and warnings as from ``read(_:version:registry:)``. The model is the
    ///   current version if no single version of the bundle matches, or if the store is unreadable.
    /// - Throws: The errors of ``read(_:version:registry:)``.
    public static func read(
        _ path: String, forStore store: PersistentStoreDescription, registry: StoreRegistry = .standard
    ) throws(StoreError) -> (model: ManagedObjectModel, warnings: [String]) {
        guard isBundle(path), let name = try version(in: path, of: store, registry: registry) else {
            return try read(path, registry: registry)
        }
        return try read(path, version: name, registry: registry)
    }

    /// Returns the name of the bundle's version that matches a store, or nil.
    private static func version(
        in path: String, of store: PersistentStoreDescription, registry: StoreRegistry
    ) throws(StoreError) -> String? {
        let (names, current) = try CoreDataModelReader.versionNames(at: path)
        guard names.count > 1 else { return nil }
        let options = store.options.forReading
        let type: any PersistentStoreType
        let embedded: ManagedObjectModel?
        do throws(StoreError) {
            type = try registry.type(named: store.location.type)
            let holdsModel = try type.matchingModels(among: [], storeAt: store.location, options: options) == nil
            embedded = holdsModel ? try type.metadata(at: store.location, options: options).model : nil
        } catch {
            // Opening the store later reports the error.
            return nil
        }
        // If several versions match equally, prefer the current version, or else the last in
        // natural order.
        var models: [ManagedObjectModel] = []
        let ordered = [current].compactMap(\.self) + names.reversed().filter { $0 != current }
        for name in ordered {
            let model = try CoreDataModelReader.read(at: path, version: name).model
            if let embedded, model.hasVersionHashes(of: embedded) { return name }
            models.append(model)
        }
        guard embedded == nil,
            let fitting = try type.matchingModels(among: models, storeAt: store.location, options: options),
            let first = fitting.first, fitting.allSatisfy({ models[$0].hasVersionHashes(of: models[first]) })
        else { return nil }
        return ordered[first]
    }
}
