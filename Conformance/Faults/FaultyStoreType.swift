package import RoostCore

/// A type of store that adds one fault to a sound type.
///
/// The check for the fault must fail on its stores. ``ConformanceSelfTest`` tries every fault.
package struct FaultyStoreType: CompactingStoreType, ModelMatchingStoreType {
    private let base: any PersistentStoreType
    private let fault: Fault

    /// Creates a type whose stores are stores of `base` with a fault.
    package init(_ base: any PersistentStoreType, fault: Fault) {
        self.base = base
        self.fault = fault
    }

    package var name: String { base.name }
    package var capabilities: StoreCapabilities { base.capabilities }
    package var libraries: [StoreLibrary] { base.libraries }
    package var optionDescriptions: [StoreOptionDescription] { base.optionDescriptions }

    package func recognizes(fileAt path: String) -> Bool { base.recognizes(fileAt: path) }

    package func metadata(at location: StoreLocation, options: StoreOptions) throws(StoreError) -> StoreMetadata {
        try base.metadata(at: location, options: options)
    }

    package func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        var options = altered(options)
        let isReadOnly = options.isReadOnly
        if fault == .acceptsAnyModel { options.model = nil }
        if fault == .writesReadOnly { options.isReadOnly = false }
        return faulty(try base.open(location, options: options), isReadOnly: isReadOnly, isReopened: true)
    }

    package func create(_ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions) throws(StoreError)
        -> any PersistentStore
    {
        var options = altered(options)
        if fault == .inventsIdentity { options.storeUUID = nil }
        return faulty(
            try base.create(location, model: model, options: options), isReadOnly: false, isReopened: false)
    }

    private func faulty(_ store: any PersistentStore, isReadOnly: Bool, isReopened: Bool) -> any PersistentStore {
        if fault.neededAbility != nil, let store = store as? any CommitReportingStore {
            return FaultyReportingStore(store, fault: fault)
        }
        return FaultyStore(store, fault: fault, isReadOnly: isReadOnly, isReopened: isReopened)
    }

    package func destroy(_ location: StoreLocation) throws(StoreError) { try base.destroy(location) }

    package func replace(_ destination: StoreLocation, with source: StoreLocation, overwriting: Bool) throws(StoreError)
    {
        try base.replace(destination, with: source, overwriting: overwriting || fault == .replacesUnasked)
    }

    package func compactWhileOpen(
        _ location: StoreLocation, options: StoreOptions, isCancelled: @escaping @Sendable () -> Bool
    ) throws(StoreError) -> Bool {
        try base.compactOpenStore(location, options: options, isCancelled: isCancelled)
    }

    package func fittingModels(
        among models: [ManagedObjectModel], storeAt location: StoreLocation, options: StoreOptions
    ) throws(StoreError) -> [Int]? {
        try base.matchingModels(among: models, storeAt: location, options: options)
    }

    private func altered(_ options: StoreOptions) -> StoreOptions {
        guard fault == .swallowsOptions else { return options }
        var options = options
        let known = Set(optionDescriptions.map(\.name))
        options.typeOptions = options.typeOptions.filter { known.contains($0.key) }
        return options
    }
}
