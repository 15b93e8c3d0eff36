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

    /// The name of the sound type.
    package var name: String { base.name }
    /// The capabilities of the sound type's stores.
    package var capabilities: StoreCapabilities { base.capabilities }
    /// The libraries of the sound type.
    package var libraries: [StoreLibrary] { base.libraries }
    /// The options of the sound type.
    package var optionDescriptions: [StoreOptionDescription] { base.optionDescriptions }

    /// Calls the sound type.
    package func recognizes(fileAt path: String) -> Bool { base.recognizes(fileAt: path) }

    /// Calls the sound type.
    package func metadata(at location: StoreLocation, options: StoreOptions) throws(StoreError) -> StoreMetadata {
        try base.metadata(at: location, options: options)
    }

    /// Opens a store with the fault.
    package func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        var options = altered(options)
        let isReadOnly = options.isReadOnly
        if fault == .acceptsAnyModel { options.model = nil }
        if fault == .writesReadOnly { options.isReadOnly = false }
        return faulty(try base.open(location, options: options), isReadOnly: isReadOnly, isReopened: true)
    }

    /// Creates a store with the fault.
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

    /// Calls the sound type.
    package func destroy(_ location: StoreLocation) throws(StoreError) { try base.destroy(location) }

    /// Replaces a store; with fault `replacesUnasked`, it always overwrites.
    package func replace(_ destination: StoreLocation, with source: StoreLocation, overwriting: Bool) throws(StoreError)
    {
        try base.replace(destination, with: source, overwriting: overwriting || fault == .replacesUnasked)
    }

    /// Calls the sound type.
    package func compactWhileOpen(
        _ location: StoreLocation, options: StoreOptions, isCancelled: @escaping @Sendable () -> Bool
    ) throws(StoreError) -> Bool {
        try base.compactOpenStore(location, options: options, isCancelled: isCancelled)
    }

    /// Calls the sound type.
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
