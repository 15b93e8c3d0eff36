import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostFiles
import RoostMigration
import RoostSystem
import Testing

@Suite("Migration in place in one transaction")
struct OneTransactionTests {
    private let manager = MigrationManager(registry: .standard)

    private func error(_ body: () throws -> Void) -> StoreError? {
        do { try body() } catch { return error as? StoreError }
        return nil
    }

    private func bytes(_ location: StoreLocation) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: location.path))
    }

    private func open(_ location: StoreLocation, model: ManagedObjectModel) throws -> any PersistentStore {
        try StoreRegistry.standard.open(location, options: StoreOptions(model: model))
    }

    private func model(_ change: (inout [EntityDescription]) throws -> Void) throws -> ManagedObjectModel {
        var entities = try Sample.model().entityDescriptions
        try change(&entities)
        return try ManagedObjectModel(entities: entities)
    }

    /// Returns a model in which only the few shelves get a color.
    private func coloredShelves() throws -> ManagedObjectModel {
        try model { entities in
            let shelf = try #require(entities.firstIndex { $0.name == "Shelf" })
            entities[shelf].attributes.append(.string("color", isOptional: false, default: "red"))
        }
    }

    // MARK: Comparison with a new file

    /// Migrates two copies of a random SQLite store in place, and compares them.
    ///
    /// The second migration keeps a backup, so it writes a new file.
    ///
    /// - Returns: The path of the first migration; nil if both failed with the same error.
    private func compare(_ seed: Int) throws -> MigrationPath? {
        var evolution = try RandomEvolution(seed: seed)
        // An even seed migrates only one version further, so most content is unchanged.
        let model = seed % 2 == 0 && evolution.versions.count > 1 ? evolution.versions[1] : evolution.new
        let directory = try TemporaryDirectory()
        let made = try evolution.store()
        let (one, two) = (
            StoreLocation(type: "sqlite", path: directory.file("one")),
            StoreLocation(type: "sqlite", path: directory.file("two"))
        )
        _ = try manager.convert(from: .store(made), to: .location(one))
        try FileManager.default.copyItem(atPath: one.path, toPath: two.path)
        let before = try bytes(one)
        let plan = try manager.planMigrationInPlace(one, model: model, options: .init(allowsLoss: true))
        #expect(try bytes(one) == before)
        let general = Result {
            try manager.migrateInPlace(
                two, model: model, options: MigrationOptions(allowsLoss: true).with { $0.keepsBackup = true })
        }
        let result = Result { try manager.migrateInPlace(one, model: model, options: .init(allowsLoss: true)) }
        switch (result, general) {
        case (.success(let report), .success(let expected)):
            #expect(report.path == plan.path && plan.refusals == [])
            #expect(expected.path != .oneTransaction && report.verified == (report.path != .nothing))
            var (same, other) = (report, expected)
            for report in [\MigrationReport.source, \.destination] { other[keyPath: report] = same[keyPath: report] }
            (same.path, same.backup, same.bytes, same.seconds) = (other.path, other.backup, other.bytes, other.seconds)
            same.peakPrivateBytes = other.peakPrivateBytes
            #expect(same == other)
            let (left, right) = (try open(one, model: model), try open(two, model: model))
            #expect(left.model == right.model)
            #expect(try left.contents().difference(from: try right.contents()) == nil)
            #expect(try left.metadata().storeUUID == right.metadata().storeUUID)
            #expect(try checkStore(left).filter { $0.severity == .damage } == [])
            for root in model.roots {
                let name = model.entities[root].name
                #expect(try left.lastKey(name) == right.lastKey(name))
            }
            try left.close()
            try right.close()
            if SQLiteShell.path != nil {
                let catalog = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
                #expect(try SQLiteShell.run(catalog, on: one.path) == SQLiteShell.run(catalog, on: two.path))
            }
            return report.path
        case (.failure(let error), .failure(let expected)):
            #expect((error as? StoreError)?.code == (expected as? StoreError)?.code, "\(error), \(expected)")
            #expect((error as? StoreError)?.message == (expected as? StoreError)?.message)
            #expect(try bytes(one) == before)
            return nil
        default:
            Issue.record("\(result) in the store's file, \(general) in a new one")
            return nil
        }
    }

    @Test("random migrations give the same content in one transaction as in a new file", arguments: 0..<6)
    func randomEvolutions(part: Int) throws {
        var count = 0
        for seed in 0..<20 where try compare(1000 + part * 20 + seed) == .oneTransaction { count += 1 }
        #expect(count > 3)
    }

    // MARK: Choice of the path

    /// Migrates the sample in place, and returns the path that both plan and report name.
    private func path(
        to model: ManagedObjectModel, type: String = "sqlite", options: MigrationOptions = MigrationOptions()
    ) throws -> MigrationPath {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: type, path: directory.file("store"))
        try Sample.store(location.type, at: location.path).close()
        let plan = try manager.planMigrationInPlace(location, model: model, options: options)
        let report = try manager.migrateInPlace(location, model: model, options: options)
        #expect(
            report.path == plan.path
                && report.description.contains(plan.path.rawValue == "onePass" ? "one pass" : "one transaction"))
        #expect(try directory.names().filter { !$0.contains("backup") } == ["store"])
        return report.path
    }

    @Test("a small change of an SQLite store takes one transaction")
    func smallChange() throws { #expect(try path(to: coloredShelves()) == .oneTransaction) }

    @Test("a small change with a backup makes a new file")
    func withBackup() throws {
        let options = MigrationOptions().with { $0.keepsBackup = true }
        #expect(try path(to: coloredShelves(), options: options) == .onePass)
    }

    @Test(
        "a small change of a store other than SQLite makes a new file",
        arguments: Sample.fileTypes.filter { $0 != "sqlite" })
    func otherTypes(type: String) throws { #expect(try path(to: coloredShelves(), type: type) == .onePass) }

    @Test("a new last entity takes one transaction; a new first entity renumbers the others and makes a new file")
    func entityNumbers() throws {
        func withEntity(_ name: String) throws -> ManagedObjectModel {
            try model { $0.append(EntityDescription(name, attributes: [.string("name")])) }
        }
        #expect(try path(to: withEntity("Zebra")) == .oneTransaction)
        #expect(try path(to: withEntity("Aardvark")) == .onePass)
    }

    @Test("a migration in two steps makes a new file")
    func twoSteps() throws {
        let small = try coloredShelves()
        let last = try model { entities in
            let shelf = try #require(entities.firstIndex { $0.name == "Shelf" })
            entities[shelf].attributes += [
                .string("color", isOptional: false, default: "blue"), .string("place"),
            ]
        }
        var history = try ModelHistory([
            .init("1", model: Sample.model()), .init("2", model: small), .init("3", model: last),
        ])
        try history.add(MappingModel.inferred(from: Sample.model(), to: small), from: "1", to: "2")
        #expect(try path(to: last, options: MigrationOptions(history: history)) == .onePass)
    }

    @Test("a small change with a policy makes a new file, even if the policy has the standard behavior")
    func policy() throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("store"))
        try Sample.store(location.type, at: location.path).close()
        let shelves = try coloredShelves()
        var mapping = try MappingModel.inferred(from: Sample.model(), to: shelves)
        for index in mapping.entityMappings.indices where mapping.entityMappings[index].destinationEntity == "Shelf" {
            mapping.entityMappings[index].policyName = "P"
        }
        let options = MigrationOptions(mapping: mapping, policies: ["P": { EntityMigrationPolicy() }])
        #expect(try manager.planMigrationInPlace(location, model: shelves, options: options).path == .threePasses)
        #expect(try manager.migrateInPlace(location, model: shelves, options: options).path == .threePasses)
    }

    @Test("changing the direction of an index takes one transaction")
    func turnedIndex() throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("store"))
        try Sample.store(location.type, at: location.path).close()
        let turned = try model { entities in
            let shelf = try #require(entities.firstIndex { $0.name == "Shelf" })
            entities[shelf].attributes.append(.string("color"))
            let book = try #require(entities.firstIndex { $0.name == "Book" })
            entities[book].fetchIndexes = [
                FetchIndexDescription("byTitle", elements: [.init("title", isAscending: false)])
            ]
        }
        #expect(try manager.migrateInPlace(location, model: turned).path == .oneTransaction)
        let store = try open(location, model: turned)
        #expect(try checkStore(store) == [])
        try store.close()
    }

    @Test("a custom stage requires a new file, and its code runs once", arguments: [true, false])
    func stages(isBefore: Bool) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("store"))
        try Sample.store(location.type, at: location.path).close()
        let calls = Mutex(0)
        let handler: CustomMigrationStage.Handler = { _, _ in calls.withLock { $0 += 1 } }
        let stage = CustomMigrationStage(
            from: try Sample.model(), to: try coloredShelves(), label: "colors",
            willMigrate: isBefore ? handler : nil, didMigrate: isBefore ? nil : handler)
        let options = try MigrationOptions().with { $0.stages = try StagedMigrationManager([.custom(stage)]) }
        #expect(try manager.planMigrationInPlace(location, model: coloredShelves(), options: options).path == .onePass)
        #expect(try manager.migrateInPlace(location, model: coloredShelves(), options: options).path == .onePass)
        #expect(calls.withLock { $0 } == 1)
    }

    @Test("a migration in one transaction needs space only for the content that changes")
    func space() throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("store"))
        try Sample.store(location.type, at: location.path).close()
        let plan = try manager.planMigrationInPlace(location, model: coloredShelves())
        let whole = try manager.planMigrationInPlace(
            location, model: coloredShelves(), options: MigrationOptions().with { $0.keepsBackup = true })
        #expect(plan.path == .oneTransaction && whole.path == .onePass)
        #expect(plan.bytesNeeded > 0 && plan.bytesNeeded < whole.bytesNeeded / 2 + 1)
        var options = MigrationOptions()
        options.conversion.reservedBytes = .max
        let refusals = try manager.planMigrationInPlace(location, model: coloredShelves(), options: options).refusals
        #expect(refusals.contains { $0.contains("not enough space") }, "\(refusals)")
        let refused = error { _ = try manager.migrateInPlace(location, model: coloredShelves(), options: options) }
        #expect(refused?.code == .noSpace)
        #expect(try directory.names() == ["store"])
    }

    @Test("a migration in one transaction adds links, constraints and indexes to unchanged entities")
    func additions() throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("store"))
        try Sample.store(location.type, at: location.path).close()
        let changed = try model { entities in
            let person = try #require(entities.firstIndex { $0.name == "Person" })
            entities[person].relationships.append(.toMany("rivals", to: "Person", inverse: "rivals"))
            entities[person].fetchIndexes.append(FetchIndexDescription("byName", on: "name"))
            let book = try #require(entities.firstIndex { $0.name == "Book" })
            entities[book].fetchIndexes = []
            entities[book].uniquenessConstraints = [["title", "price"]]
        }
        let report = try manager.migrateInPlace(location, model: changed)
        #expect(report.path == .oneTransaction)
        let store = try open(location, model: changed)
        #expect(try checkStore(store) == [])
        let keys = try store.reserveKeys(3, for: "Book")
        var changes = ChangeSet(model: changed)
        try changes.insert(ObjectID("Book", key: keys.lowerBound), values: ["title": "same", "price": .decimal(1)])
        try changes.insert(ObjectID("Book", key: keys.lowerBound + 1), values: ["title": "same", "price": .decimal(1)])
        #expect(error { _ = try store.commit(changes) }?.code == .constraintViolation)
        try store.close()
        if SQLiteShell.path != nil {
            let indexes = try SQLiteShell.run("SELECT name FROM sqlite_schema WHERE type = 'index'", on: location.path)
            #expect(indexes.contains("Person_name_index") && !indexes.contains("Book_title_index"))
        }
    }

    // MARK: All or nothing

    @Test("a migration in one transaction that is cancelled in any phase leaves every byte unchanged", arguments: 0..<6)
    func failures(phase: Int) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("store"))
        try Sample.store(location.type, at: location.path).close()
        let before = try bytes(location)
        let copy = StoreLocation(type: "sqlite", path: directory.file("copy"))
        try FileManager.default.copyItem(atPath: location.path, toPath: copy.path)
        let (cancellation, count, limit) = (ConversionCancellation(), Mutex(0), Mutex(Int.max))
        var options = MigrationOptions()
        options.conversion.cancellation = cancellation
        options.conversion.onProgress = { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == limit.withLock({ $0 }) { cancellation.cancel() }
        }
        // Counts the progress reports with a copy.
        #expect(try manager.migrateInPlace(copy, model: coloredShelves(), options: options).path == .oneTransaction)
        let total = count.withLock { count in
            defer { count = 0 }
            return count
        }
        limit.withLock { $0 = 1 + (total - 1) * phase / 5 }
        let refused = error { _ = try manager.migrateInPlace(location, model: coloredShelves(), options: options) }
        #expect(refused?.code == .cancelled, "\(refused.map { "\($0)" } ?? "it was migrated")")
        #expect(try bytes(location) == before)
        #expect(try directory.names() == ["copy", "store"])
    }

    @Test("values that break a new constraint cause the same error in one transaction and in a new file")
    func constraint() throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("store"))
        try Sample.store(location.type, at: location.path).close()
        let before = try bytes(location)
        let changed = try model { entities in
            let book = try #require(entities.firstIndex { $0.name == "Book" })
            entities[book].uniquenessConstraints = [["title"]]
        }
        #expect(try manager.planMigrationInPlace(location, model: changed).path == .oneTransaction)
        let refused = error { _ = try manager.migrateInPlace(location, model: changed) }
        let expected = error {
            _ = try manager.migrateInPlace(
                location, model: changed, options: MigrationOptions(allowsLoss: true).with { $0.keepsBackup = true })
        }
        #expect(refused?.code == .constraintViolation && refused?.code == expected?.code)
        #expect(refused?.message == expected?.message)
        #expect(try bytes(location) == before)
        #expect(try directory.names() == ["store"])
    }

    @Test("a store cannot be opened while a migration in one transaction runs")
    func exclusion() throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("store"))
        try Sample.store(location.type, at: location.path).close()
        let answers = Mutex<[StoreError.Code?]>([])
        var options = MigrationOptions()
        options.conversion.onProgress = { _ in
            for isReadOnly in [false, true] {
                var code: StoreError.Code?
                do throws(StoreError) {
                    try StoreRegistry.standard.open(
                        location, options: StoreOptions(isReadOnly: isReadOnly, timeoutSeconds: 0)
                    ).close()
                } catch {
                    code = error.code
                }
                answers.withLock { $0.append(code) }
            }
        }
        #expect(
            try manager.migrateInPlace(location, model: coloredShelves(), options: options).path == .oneTransaction)
        let codes = answers.withLock { $0 }
        #expect(codes.count >= 8 && codes.allSatisfy { $0 == .busy }, "\(codes)")
    }

    @Test("of four simultaneous migrations in one transaction, one migrates and three find nothing to do")
    func together() throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("store"))
        try Sample.store(location.type, at: location.path).close()
        var options = MigrationOptions()
        options.conversion.timeoutSeconds = 120
        let (manager, chosen, model) = (manager, options, try coloredShelves())
        let outcomes = Mutex<[Result<MigrationPath, StoreError>]>([])
        let done = DispatchSemaphore(value: 0)
        // Each thread may wait for another.
        let threads = (0..<4).map { _ in
            Thread {
                let outcome: Result<MigrationPath, StoreError>
                do throws(StoreError) {
                    outcome = .success(try manager.migrateInPlace(location, model: model, options: chosen).path)
                } catch {
                    outcome = .failure(error)
                }
                outcomes.withLock { $0.append(outcome) }
                done.signal()
            }
        }
        for thread in threads { thread.start() }
        for _ in threads { done.wait() }
        let paths = try outcomes.withLock { $0 }.map { try $0.get() }
        #expect(paths.filter { $0 == .oneTransaction }.count == 1, "\(paths)")
        #expect(paths.filter { $0 == .nothing }.count == 3, "\(paths)")
        #expect(try directory.names() == ["store"])
    }

    // MARK: Other programs

    @Test(
        "a migration in one transaction refuses a row that another program changed",
        .enabled(if: SQLiteShell.path != nil),
        arguments: [
            "UPDATE Person SET name = 'other' WHERE _id = 1", "UPDATE Shelf SET label = 'other' WHERE _id = 1",
            "UPDATE Book SET _entity = 77 WHERE _id = 1", "DELETE FROM links WHERE source = 2",
        ])
    func evidence(statement: String) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("store"))
        try Sample.store(location.type, at: location.path).close()
        let links = try #require(
            try SQLiteShell.run(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN ('Book_shelves', 'Shelf_books')",
                on: location.path
            ).first)
        try SQLiteShell.run(statement.replacing("links", with: links), on: location.path)
        let before = try bytes(location)
        let refused = error { _ = try manager.migrateInPlace(location, model: coloredShelves()) }
        #expect(refused?.code == .corrupted, "\(refused.map { "\($0)" } ?? "it was migrated")")
        #expect(try bytes(location) == before)
        #expect(try directory.names() == ["store"])
    }

    @Test(
        "a migration in one transaction detects a damaged index before it commits, unless verification is off",
        .enabled(if: SQLiteShell.path != nil))
    func damagedStructure() throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("store"))
        try Sample.store(location.type, at: location.path).close()
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'Book_title_index'"
        let page = try #require(try SQLiteShell.run(sql, on: location.path).first.flatMap { Int($0) })
        var damaged = try bytes(location)
        let pageByteCount = Int(damaged[16]) << 8 | Int(damaged[17])
        // Damages the entry count on the root page of an index that the migration keeps. Reading
        // tables does not use the index.
        let count = (page - 1) * pageByteCount + 3
        damaged.replaceSubrange(count..<count + 2, with: [0x7F, 0xFF])
        try damaged.write(to: URL(fileURLWithPath: location.path))
        let refused = error { _ = try manager.migrateInPlace(location, model: coloredShelves()) }
        #expect(refused?.code == .corrupted, "\(refused.map { "\($0)" } ?? "it was migrated")")
        #expect(try bytes(location) == damaged)
        #expect(try directory.names() == ["store"])
        var options = MigrationOptions()
        options.conversion.verifies = false
        #expect(
            try manager.migrateInPlace(location, model: coloredShelves(), options: options).path == .oneTransaction)
    }

    @Test(
        "a migration keeps tables of other programs, and is refused without a backup if names collide",
        .enabled(if: SQLiteShell.path != nil))
    func foreignTables() throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("store"))
        try Sample.store(location.type, at: location.path).close()
        try SQLiteShell.run(
            "CREATE TABLE zebra (a); INSERT INTO zebra VALUES (7); CREATE INDEX mine ON Person (born)",
            on: location.path)
        let shelves = try coloredShelves()
        #expect(try manager.migrateInPlace(location, model: shelves).path == .oneTransaction)
        #expect(try SQLiteShell.run("SELECT a FROM zebra", on: location.path) == ["7"])
        #expect(
            try SQLiteShell.run("SELECT name FROM sqlite_schema WHERE name = 'mine'", on: location.path) == ["mine"])
        let zebras = try ManagedObjectModel(
            entities: shelves.entityDescriptions + [EntityDescription("Zebra", attributes: [.string("name")])])
        let refused = error { _ = try manager.migrateInPlace(location, model: zebras) }
        #expect(refused?.code == .unsupported && refused?.message.contains("'zebra', 'mine'") == true)
        #expect(try SQLiteShell.run("SELECT a FROM zebra", on: location.path) == ["7"])
        let keeping = MigrationOptions().with { $0.keepsBackup = true }
        let report = try manager.migrateInPlace(location, model: zebras, options: keeping)
        #expect(report.path == .onePass && report.warnings.contains { $0.contains("'zebra', 'mine'") })
        let backup = try #require(report.backup)
        #expect(try SQLiteShell.run("SELECT a FROM zebra", on: backup) == ["7"])
        let store = try open(location, model: zebras)
        #expect(try checkStore(store) == [])
        try store.close()
    }

    @Test(
        "another program cannot write while a migration in one transaction runs", .enabled(if: SQLiteShell.path != nil))
    func foreignWriter() throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("store"))
        try Sample.store(location.type, at: location.path).close()
        let attempts = Mutex((count: 0, successes: 0))
        var options = MigrationOptions()
        options.conversion.onProgress = { progress in
            guard progress.phase == .verifying || progress.phase == .copying else { return }
            let isDone = (try? SQLiteShell.run("UPDATE Person SET name = 'lost'", on: location.path)) != nil
            attempts.withLock { ($0.count, $0.successes) = ($0.count + 1, $0.successes + (isDone ? 1 : 0)) }
        }
        let report = try manager.migrateInPlace(location, model: coloredShelves(), options: options)
        #expect(report.path == .oneTransaction)
        let (count, successes) = attempts.withLock { $0 }
        #expect(count > 0 && successes == 0)
        let store = try open(location, model: coloredShelves())
        #expect(try checkStore(store) == [])
        try store.close()
    }
}

extension PersistentStore {
    func lastKey(_ entity: EntityName) throws(StoreError) -> Int64 {
        let snapshot = try snapshot()
        defer { snapshot.close() }
        return try snapshot.lastKey(of: entity)
    }
}
