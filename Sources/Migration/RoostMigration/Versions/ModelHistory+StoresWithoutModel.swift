package import RoostCore

extension ModelHistory {
    /// Returns the version that a store without a model was made with, such as a store that Core
    /// Data on older systems wrote.
    ///
    /// Costs what opening the store does.
    ///
    /// - Parameters:
    ///   - location: The store.
    ///   - options: How to open it.
    ///   - registry: The types of store.
    /// - Returns: The version; nil when the store holds its model, and when it was made with none
    ///   of the versions.
    /// - Throws: `invalidRequest` when the store fits several versions that do not store the same;
    ///   the error that prevents opening the store.
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
