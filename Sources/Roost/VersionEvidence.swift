package import RoostCore

/// Evidence of the order of a bundle's model versions, besides their names and the current version.
package struct VersionEvidence: Sendable {
    /// Versions in the order of their creation.
    ///
    /// Other evidence determines the order of versions that are not listed.
    package var order: [String]
    /// Mapping models for the model history, as `FILE` or `FILE@FROM..TO`.
    ///
    /// The source version of a mapping model counts as older than its destination version.
    package var mappings: [String]
    /// The model of a store to migrate.
    ///
    /// The store's version counts as older than the target, unless stronger evidence contradicts
    /// this.
    package var storeModel: ManagedObjectModel?
    /// The version to which the store is migrated; nil for the current version.
    package var target: String?

    package init(
        order: [String] = [], mappings: [String] = [], storeModel: ManagedObjectModel? = nil, target: String? = nil
    ) {
        self.order = order
        self.mappings = mappings
        self.storeModel = storeModel
        self.target = target
    }
}
