#if PostgreSQL
    import RoostCore
    import RoostPostgreSQL
    import RoostSystem

    /// A PostgreSQL store type that runs a closure before the first call of `destroy` or
    /// `temporaryLocation`.
    ///
    /// The closure imitates another program.
    struct MeanwhileStoreType: ServerStoreType {
        private let base = PostgreSQLStoreType()
        private let work: @Sendable () throws(StoreError) -> Void
        private let run = Once()

        private final class Once: Sendable {
            let isDone = Mutex(false)
        }

        init(_ work: @escaping @Sendable () throws(StoreError) -> Void) { self.work = work }

        var hasRun: Bool { run.isDone.withLock { $0 } }

        private func runOnce() throws(StoreError) {
            let wasDone = run.isDone.withLock { isDone in
                defer { isDone = true }
                return isDone
            }
            if !wasDone { try work() }
        }

        var name: String { base.name }
        var capabilities: StoreCapabilities { base.capabilities }
        var optionDescriptions: [StoreOptionDescription] { base.optionDescriptions }
        func recognizes(fileAt path: String) -> Bool { base.recognizes(fileAt: path) }

        func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
            try base.open(location, options: options)
        }

        func create(
            _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
        ) throws(StoreError) -> any PersistentStore {
            try base.create(location, model: model, options: options)
        }

        func destroy(_ location: StoreLocation) throws(StoreError) {
            try runOnce()
            try base.destroy(location)
        }

        func replace(
            _ destination: StoreLocation, with source: StoreLocation, overwriting: Bool
        ) throws(StoreError) {
            try base.replace(destination, with: source, overwriting: overwriting)
        }

        func temporaryLocation(beside location: StoreLocation) throws(StoreError) -> StoreLocation {
            try runOnce()
            return try base.temporaryLocation(beside: location)
        }

        func backupLocation(beside location: StoreLocation) throws(StoreError) -> StoreLocation {
            try base.backupLocation(beside: location)
        }

        func replace(
            _ destination: StoreLocation, at generation: Generation, with source: StoreLocation,
            keepingAs backup: StoreLocation?
        ) throws(StoreError) {
            try base.replace(destination, at: generation, with: source, keepingAs: backup)
        }
    }
#endif
