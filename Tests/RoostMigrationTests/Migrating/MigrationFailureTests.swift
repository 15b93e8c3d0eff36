import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostMigration
import RoostSystem
import Testing

@Suite("Failing migrations")
struct MigrationFailureTests {
    private static let manager = MigrationManager(registry: .standard)

    /// Migrates the sample, expects an error and returns it.
    private func failure(
        _ faults: Faults, destination: (any PersistentStore)? = nil, in directory: TemporaryDirectory,
        options: MigrationOptions = MigrationOptions(allowsLoss: true)
    ) throws -> StoreError? {
        let original = try Sample.store("memory", at: directory.file("a"), people: 400)
        let contents = try original.contents()
        let source = FaultyStore(original, faults: faults)
        let target: ConversionEndpoint =
            destination.map { .store($0) } ?? .location(StoreLocation(type: "sqlite", path: directory.file("b")))
        let error = #expect(throws: StoreError.self) {
            try Self.manager.migrate(from: .store(source), to: target, model: EvolvedSample.model(), options: options)
        }
        #expect(try original.contents().difference(from: contents) == nil)
        #expect(try directory.names() == [])
        return error
    }

    @Test("a migration changes nothing if a read of its source fails, whichever read it is", arguments: 1...6)
    func sourceFails(at read: Int) throws {
        let error = try failure(Faults(failsAtRead: read), in: try TemporaryDirectory())
        #expect(error?.code == .ioFailure)
    }

    @Test("a migration stops at a damaged record and names it")
    func damaged() throws {
        let error = try failure(Faults(damaged: [ObjectID("Editor", key: 6)]), in: try TemporaryDirectory())
        #expect(error?.code == .corrupted)
        #expect(error?.damagedObject == ObjectID("Editor", key: 6))
    }

    @Test("a migration that skips damaged records stops if a cursor reports the same record again")
    func repeatedDamage() throws {
        let editor = ObjectID("Editor", key: 6)
        let error = try failure(
            Faults(damaged: [editor], damageReportCount: 3), in: try TemporaryDirectory(),
            options: MigrationOptions(conversion: ConversionOptions(skipsDamaged: true), allowsLoss: true))
        #expect(error?.code == .corrupted)
        #expect(error?.damagedObject == editor)
    }

    @Test("a migration skips damaged records on request and reports them")
    func skipsDamaged() throws {
        let directory = try TemporaryDirectory()
        let original = try Sample.store("memory", at: directory.file("a"), people: 400)
        let source = FaultyStore(
            original,
            faults: Faults(damaged: [ObjectID("Editor", key: 6), ObjectID("Book", key: 7), ObjectID("Person", key: 20)])
        )
        let target = StoreLocation(type: "sqlite", path: directory.file("b"))
        let report = try Self.manager.migrate(
            from: .store(source), to: .location(target), model: EvolvedSample.model(),
            options: MigrationOptions(conversion: ConversionOptions(skipsDamaged: true), allowsLoss: true))
        #expect(report.skipped.sorted() == ["Book/p7", "Editor/p6", "Person/p20"])
        #expect(report.objects == 400 + 800 + 5 - 3)
        // References to the skipped objects are counted under the new names.
        #expect(report.warnings.contains { $0.hasPrefix("4 references by 'Book.writer'") })
        #expect(report.warnings.contains { $0.contains("'Human.friends'") })
        #expect(report.verified)
    }

    @Test(
        "a migration skips damaged objects of an entity that it drops",
        arguments: [MigrationPath.onePass, .threePasses], [[], [ObjectID("A", key: 2)]])
    func skipsDamagedInWhatIsDropped(path: MigrationPath, others: [ObjectID]) throws {
        func model(_ names: [EntityName], attributes more: [AttributeDescription]) throws -> ManagedObjectModel {
            try ManagedObjectModel(
                entities: names.map { EntityDescription($0.text, attributes: [.string("x")] + more) })
        }
        let old = try model(["A", "B"], attributes: [])
        let base = try Scenario.store(
            "memory", at: "", model: old,
            objects: [
                .init("A", key: 1, values: ["x": "a"]), .init("A", key: 2, values: ["x": "b"]),
                .init("B", key: 1, values: ["x": "c"]), .init("B", key: 2, values: [:]),
            ])
        let source = FaultyStore(base, faults: Faults(damaged: Set([ObjectID("B", key: 1)] + others)))
        let new = try model(["A"], attributes: [.string("y")])
        var mapping = try MappingModel.inferred(from: old, to: new)
        if path == .threePasses { mapping.entityMappings[0].policyName = "P" }
        func migrate(skipsDamaged: Bool) throws -> MigrationReport {
            try Self.manager.migrate(
                from: .store(source), to: .location(StoreLocation(type: "memory", path: "")), model: new,
                options: MigrationOptions(
                    conversion: ConversionOptions(skipsDamaged: skipsDamaged), mapping: mapping,
                    policies: ["P": { EntityMigrationPolicy() }], allowsLoss: true))
        }
        let report = try migrate(skipsDamaged: true)
        #expect(report.path == path)
        #expect(report.skipped.sorted() == others.map(\.description) + ["B/p1"])
        #expect(report.objects == 2 - others.count)
        #expect(report.warnings == [], "\(report.warnings)")
        let error = #expect(throws: StoreError.self) { _ = try migrate(skipsDamaged: false) }
        #expect(error?.code == .corrupted)
    }

    @Test(
        "a migration fails when its destination fails or loses records or links",
        arguments: ["append", "finish", "records", "links"])
    func destinationFails(how: String) throws {
        let directory = try TemporaryDirectory()
        let faults =
            switch how {
            case "append": Faults(failsAtAppend: 2)
            case "finish": Faults(failsAtFinish: true)
            case "records": Faults(dropsRecordsAt: 1)
            default: Faults(dropsLinksAt: 1)
            }
        let store = FaultyStore(
            try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: EvolvedSample.model()),
            faults: faults)
        let error = try failure(Faults(), destination: store, in: directory)
        let expected: [String: StoreError.Code] = ["append": .ioFailure, "finish": .noSpace]
        #expect(error?.code == expected[how] ?? .verificationFailed)
    }

    @Test("a migration that is cancelled while it copies leaves nothing")
    func cancelled() throws {
        let cancellation = ConversionCancellation()
        var options = MigrationOptions(allowsLoss: true)
        options.conversion.cancellation = cancellation
        options.conversion.onProgress = { progress in if progress.objects > 500 { cancellation.cancel() } }
        let error = try failure(Faults(), in: try TemporaryDirectory(), options: options)
        #expect(error?.code == .cancelled)
    }

    @Test("a migration that cannot be inferred is refused with every reason and writes nothing")
    func refused() throws {
        let directory = try TemporaryDirectory()
        let source = try Sample.store("memory", at: directory.file("a"), people: 10)
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Person",
                attributes: [
                    AttributeDescription("name", type: .integer16), AttributeDescription("born", type: .string),
                ])
        ])
        let target = ConversionEndpoint.location(StoreLocation(type: "sqlite", path: directory.file("b")))
        let error = #expect(throws: StoreError.self) {
            try Self.manager.migrate(
                from: .store(source), to: target, model: model, options: MigrationOptions(allowsLoss: true))
        }
        #expect(error?.code == .mappingNotInferable)
        #expect(error?.message.contains("Person.name") ?? false)
        #expect(error?.message.contains("Person.born") ?? false)
        let plan = try Self.manager.planMigration(
            from: .store(source), to: target, model: model, options: MigrationOptions(allowsLoss: true))
        #expect(plan.refusals.count == 1)
        #expect(try directory.names() == [])
    }

    @Test("a migration refuses objects of an entity that becomes abstract")
    func abstract() throws {
        let directory = try TemporaryDirectory()
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Person", attributes: [AttributeDescription("name", type: .string)]
            ).with { $0.isAbstract = true },
            EntityDescription("Editor", superentity: "Person"),
        ])
        let source = try Sample.store("memory", at: directory.file("a"), people: 10)
        let error = #expect(throws: StoreError.self) {
            try Self.manager.migrate(
                from: .store(source), to: .location(StoreLocation(type: "sqlite", path: directory.file("b"))),
                model: model,
                options: MigrationOptions(allowsLoss: true))
        }
        #expect(error?.code == .migrationFailed)
        #expect(error?.message.contains("Person/p1") ?? false)
    }
}

