public import RoostCore
internal import RoostFiles

extension MigrationManager {
    /// Opens a store for a program's model, or creates the store if it does not exist.
    ///
    /// `rule` determines whether an incompatible store is refused, migrated or replaced as a whole.
    /// If several processes open the store at once, one process does the work, and the others find
    /// the result.
    ///
    /// - Parameters:
    ///   - description: The location of the store and the options for opening it. Its
    ///     ``StoreOptions/model`` is the program's model.
    ///   - rule: The treatment of a store with another model.
    /// - Returns: The open store, with the program's model.
    /// - Throws: `invalidModel` without a model; `readOnly` if a store opened read-only would have
    ///   to be created or changed; errors from opening, creating and migrating; `notAStore`, with
    ///   any rule, for a file that is not a store.
    public func openOrCreateStore(
        _ description: PersistentStoreDescription, ifIncompatible rule: IncompatibleStoreRule = .refuse
    ) throws(StoreError) -> any PersistentStore {
        guard let model = description.options.model else {
            throw StoreError(
                .invalidModel,
                "'\(description.location)' is opened without a model, so nothing says whether it is compatible or how to create it; give the program's model."
            )
        }
        let refusal: StoreError
        do throws(StoreError) {
            return try openOrCreate(description, model: model)
        } catch {
            refusal = error
        }
        switch rule {
        case .migrate(let options) where refusal.code == .modelMismatch:
            try requireWritable(description, refusal: refusal)
            _ = try migrateInPlace(description.location, model: model, options: options.opening(description))
        case .recreate where [.modelMismatch, .corrupted].contains(refusal.code):
            try requireWritable(description, refusal: refusal)
            try recreate(description, model: model)
        default: throw refusal
        }
        return try registry.open(description)
    }

    private func openOrCreate(
        _ description: PersistentStoreDescription, model: ManagedObjectModel
    ) throws(StoreError) -> any PersistentStore {
        do throws(StoreError) {
            return try registry.open(description)
        } catch {
            guard error.code == .notFound else { throw error }
        }
        do throws(StoreError) {
            return try registry.create(description.location, model: model, options: description.options)
        } catch {
            // Another process created the store at the same time.
            guard error.code == .alreadyExists else { throw error }
        }
        return try registry.open(description)
    }

    private func requireWritable(_ description: PersistentStoreDescription, refusal: StoreError) throws(StoreError) {
        guard description.options.isReadOnly else { return }
        throw StoreError(
            .readOnly, "'\(description.location)' is opened read-only, so it is not changed: \(refusal.message)",
            underlying: refusal)
    }

    /// Replaces the store with an empty one, unless another process has already replaced it.
    private func recreate(
        _ description: PersistentStoreDescription, model: ManagedObjectModel
    ) throws(StoreError) {
        let location = description.location
        let type = try registry.type(named: location.type)
        if let type = type as? any ServerStoreType {
            return try recreate(description, onServer: type, model: model)
        }
        guard type.capabilities.contains(.file) else {
            try type.destroy(location)
            return try type.create(location, model: model, options: description.options).close()
        }
        let claim = try DestinationClaim.acquire(
            forStoreAt: location.path, timeoutSeconds: description.options.timeoutSeconds)
        defer { claim.release() }
        StoreFile.sweepTemporarySiblings(
            of: location.path, companions: registry.companionSuffixes, holding: claim)
        do throws(StoreError) {
            // Another process may have replaced the store meanwhile.
            return try registry.open(description).close()
        } catch {
            guard [.modelMismatch, .corrupted].contains(error.code) else { throw error }
        }
        let new = StoreLocation(type: type.name, path: StoreFile.temporarySibling(of: location.path))
        do throws(StoreError) {
            try type.create(new, model: model, options: description.options).close()
            do throws(StoreError) {
                // `replace` waits for all processes that have the store open, even if they want to replace it
                // too.
                try ConversionOptions(overwrites: true, timeoutSeconds: description.options.timeoutSeconds)
                    .replace(location, type: type, with: new)
            } catch {
                // The type cannot recover the damaged store, so the store is removed first. A crash here leaves no
                // store, which is equivalent to an empty store.
                guard error.code == .corrupted else { throw error }
                try type.destroy(location)
                try type.replace(location, with: new, overwriting: false)
            }
        } catch {
            // The next process that writes to `location` removes files that remain after an error.
            try? type.destroy(new)
            throw error.naming(location.path)
        }
    }
}

extension MigrationManager {
    /// Replaces a store on a server with an empty one, unless another program replaces or changes
    /// it first.
    private func recreate(
        _ description: PersistentStoreDescription, onServer type: any ServerStoreType, model: ManagedObjectModel
    ) throws(StoreError) {
        let location = description.location
        let reading = description.options.forReading.with { $0.model = nil }
        let generation: Generation?
        do throws(StoreError) {
            let old = try type.open(location, options: reading)
            generation = try old.closing { () throws(StoreError) -> Generation? in
                model.isCompatible(with: try old.metadata()) ? nil : try old.currentGeneration()
            }
        } catch {
            // A damaged store has no generation to compare.
            guard error.code == .corrupted else { throw error }
            try type.destroy(location)
            return try type.create(location, model: model, options: description.options).close()
        }
        // The generation is nil if another process has already replaced the store.
        guard let generation else { return }
        let new = try type.temporaryLocation(beside: location)
        do throws(StoreError) {
            try type.create(new, model: model, options: description.options.with { $0.isUnpublished = true }).close()
            try type.replace(location, at: generation, with: new, keepingAs: nil)
        } catch {
            // The next program that creates a store at `location` removes a temporary store that remains after an
            // error.
            try? type.destroy(new)
            // Another process may have replaced the store meanwhile.
            guard error.code == .busy, let made = try? registry.open(description) else { throw error }
            try made.close()
        }
    }
}

extension MigrationOptions {
    fileprivate func opening(_ description: PersistentStoreDescription) -> Self {
        var options = self
        options.conversion.sourceTypeOptions = description.options.typeOptions
        options.conversion.timeoutSeconds = description.options.timeoutSeconds
        return options
    }
}
