package import RoostCore

extension ModelHistory {
    /// Returns the version that matches a store without a model, such as an older store of Core
    /// Data.
    ///
    /// Returns nil if the store contains its model or matches no version, or if `options` contains
    /// a model. Costs as much as opening the store.
    ///
    /// - Throws: `invalidRequest` if the store matches several versions with different version
    ///   hashes; errors from opening the store.
    package func version(
        ofStoreWithoutModelAt location: StoreLocation, options: StoreOptions, registry: StoreRegistry
    ) throws(StoreError) -> Version? {
        let fitting = try registry.type(named: location.type).matchingModels(
            among: versions.map(\.model), storeAt: location, options: options)
        guard let newest = fitting?.last else { return nil }
        let others = (fitting ?? []).filter { !isSame($0, newest) }
        guard others.isEmpty else {
            let names = (others + [newest]).map { "'\(versions[$0].name)'" }.joined(separator: ", ")
            throw StoreError(
                .invalidRequest,
                "'\(location)' holds no model, and can have been made with the versions \(names); say which: --model on the command line, ConversionOptions.sourceModel in code."
            )
        }
        return versions[newest]
    }
}