@Suite("Plans and reports of migrations")
struct MigrationReportTests {
    @Test("a plan of a migration describes its mappings, steps and losses, and writes nothing")
    func plan() throws {
        let directory = try TemporaryDirectory()
        let source = try Sample.store("sqlite", at: directory.file("a"), people: 30)
        let before = try directory.names()
        let plan = try MigrationManager(registry: .standard).planMigration(
            from: .store(source), to: .location(StoreLocation(type: "lmdb", path: directory.file("b"))),
            model: EvolvedSample.model(), options: MigrationOptions(allowsLoss: true))
        #expect(try directory.names() == before)
        #expect(plan.path == .onePass)
        #expect(plan.objects == 30 + 60 + 5)
        #expect(plan.links == 29 + 60)
        #expect(plan.refusals == [])
        #expect(plan.bytesNeeded > 0 && plan.secondsNeeded > 0)
        let person = try #require(plan.mappings.first { $0.source == "Person" })
        #expect(person.objects == 20)
        #expect(
            person.steps == [
                "'code' is converted from 'code', integer64 to decimal.",
                "'fullName' is taken from 'name', with the default value instead of null.",
                "'motto' gets one value for all objects.", "'rank' gets one value for all objects.",
            ])
        #expect(plan.losses.contains { $0.hasPrefix("Person.portrait:") })
        let text = plan.description
        #expect(text.contains("IEM_Transform_Person (transform)  Person to Human  20"))
        #expect(text.contains("  loses     Person.portrait:"))
        let json = try JSONEncoder().encode(plan)
        #expect(try JSONDecoder().decode(MigrationPlan.self, from: json) == plan)
    }

    @Test("a migration report reads back from its JSON and names the mapped digest")
    func report() throws {
        let directory = try TemporaryDirectory()
        let source = try Sample.store("memory", at: directory.file("a"), people: 30)
        let report = try MigrationManager(registry: .standard).migrate(
            from: .store(source), to: .location(StoreLocation(type: "lmdb", path: directory.file("b"))),
            model: EvolvedSample.model(), options: MigrationOptions(allowsLoss: true))
        let json = try JSONEncoder().encode(report)
        #expect(try JSONDecoder().decode(MigrationReport.self, from: json) == report)
        #expect(report.description.contains("mapped \(report.mappedDigest)"))
        #expect(report.bytes > 0)
    }

    @Test("progress of a migration counts all objects and passes every phase")
    func progress() throws {
        let directory = try TemporaryDirectory()
        let source = try Sample.store("memory", at: directory.file("a"), people: 300)
        let seen = Mutex<[ConversionProgress]>([])
        var options = MigrationOptions(allowsLoss: true)
        options.conversion.onProgress = { progress in seen.withLock { $0.append(progress) } }
        _ = try MigrationManager(registry: .standard).migrate(
            from: .store(source), to: .location(StoreLocation(type: "sqlite", path: directory.file("b"))),
            model: EvolvedSample.model(), options: options)
        let all = seen.withLock { $0 }
        #expect(Set(all.map(\.phase)) == [.copying, .finishing, .verifying, .publishing])
        #expect(all.last { $0.phase == .copying }?.objects == 905)
        #expect(all.first { $0.phase == .copying }?.totalObjects == 905)
        #expect(all.contains { $0.current == "Human" })
    }
}
