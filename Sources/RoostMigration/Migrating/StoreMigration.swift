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
        throw StoreError(.unsupported, "Migrations are not run yet.")
    }

    /// See ``MigrationManager/planMigration(from:to:model:options:)``.
    func plan() throws(StoreError) -> MigrationPlan {
        throw StoreError(.unsupported, "Migrations are not planned yet.")
    }
}
