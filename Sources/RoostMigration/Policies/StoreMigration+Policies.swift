internal import RoostCore

extension StoreMigration {
    /// Makes the destination in three passes, with the policies of the mapping.
    ///
    /// - Parameters:
    ///   - store: The source as it was at one commit.
    ///   - mapping: The mapping model.
    /// - Returns: What was done, and for each entity mapping how many objects it took and made.
    /// - Throws: As ``MigrationManager/migrate(from:to:model:options:)``.
    func runThreePasses(
        _ store: any PersistentStore, _ mapping: MappingModel
    ) throws(StoreError) -> (report: ConversionReport, counts: [(read: Int, made: Int)]) {
        let content = PolicyContent(source: store, model: model, mapping: mapping, options: options)
        let filler = StoreFiller(
            destination: destination, sourceName: source.url.description, options: options.conversion,
            registry: registry)
        let report = try filler.fill(from: content)
        return (report, content.outcome.withLock { $0.counts })
    }
}
