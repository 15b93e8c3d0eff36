internal import RoostCore
internal import RoostFiles

extension DestinationWriter {
    var type: any PersistentStoreType {
        get throws(StoreError) { try destination.type(in: registry) }
    }

    /// Returns the reasons to refuse the destination, whatever the source is.
    func refusals() throws(StoreError) -> [StoreError] {
        let type = try type
        guard type.capabilities.contains(.writing) else {
            return [
                StoreError(
                    .unsupported,
                    "Stores of type '\(type.name)' can only be read; choose another type for the destination.")
            ]
        }
        guard case .location(let location) = destination, !location.path.isEmpty else { return [] }
        guard type.capabilities.contains(.file) else { return existenceRefusals(location, type: type) }
        if let refusal = companionRefusal(location) { return [refusal] }
        do throws(StoreError) {
            try StoreFile.requireAbsent(at: location.path)
        } catch  where error.code == .alreadyExists && options.overwrites {
            return replacementRefusals(location, type: type)
        } catch  where error.code == .alreadyExists && type.recognizes(fileAt: location.path) {
            return [
                error.withMessage(
                    "'\(location.path)' exists already; choose another path, or replace the store (--overwrite, ConversionOptions.overwrites)"
                )
            ]
        } catch {
            return [error]
        }
        do throws(StoreError) {
            try StoreFile.requireNoCompanions(of: location.path, types: registry.all, includesLock: true)
            try requireRoomForName(location)
            return []
        } catch {
            return [error]
        }
    }

    /// Throws `invalidRequest` if the names of the files beside the new store would be too long,
    /// and other errors of the file system.
    private func requireRoomForName(_ location: StoreLocation) throws(StoreError) {
        // The longest name is that of a temporary file with the longest suffix.
        let suffixes = registry.companionSuffixes + [StoreLock.suffix]
        let longest = suffixes.max { $0.utf8.count < $1.utf8.count } ?? StoreLock.suffix
        do throws(StoreError) {
            try StoreFile.requireAbsent(at: StoreFile.temporarySibling(of: location.path) + longest)
        } catch {
            guard error.code == .invalidRequest else { throw error.naming(location.path) }
            throw error.withMessage(
                "'\(location.path)' is too long for the name of a store: the files beside a store have even longer names; choose a shorter name."
            )
        }
    }

    /// Returns the reasons why an open destination cannot receive content that uses `model`.
    func refusals(for model: ManagedObjectModel) throws(StoreError) -> [StoreError] {
        if case .store(let store) = destination {
            guard model.isCompatible(with: try store.metadata()) else {
                return [
                    StoreError(
                        .modelMismatch,
                        "Cannot fill the open destination '\(store.location)': its model differs from the content's model. Create the destination with the content's model."
                    )
                ]
            }
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            guard try snapshot.isEmpty() else {
                return [
                    StoreError(
                        .invalidRequest, "The open destination '\(store.location)' is not empty; create a new store.")
                ]
            }
        }
        return []
    }

    /// Returns the free disk space for the destination in bytes, or nil if the conversion creates
    /// no file.
    func bytesAvailable() throws(StoreError) -> Int? {
        guard case .location(let location) = destination,
            try registry.type(named: location.type).capabilities.contains(.file)
        else {
            return nil
        }
        return try StoreFile.freeBytes(inDirectoryOf: location.path)
    }

    /// Returns an error if the path is the name of a log or other companion file of an existing
    /// store.
    ///
    /// The existing store could take the new store for its own log, and remove it.
    private func companionRefusal(_ location: StoreLocation) -> StoreError? {
        let path = StoreFile.resolvingLink(location.path)
        let suffixes = registry.companionSuffixes + [StoreLock.suffix]
        for suffix in suffixes where path.hasSuffix(suffix) {
            let owner = String(path.dropLast(suffix.count))
            guard registry.all.contains(where: { $0.recognizes(fileAt: owner) }) else { continue }
            return StoreError(
                .invalidRequest,
                "'\(location.path)' is the name of a file that belongs to the store '\(owner)'; choose another path."
            )
        }
        return nil
    }

    private func existenceRefusals(_ location: StoreLocation, type: any PersistentStoreType) -> [StoreError] {
        guard !options.overwrites else { return [] }
        do throws(StoreError) {
            _ = try type.metadata(at: location, options: StoreOptions(isReadOnly: true))
            return [
                StoreError(
                    .alreadyExists, "The store '\(location)' exists already; choose another name, or overwrite it.")
            ]
        } catch {
            return error.code == .notFound ? [] : [error]
        }
    }

    private func replacementRefusals(_ location: StoreLocation, type: any PersistentStoreType) -> [StoreError] {
        do throws(StoreError) {
            try StoreFile.requireRegularFile(at: location.path, forWriting: true)
            // The new file is created next to the old one.
            try requireRoomForName(location)
        } catch {
            return [error]
        }
        guard type.recognizes(fileAt: location.path) else {
            return [
                StoreError(
                    .notAStore,
                    "'\(location.path)' is not a store of type '\(type.name)', so it is not replaced; remove it yourself or choose another path."
                )
            ]
        }
        return busyRefusals(location, type: type)
    }

    /// Returns errors if other users, hard links or foreign companion files prevent a replacement.
    ///
    /// The replacement repeats this check after the copy.
    private func busyRefusals(_ location: StoreLocation, type: any PersistentStoreType) -> [StoreError] {
        do throws(StoreError) {
            // Without a lock file, no process has the store open, and acquiring the lock would create the file.
            let hasLockFile = StoreFile.hasEntry(at: StoreLock.path(forStoreAt: location.path))
            let lock =
                hasLockFile
                ? try StoreLock.acquire(
                    forStoreAt: location.path, mode: .exclusive, timeoutSeconds: options.timeoutSeconds,
                    isCancelled: options.isCancelled) : nil
            defer { lock?.release() }
            try StoreFile.requireReplaceableName(at: location.path)
            try StoreFile.requireOwnCompanions(ofStoreAt: StoreFile.resolvingLink(location.path), type: type)
            return []
        } catch {
            return [error]
        }
    }
}

extension DestinationWriter {
    /// Returns the size limit that a copy of `source` could exceed, or nil.
    func documentLimit(
        _ source: any PersistentStore
    ) throws(StoreError) -> DocumentLimit? {
        guard case .location(let location) = destination else { return nil }
        return try DocumentLimit(
            type, location: location, options: options.destinationTypeOptions, sourceByteCount: source.byteCount())
    }
}

extension StoreSnapshot {
    /// Returns whether the store has no objects and, if it records a tally, no links.
    func isEmpty() throws(StoreError) -> Bool {
        if let tally = try recordedTally() {
            let digest = tally.digest
            return digest.objectCount == 0 && digest.linkCount == 0
        }
        for root in model.roots where try count(FetchRequest(model.entities[root].name, limit: 1)) > 0 { return false }
        return true
    }
}
