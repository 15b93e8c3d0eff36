internal import RoostAppleModels
public import RoostCore
internal import RoostCoreData
internal import RoostFiles
public import RoostMigration

extension ModelFile {
    /// Returns the versions of a bundle of Apple's (`.xcdatamodeld`, `.momd`), oldest first.
    ///
    /// Nil for a model that has one version.
    ///
    /// A bundle says which version is current, not in which order they were made. Without more
    /// evidence they are in the natural order of their names, so that `Notes 10` follows `Notes 9`.
    /// Versions that are named like the current version come last. Versions after the current one
    /// are included.
    /// - Parameter path: The bundle.
    /// - Returns: A history without mapping models.
    /// - Throws: As ``read(_:version:registry:)``, naming the version that cannot be read.
    public static func history(at path: String) throws(StoreError) -> ModelHistory? {
        try VersionBundle(at: path)?.history(VersionEvidence()).history
    }

    /// Returns the versions of a bundle of Apple's, oldest first, ordered by the evidence.
    ///
    /// Nil for a model that has one version.
    ///
    /// Evidence counts in this order; what contradicts something before it does not count:
    /// - the stated order
    /// - numbers in names that begin with the same word, by value; without a number first
    /// - mapping models, whose source is older than their destination. The two versions follow from
    ///   `@FROM..TO`, from the paths of the models in Apple's files, or from version hashes.
    /// - the current version: versions whose names begin with another word are older than versions
    ///   that begin like it. So are names without a number that begin like a current one without.
    /// - the store that is to be migrated: its version is older than the target
    /// - the alphabetical order of names that begin with the same word
    ///
    /// Where nothing decides, versions are in the natural order of their names;
    /// ``ModelHistory/orderReasons`` says so.
    /// - Parameters:
    ///   - path: The bundle.
    ///   - evidence: What is known about the order, and the mapping models of the history.
    /// - Returns: The history with the mapping models of the evidence, and warnings about what the
    ///   import changed or left out.
    /// - Throws: As ``history(at:)``; `invalidRequest` for a version that the bundle does not have;
    ///   `invalidMappingModel` for a mapping model that fits no two versions.
    package static func history(
        at path: String, evidence: VersionEvidence
    ) throws(StoreError) -> (history: ModelHistory, warnings: [String])? {
        guard let (history, warnings, _) = try VersionBundle(at: path)?.history(evidence) else { return nil }
        return (history, warnings)
    }

    /// Returns whether a path is that of a bundle of versions.
    static func isBundle(_ path: String) -> Bool {
        let name = path.split(separator: "/").last.map { $0.lowercased() } ?? ""
        return name.hasSuffix(".xcdatamodeld") || name.hasSuffix(".momd")
    }

    /// Returns the path and the version of `FILE@VERSION`.
    ///
    /// An existing path that contains `@` has no version.
    package static func splitVersion(_ text: String) -> (path: String, version: String?) {
        guard !StoreFile.hasEntry(at: text), let at = text.lastIndex(of: "@"), at > text.startIndex else {
            return (text, nil)
        }
        let (path, version) = (String(text[..<at]), String(text[text.index(after: at)...]))
        return version.isEmpty || !StoreFile.hasEntry(at: path) ? (text, nil) : (path, version)
    }

    /// Reads the model at `path` for a store.
    ///
    /// From a bundle it reads the version that the store was made with.
    ///
    /// A Core Data store is compared by Apple's version hashes, the model in it, or its tables; any
    /// other store by Roost's version hashes.
    ///
    /// - Parameters:
    ///   - path: As ``read(_:version:registry:)``.
    ///   - store: The store.
    ///   - registry: The types of store.
    /// - Returns: The model; of a bundle without the store's version, or for a store that cannot be
    ///   read, the current version.
    /// - Throws: As ``read(_:version:registry:)``.
    public static func read(
        _ path: String, forStore store: PersistentStoreDescription, registry: StoreRegistry = .standard
    ) throws(StoreError) -> (model: ManagedObjectModel, warnings: [String]) {
        guard isBundle(path), let name = try version(in: path, of: store, registry: registry) else {
            return try read(path, registry: registry)
        }
        return try read(path, version: name, registry: registry)
    }

    /// Returns the version in a bundle that a store was made with.
    ///
    /// Nil if no version fits, or if the store cannot be read.
    private static func version(
        in path: String, of store: PersistentStoreDescription, registry: StoreRegistry
    ) throws(StoreError) -> String? {
        let (names, current) = try CoreDataModelReader.versionNames(at: path)
        guard names.count > 1 else { return nil }
        var options = store.options
        options.isReadOnly = true
        let type: any PersistentStoreType
        let embedded: ManagedObjectModel?
        do throws(StoreError) {
            type = try registry.type(named: store.location.type)
            let holdsModel = try type.matchingModels(among: [], storeAt: store.location, options: options) == nil
            embedded = holdsModel ? try type.metadata(at: store.location, options: options).model : nil
        } catch {
            // Opening the store says what is wrong with it.
            return nil
        }
        // Of versions that store the same, the current one is meant, or else the newest.
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
