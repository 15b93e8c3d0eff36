import RoostCore

#if SQLite
    import Foundation
    import Roost
    @testable import RoostAppleModels
    @testable import RoostCoreData
    @testable import RoostMigration
    import Testing

    /// The search for the model of a store without a model cache, among given models.
    @Suite("Models that fit Core Data stores")
    struct FittingModelTests {
        private let files: AppleStore
        private let model: ManagedObjectModel
        private let attributes: [AttributeDescription]

        init() throws {
            files = try CoreDataStoreTests.closedStore()
            let model = try CoreDataStoreTests.model()
            self.model = model
            attributes = try #require(model.entity("Item")).attributes
        }

        private var location: StoreLocation { StoreLocation(type: "coredata", path: files.path) }

        private func item(
            _ attributes: [AttributeDescription], beside others: [EntityDescription] = []
        ) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [EntityDescription("Item", attributes: attributes)] + others)
        }

        // MARK: The choice among models

        private func fittingModels(
            among models: [ManagedObjectModel], options: StoreOptions = StoreOptions()
        ) throws -> [Int]? {
            try CoreDataStoreType().fittingModels(among: models, storeAt: location, options: options)
        }

        @Test("a model fits a store if its columns and tables are exactly the store's")
        func fits() throws {
            let models = try [
                item(Array(attributes.dropLast())), model,
                item(attributes + [AttributeDescription("x", type: .string)]),
                item(attributes, beside: [EntityDescription("Other")]),
            ]
            #expect(try fittingModels(among: models) == [1])
        }

        @Test("no model fits a store if the list of models is empty")
        func noModels() throws {
            #expect(try fittingModels(among: []) == [])
        }

        @Test("no model is sought for a store whose options name one")
        func namedModel() throws {
            #expect(try fittingModels(among: [model], options: StoreOptions(typeOptions: ["model": "M"])) == nil)
        }

        @Test("no model is sought for a store that contains one")
        func cachedModel() throws {
            let cache = AppleStore.hex(deflateStored(sampleArchive()))
            let cached = try CoreDataStoreTests.store(
                "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB); INSERT INTO Z_MODELCACHE VALUES (\(cache));")
            cached.close()
            let found = try CoreDataStoreType().fittingModels(
                among: [model], storeAt: StoreLocation(type: "coredata", path: cached.path), options: StoreOptions())
            #expect(found == nil)
        }

        @Test("the search for a missing store's model fails with notFound")
        func missingStore() throws {
            let missing = StoreLocation(type: "coredata", path: files.path + "-no")
            let error = try failure {
                _ = try CoreDataStoreType().fittingModels(
                    among: [model], storeAt: missing, options: StoreOptions())
            }
            #expect(error.code == .notFound)
        }

        // MARK: Migration from a version of a history

        private let manager = MigrationManager(registry: .standard)

        private func newVersion() throws -> ManagedObjectModel {
            try item(attributes + [AttributeDescription("extra", type: .string)])
        }

        private func target(_ name: String) -> ConversionEndpoint {
            .location(StoreLocation(type: "sqlite", path: files.directory.file(name)))
        }

        /// Returns a history whose first two versions both have the store's columns.
        private func ambiguousHistory() throws -> ModelHistory {
            let other = attributes.map { attribute in
                var attribute = attribute
                attribute.versionHashModifier = "b"
                return attribute
            }
            return try ModelHistory([
                .init("v1", model: model), .init("v1b", model: try item(other)), .init("v2", model: try newVersion()),
            ])
        }

        @Test("a migration starts from the version that fits a store without a model")
        func sourceVersion() throws {
            let new = try newVersion()
            let history = try ModelHistory([
                .init("v0", model: try item([AttributeDescription("gone", type: .string)])),
                .init("v1", model: model),
                .init("v2", model: new),
            ])
            let options = MigrationOptions(history: history)
            let plan = try manager.planMigration(
                from: .location(location), to: target("new"), model: new, options: options)
            #expect(plan.refusals == [])
            let report = try manager.migrate(
                from: .location(location), to: target("new"), model: new, options: options)
            #expect(report.objects == 3 && report.verified)
        }

        @Test("a migration is refused if several versions fit a store without a model")
        func ambiguousVersions() throws {
            let new = try newVersion()
            let options = MigrationOptions(history: try ambiguousHistory())
            let error = try failure {
                _ = try manager.migrate(from: .location(location), to: target("new"), model: new, options: options)
            }
            #expect(error.code == .invalidRequest && error.message.contains("'v1', 'v1b'"), "\(error)")
            let plan = try manager.planMigration(
                from: .location(location), to: target("new"), model: new, options: options)
            #expect(plan.refusals == [error.message])
        }

        @Test("a migration starts from the model that its options name")
        func namedSourceModel() throws {
            var options = MigrationOptions(history: try ambiguousHistory())
            options.conversion.sourceModel = model
            let report = try manager.migrate(
                from: .location(location), to: target("new"), model: newVersion(), options: options)
            #expect(report.objects == 3)
        }

        @Test("a migration of a store without a model is refused if no version fits")
        func noFittingVersion() throws {
            let new = try newVersion()
            let options = MigrationOptions(history: try ModelHistory([.init("v2", model: new)]))
            let error = try failure {
                _ = try manager.migrate(from: .location(location), to: target("new"), model: new, options: options)
            }
            #expect(error.code == .invalidRequest && error.message.contains("contains no model"))
        }
    }
#endif
