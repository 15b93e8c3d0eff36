public import RoostCore

extension KeyValueStore {
    /// Writes an empty store into an empty storage and opens it.
    ///
    /// If an error is thrown, the storage is closed.
    ///
    /// - Parameters:
    ///   - storage: An empty storage, which the store owns from here on.
    ///   - type: The registered type of the store, whose name is written into the store.
    ///   - location: The location for messages and for temporary files of large loads. If the store
    ///     is a file, these files are beside it.
    ///   - model: The model to embed.
    ///   - options: Identity, user metadata, timeout and history.
    /// - Throws: `alreadyExists` if the storage contains a store, `limitExceeded` if the model has
    ///   too many parts, and errors of the storage.
    public convenience init(
        creating storage: any OrderedKeyValueStorage, type: any PersistentStoreType, location: StoreLocation,
        model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) {
        do throws(StoreError) {
            let keyLimit = storage.maximumKeyByteCount
            precondition(keyLimit >= 64, "a storage must take keys of 64 bytes")
            let plan = try StorePlan(model: model, keyLimit: keyLimit)
            let uuid = Array((options.storeUUID ?? StoreUUID()).description.utf8)
            let (document, typeName) = (model.document(), Array(type.name.utf8))
            let userMetadata = try MetadataDocument.encode(options.userMetadata)
            try storage.write(timeoutSeconds: options.timeoutSeconds) { (writer) throws(StoreError) in
                guard try !writer.contains(MetaSpace.format, in: .meta) else {
                    throw StoreError(.alreadyExists, "'\(location)' exists already.")
                }
                try MetaSpace.write(uuid, key: MetaSpace.uuid, writer: writer)
                try MetaSpace.write(typeName, key: MetaSpace.type, writer: writer)
                try MetaSpace.write(document, key: MetaSpace.model, writer: writer)
                try MetaSpace.write(userMetadata, key: MetaSpace.userMetadata, writer: writer)
                try MetaSpace.writeTally(StoreTally(model: model), writer: writer)
                try MetaSpace.writeFormat(keyLimit: keyLimit, writer: writer)
            }
            self.init(storage: storage, type: type, location: location, plan: plan, options: options)
            try applyHistoryOptions()
        } catch {
            throw Self.closing(storage, after: error)
        }
    }

    /// Opens the store in a storage.
    ///
    /// Writes nothing, unless the options turn the history on or off, or limit it.
    ///
    /// If an error is thrown, the storage is closed.
    ///
    /// - Parameters:
    ///   - storage: The storage, which the store owns from here on.
    ///   - type: The type that the store must have.
    ///   - location: The location for messages and for temporary files.
    ///   - options: The required model, the timeout and other options.
    /// - Throws: `notAStore`, `unsupportedVersion`, `corrupted`; `modelMismatch` for a model in the
    ///   options that is not compatible.
    public convenience init(
        opening storage: any OrderedKeyValueStorage, type: any PersistentStoreType, location: StoreLocation,
        options: StoreOptions
    ) throws(StoreError) {
        do throws(StoreError) {
            let reader = try storage.read()
            defer { reader.close() }
            let metadata = try MetaSpace.readMetadata(reader, of: storage, type: type.name, location: location)
            if let expected = options.model, !expected.isCompatible(with: metadata) {
                throw .modelMismatch("\(location)", has: metadata.model, expected: expected)
            }
            let keyLimit = try MetaSpace.readFormat(reader, location: location).keyLimit
            guard keyLimit <= storage.maximumKeyByteCount else {
                throw StoreError(
                    .unsupportedVersion,
                    "The store '\(location)' has keys of up to \(keyLimit) bytes, but this storage accepts at most \(storage.maximumKeyByteCount)."
                )
            }
            _ = try MetaSpace.readTally(metadata.model, reader: reader)
            let plan = try StorePlan(model: metadata.model, keyLimit: keyLimit)
            self.init(storage: storage, type: type, location: location, plan: plan, options: options)
            try applyHistoryOptions()
        } catch {
            throw Self.closing(storage, after: error)
        }
    }

    /// Reads the metadata of the store in a storage, without opening it.
    ///
    /// - Throws: `notAStore`, `unsupportedVersion`, `corrupted`.
    public static func metadata(
        in storage: any OrderedKeyValueStorage, type: any PersistentStoreType, location: StoreLocation
    ) throws(StoreError) -> StoreMetadata {
        let reader = try storage.read()
        defer { reader.close() }
        return try MetaSpace.readMetadata(reader, of: storage, type: type.name, location: location)
    }

    /// Closes the storage of a store that could not be created or opened, and returns `cause`.
    private static func closing(_ storage: any OrderedKeyValueStorage, after cause: StoreError) -> StoreError {
        // An error of closing would say less than `cause`, so it is ignored.
        try? storage.close()
        return cause
    }
}
