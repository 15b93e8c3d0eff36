internal import RoostCore
internal import RoostFiles

struct StoreConversion: Sendable {
    let source: ConversionEndpoint
    let destination: ConversionEndpoint
    let options: ConversionOptions
    let registry: StoreRegistry
    var maximumReaders = DestinationWriter.usualReaders

    init(
        from source: ConversionEndpoint, to destination: ConversionEndpoint, options: ConversionOptions,
        registry: StoreRegistry
    ) {
        self.source = source
        self.destination = destination
        self.options = options
        self.registry = registry
    }

    func run() throws(StoreError) -> ConversionReport {
        if let refusal = try refusalsBeforeOpening().first { throw refusal }
        return try withSource(isReadOnce: true) { (store) throws(StoreError) in
            if let refusal = try refusals(of: store, for: store.model).first { throw refusal }
            // Objects and metadata must come from the same commit.
            let frozen = try FrozenStore(store)
            defer { try? frozen.close() }
            return try destinationWriter.fill(from: StoreContent(frozen, options: options))
        }
    }

    var destinationWriter: DestinationWriter {
        DestinationWriter(
            destination: destination, sourceName: source.location.description, options: options, registry: registry,
            maximumReaders: maximumReaders)
    }

    func plan() throws(StoreError) -> ConversionPlan {
        var refusals = try refusalsBeforeOpening()
        return try withSource(isReadOnce: false) { (store) throws(StoreError) in
            refusals += try self.refusals(of: store, for: store.model)
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            let recorded = try snapshot.recordedTally()
            var warnings: [String] = []
            do throws(StoreError) { warnings = try StoreContent(store, options: options).notices() } catch {
                guard error.code == .corrupted else { throw error }
                refusals.append(error)
            }
            if let limit = try destinationWriter.documentLimit(store) {
                refusals += try limit.refusals(of: StoreContent(store, options: options))
            }
            let entities: [EntityCount]
            if let recorded {
                entities = recorded.entityCounts(store.model)
            } else {
                entities = try Self.countObjects(snapshot)
            }
            return ConversionPlan(
                source: source.location.description, destination: destination.location.description,
                objects: entities.reduce(0) { $0 + $1.count }, links: recorded?.digest.linkCount, entities: entities,
                relationships: recorded?.relationshipCounts(store.model) ?? [], bytesNeeded: try bytesNeeded(store),
                bytesAvailable: try? destinationWriter.bytesAvailable(), refusals: refusals.map(\.message),
                warnings: warnings,
                remarks: store.model.remarkLines())
        }
    }

    // MARK: The source

    /// Runs `body` with the source; a location is opened read-only, and closed afterwards.
    func withSource<Result>(
        isReadOnce: Bool, _ body: (any PersistentStore) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        guard case .location(let location) = source else {
            guard case .store(let store) = source else { preconditionFailure("an endpoint is a location or a store") }
            return try body(store)
        }
        let store = try registry.open(
            location,
            options: StoreOptions(
                isReadOnly: true, model: options.sourceModel, timeoutSeconds: options.timeoutSeconds,
                typeOptions: options.sourceTypeOptions
            ).with {
                $0.isReadOnce = isReadOnce
                $0.acceptsLinks = options.acceptsLinks
                $0.acceptsChanges = options.acceptsChanges
            })
        return try store.closing { () throws(StoreError) in try body(store) }
    }

    private static func countObjects(_ snapshot: any StoreSnapshot) throws(StoreError) -> [EntityCount] {
        var counts: [EntityCount] = []
        for entity in snapshot.model.entities where !entity.isAbstract {
            let count = try snapshot.count(FetchRequest(entity.name).with { $0.includesSubentities = false })
            if count > 0 { counts.append(EntityCount(name: entity.name.text, count: count)) }
        }
        return counts
    }
}
