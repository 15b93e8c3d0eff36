internal import RoostCore

/// One migration, from its refusals to its report.
struct StoreMigration: Sendable {
    let source: ConversionEndpoint
    let destination: ConversionEndpoint
    let model: ManagedObjectModel
    let options: MigrationOptions
    let registry: StoreRegistry

    init(
        from source: ConversionEndpoint, to destination: ConversionEndpoint, model: ManagedObjectModel,
        options: MigrationOptions, registry: StoreRegistry
    ) {
        self.source = source
        self.destination = destination
        self.model = model
        self.options = options
        self.registry = registry
    }

    /// See ``MigrationManager/migrate(from:to:model:options:)``.
    func run() throws(StoreError) -> MigrationReport {
        let conversion = StoreConversion(
            from: source, to: destination, options: options.conversion, registry: registry)
        if let refusal = try conversion.refusalsBeforeOpening().first { throw refusal }
        return try conversion.withSource(isReadOnce: false) { (store) throws(StoreError) in
            if let refusal = try conversion.filler.refusals(for: model).first { throw refusal }
            let frozen = try FrozenStore(store)
            defer { try? frozen.close() }
            let mapping: MappingModel
            if let given = options.mapping {
                mapping = given
            } else {
                mapping = try MappingModel.inferred(from: store.model, to: model, options: options.inference)
            }
            let (report, counts) = try runThreePasses(frozen, mapping)
            return MigrationReport(
                source: report.source, destination: report.destination, path: .threePasses,
                mappings: zip(mapping.entityMappings, counts).map { mapping, count in
                    MigrationReport.Mapping(
                        name: mapping.name, type: mapping.type.rawValue, source: mapping.sourceEntity?.text,
                        destination: mapping.destinationEntity?.text, read: count.read, made: count.made)
                }, objects: report.objects, links: report.links, relationships: report.relationships,
                sourceDigest: nil, mappedDigest: report.digest, destinationDigest: report.digest,
                verified: report.verified, seconds: report.seconds, bytes: report.bytes,
                peakPrivateBytes: report.peakPrivateBytes, skipped: report.skipped, losses: [],
                warnings: report.warnings)
        }
    }

    /// See ``MigrationManager/planMigration(from:to:model:options:)``.
    func plan() throws(StoreError) -> MigrationPlan {
        throw StoreError(.unsupported, "Migrations are not planned yet.")
    }
}
