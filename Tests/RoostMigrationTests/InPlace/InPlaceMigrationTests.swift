import Foundation
import Roost
import RoostCore
import RoostFiles
import RoostMigration
import RoostSystem
import Testing

@Suite("Migration in place")
struct InPlaceMigrationTests {
    private let manager = MigrationManager(registry: .standard)

    private func location(_ type: String, in directory: TemporaryDirectory) -> StoreLocation {
        StoreLocation(type: type, path: directory.file("notes"))
    }

    private func error(_ body: () throws -> Void) -> StoreError? {
        do { try body() } catch { return error as? StoreError }
        return nil
    }

    private func bytes(_ location: StoreLocation) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: location.path))
    }

    /// Returns each note as `title, color, rating: tags`.
    private func notes(_ store: any PersistentStore, color: String) throws -> [String] {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        var lines: [String] = []
        let cursor = try snapshot.records(of: "Note", after: nil)
        var batch = RecordBatch(model: store.model)
        while try cursor.next(into: &batch) {
            for index in 0..<batch.count {
                let values = batch.values(at: index)
                var tags: [Int64] = []
                let links = try snapshot.links(of: RelationshipName("Note", name: "tags"), from: batch.id(at: index))
                var linkBatch = LinkBatch(relationship: 0)
                while try links.next(into: &linkBatch) { tags += linkBatch.links.map(\.target) }
                lines.append(
                    "\(values["title"] ?? .null), \(values[color] ?? .null), \(values["rating"] ?? .null): \(tags)")
            }
        }
        return lines
    }

    private var expected: [String] {
        (1...5).map { key in
            let tags = [key % 3 + 1, (key + 1) % 3 + 1].sorted()
            return "\(Value.string("note \(key)")), \(Value.string("c\(key)")), \(Value.int(Int64(key * 10))): \(tags)"
        }
    }

    @Test(
        "an in-place migration through versions keeps path, UUID, metadata, permissions and last keys",
        arguments: Sample.fileTypes)
    func wholeWay(type: String) throws {
        let directory = try TemporaryDirectory()
        let (location, uuid) = (location(type, in: directory), StoreUUID())
        try Notes.store(location, uuid: uuid).close()
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: location.path)
        let report = try manager.migrateInPlace(
            location, model: try Notes.v3(), options: MigrationOptions(history: try Notes.history()))
        #expect(report.steps.map { [$0.source, $0.destination] } == [["v1", "v2"], ["v2", "v3"]])
        #expect(report.objects == 8 && report.links == 10 && report.backup == nil && report.verified)
        #expect(report.source == location.description && report.destination == location.description)
        #expect(report.steps.first?.destinationDigest == report.steps.last?.sourceDigest)
        let store = try StoreRegistry.standard.open(location, options: StoreOptions(model: try Notes.v3()))
        #expect(try store.model == Notes.v3())
        #expect(try notes(store, color: "paint") == expected)
        #expect(try store.metadata().storeUUID == uuid)
        #expect(try store.metadata().userMetadata == ["by": .string("me")])
        #expect(try checkStore(store) == [])
        #expect(try store.reserveKeys(1, for: "Note").lowerBound == 6)
        try store.close()
        #expect(try directory.names() == ["notes"])
        let attributes = try FileManager.default.attributesOfItem(atPath: location.path)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        #expect(attributes[.referenceCount] as? Int == 1)
    }

    @Test("an in-place migration does not change a store that already has the model", arguments: Sample.fileTypes)
    func done(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = location(type, in: directory)
        try Notes.store(location).close()
        let options = MigrationOptions().with { $0.keepsBackup = true }
        #expect(try manager.migrateInPlace(location, model: try Notes.v2(), options: options).path == .onePass)
        let (before, names) = (try bytes(location), try directory.names())
        let again = try manager.migrateInPlace(location, model: try Notes.v2(), options: options)
        #expect(again.path == .nothing && again.objects == 8 && again.backup == nil)
        #expect(again.description.contains("has the model already"))
        #expect(try bytes(location) == before)
        #expect(try directory.names() == names && names.count == 2)
    }

    @Test("a backup of an in-place migration is a store of the old model", arguments: Sample.fileTypes)
    func backup(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = location(type, in: directory)
        try Notes.store(location).close()
        let before = try bytes(location)
        let report = try manager.migrateInPlace(
            location, model: try Notes.v2(), options: MigrationOptions().with { $0.keepsBackup = true })
        let backup = StoreLocation(type: type, path: try #require(report.backup))
        #expect(backup.path.hasPrefix(location.path + ".backup-"))
        #expect(try bytes(backup) == before)
        let old = try StoreRegistry.standard.open(backup, options: StoreOptions(model: try Notes.v1()))
        #expect(try notes(old, color: "color") == expected)
        try old.close()
        // Opening the new store removes unfinished files, but no backup.
        let store = try StoreRegistry.standard.open(location)
        #expect(try notes(store, color: "hexColor") == expected)
        try store.close()
        #expect(FileManager.default.fileExists(atPath: backup.path))
    }

    /// A process may have ended after it linked the backup and before it created the new file.
    @Test(
        "an in-place migration removes a backup that is a link to the store, and keeps other backups",
        arguments: Sample.fileTypes)
    func unfinishedBackup(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = location(type, in: directory)
        try Notes.store(location).close()
        let stray = StoreFile.backupSibling(of: location.path)
        try StoreFile.addName(stray, toFileAt: location.path)
        let others = [location.path + ".backup-mine", directory.file("other.backup-\(UUID().uuidString)")]
        let real = StoreFile.backupSibling(of: location.path)
        for copy in others + [real] { try FileManager.default.copyItem(atPath: location.path, toPath: copy) }
        _ = try manager.migrateInPlace(location, model: try Notes.v2())
        #expect(!FileManager.default.fileExists(atPath: stray))
        for path in others + [real] { #expect(FileManager.default.fileExists(atPath: path), "\(path)") }
    }

    /// A commit between the snapshot and the replacement would be lost.
    @Test("a store cannot be opened while an in-place migration replaces its file", arguments: Sample.fileTypes)
    func exclusion(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = location(type, in: directory)
        try Notes.store(location).close()
        let answers = Mutex<[StoreError.Code?]>([])
        var options = MigrationOptions(history: try Notes.history())
        options.conversion.onProgress = { _ in
            var code: StoreError.Code?
            do throws(StoreError) {
                let store = try StoreRegistry.standard.open(location, options: StoreOptions(timeoutSeconds: 0))
                var changes = ChangeSet(model: store.model)
                changes.userMetadata["lost"] = .some(.bool(true))
                _ = try store.commit(changes)
                try store.close()
            } catch {
                code = error.code
            }
            answers.withLock { $0.append(code) }
        }
        _ = try manager.migrateInPlace(location, model: try Notes.v3(), options: options)
        let codes = answers.withLock { $0 }
        #expect(codes.count >= 8 && codes.allSatisfy { $0 == .busy }, "\(codes)")
        let store = try StoreRegistry.standard.open(location)
        #expect(try store.metadata().userMetadata == ["by": .string("me")])
        try store.close()
    }

    @Test("an in-place migration of an open store throws busy and changes nothing", arguments: Sample.fileTypes)
    func open(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = location(type, in: directory)
        let store = try Notes.store(location)
        var options = MigrationOptions()
        options.conversion.timeoutSeconds = 0
        let refused = error { _ = try manager.migrateInPlace(location, model: try Notes.v2(), options: options) }
        #expect(refused?.code == .busy, "\(refused.map { "\($0)" } ?? "")")
        #if os(Linux)
            #expect(refused?.message.contains("(this one)") == true)
        #endif
        let plan = try? manager.planMigrationInPlace(location, model: try Notes.v2(), options: options)
        #expect(plan.map { !$0.refusals.isEmpty } ?? true)
        #expect(try notes(store, color: "color") == expected)
        try store.close()
        #expect(try directory.names() == ["notes"])
        let path = try manager.migrateInPlace(location, model: try Notes.v2(), options: options).path
        #expect(path == (type == "sqlite" ? .oneTransaction : .onePass))
    }

    @Test(
        "of four simultaneous in-place migrations, one migrates and three find nothing to do",
        arguments: Sample.fileTypes)
    func together(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = location(type, in: directory)
        try Notes.store(location, count: 200).close()
        var options = MigrationOptions(history: try Notes.history()).with { $0.keepsBackup = true }
        options.conversion.timeoutSeconds = 120
        let (manager, chosen, model) = (manager, options, try Notes.v3())
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
        #expect(paths.filter { $0 == .onePass }.count == 1 && paths.filter { $0 == .nothing }.count == 3, "\(paths)")
        #expect(try directory.names().filter { $0.contains("backup") }.count == 1)
        #expect(try directory.names().count == 2)
    }

    @Test(
        "an in-place migration that is cancelled in any phase leaves every byte unchanged", arguments: Sample.fileTypes,
        0..<6)
    func failures(type: String, phase: Int) throws {
        let directory = try TemporaryDirectory()
        let location = location(type, in: directory)
        try Notes.store(location).close()
        let before = try bytes(location)
        let copy = StoreLocation(type: type, path: directory.file("copy"))
        try FileManager.default.copyItem(atPath: location.path, toPath: copy.path)
        let (cancellation, count, limit) = (ConversionCancellation(), Mutex(0), Mutex(Int.max))
        var options = MigrationOptions(history: try Notes.history()).with { $0.keepsBackup = true }
        options.conversion.cancellation = cancellation
        options.conversion.onProgress = { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == limit.withLock({ $0 }) { cancellation.cancel() }
        }
        // Counts the progress reports with a copy.
        _ = try manager.migrateInPlace(copy, model: try Notes.v3(), options: options)
        let total = count.withLock { count in
            defer { count = 0 }
            return count
        }
        limit.withLock { $0 = 1 + (total - 1) * phase / 5 }
        for name in try directory.names() where name.hasPrefix("copy") {
            try FileManager.default.removeItem(atPath: directory.file(name))
        }
        let refused = error { _ = try manager.migrateInPlace(location, model: try Notes.v3(), options: options) }
        #expect(refused?.code == .cancelled, "\(refused.map { "\($0)" } ?? "it was migrated")")
        #expect(try bytes(location) == before)
        #expect(try directory.names() == ["notes"])
    }

    @Test(
        "an in-place migration that cannot succeed is refused before it changes anything", arguments: Sample.fileTypes)
    func refusals(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = location(type, in: directory)
        try Notes.store(location).close()
        let before = try bytes(location)
        func code(_ location: StoreLocation, model: ManagedObjectModel, options: MigrationOptions = .init())
            -> StoreError
            .Code?
        {
            error { _ = try manager.migrateInPlace(location, model: model, options: options) }?.code
        }
        #expect(code(StoreLocation(type: type, path: directory.file("no")), model: try Notes.v2()) == .notFound)
        #expect(code(StoreLocation(type: "memory", path: "x"), model: try Notes.v2()) == .unsupported)
        #expect(code(StoreLocation(type: "nothing", path: "x"), model: try Notes.v2()) == .unknownStoreType)
        #expect(code(location, model: try Notes.v4()) == .mappingNotInferable)
        #expect(
            code(location, model: try Notes.v2(), options: MigrationOptions().with { $0.infersMappingModel = false })
                == .modelMismatch)
        #expect(
            code(location, model: try Notes.v4(), options: MigrationOptions(history: try Notes.history()))
                == .invalidRequest)
        #expect(
            code(
                location, model: try Notes.v3(),
                options: MigrationOptions(mapping: MappingModel([]), history: try Notes.history()))
                == .invalidRequest)
        var full = MigrationOptions()
        full.conversion.reservedBytes = .max
        #expect(code(location, model: try Notes.v2(), options: full) == .noSpace)
        #expect(try bytes(location) == before)
        #expect(try directory.names() == ["notes"])
    }

    @Test("a plan of an in-place migration lists its steps and changes nothing", arguments: Sample.fileTypes)
    func plan(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = location(type, in: directory)
        try Notes.store(location).close()
        let before = try bytes(location)
        let plan = try manager.planMigrationInPlace(
            location, model: try Notes.v3(), options: MigrationOptions(history: try Notes.history()))
        #expect(plan.steps.map(\.destination) == ["v2", "v3"] && plan.refusals == [])
        #expect(plan.source == location.description && plan.destination == location.description)
        let nothing = try manager.planMigrationInPlace(location, model: try Notes.v1())
        #expect(nothing.path == .nothing && nothing.description.contains("nothing to do"))
        #expect(try bytes(location) == before)
        #expect(try directory.names() == ["notes"])
    }

    @Test(
        "an in-place migration of a store with a damaged record fails and changes nothing", arguments: Sample.fileTypes)
    func damagedRecord(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = location(type, in: directory)
        try Notes.store(location).close()
        var damaged = try bytes(location)
        while let place = damaged.range(of: Data("note 3".utf8)) { damaged[place.lowerBound] = UInt8(ascii: "N") }
        try damaged.write(to: URL(fileURLWithPath: location.path))
        let error = error {
            _ = try manager.migrateInPlace(
                location, model: try Notes.v3(), options: MigrationOptions(history: try Notes.history()))
        }
        #expect(error?.code == .corrupted, "\(error.map { "\($0)" } ?? "it was migrated")")
        #expect(try bytes(location) == damaged)
        #expect(try directory.names() == ["notes"])
    }

    @Test("an in-place migration refuses to skip damaged objects", arguments: Sample.fileTypes)
    func keepsDamaged(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = location(type, in: directory)
        try Notes.store(location).close()
        let before = try bytes(location)
        let options = MigrationOptions(conversion: ConversionOptions(skipsDamaged: true))
        let error = error { _ = try manager.migrateInPlace(location, model: try Notes.v2(), options: options) }
        #expect(error?.code == .invalidRequest)
        #expect(throws: StoreError.self) {
            try manager.planMigrationInPlace(location, model: Notes.v2(), options: options)
        }
        #expect(try bytes(location) == before)
    }

    @Test(
        "an in-place migration refuses a store whose recorded links are missing, with and without a backup",
        arguments: Sample.fileTypes)
    func keepsEvidence(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = location(type, in: directory)
        try Notes.store(location).close()
        let before = try bytes(location)
        let registry = StoreRegistry([
            FaultyStoreType(base: try StoreRegistry.standard.type(named: type), faults: Faults(losesLinks: true))
        ])
        let faulty = StoreLocation(type: "faulty", path: location.path)
        let manager = MigrationManager(registry: registry)
        for keepsBackup in [false, true] {
            let options = MigrationOptions(
                conversion: ConversionOptions().with { $0.verifies = false }
            ).with { $0.keepsBackup = keepsBackup }
            let error = error { _ = try manager.migrateInPlace(faulty, model: try Notes.v2(), options: options) }
            #expect(error?.code == .corrupted)
            #expect(error?.message.contains("relationship 'Note.tags'") == true, "\(error.map { "\($0)" } ?? "")")
            #expect(try bytes(location) == before)
            #expect(try directory.names().filter { $0.contains("roost-tmp") || $0.contains("backup") } == [])
        }
    }

    @Test(
        "an in-place migration throws busy when another program changes the file meanwhile", arguments: Sample.fileTypes
    )
    func foreignWriter(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = location(type, in: directory)
        try Notes.store(location).close()
        // The backup forces a new file, because a migration in one transaction would exclude other programs.
        let options = MigrationOptions(
            conversion: ConversionOptions(onProgress: { progress in
                guard progress.phase == .verifying else { return }
                try? FileManager.default.setAttributes(
                    [.modificationDate: Date.distantPast], ofItemAtPath: location.path)
            })
        ).with { $0.keepsBackup = true }
        let error = error { _ = try manager.migrateInPlace(location, model: try Notes.v2(), options: options) }
        #expect(error?.code == .busy && error?.message.contains("was changed meanwhile") == true)
        let store = try StoreRegistry.standard.open(location, options: StoreOptions(model: try Notes.v1()))
        try store.close()
        #expect(try directory.names().filter { $0.contains("roost-tmp") } == [])
    }

    @Test(
        "errors in the new file of an in-place migration name the store's own path",
        arguments: Sample.fileTypes)
    func namesTheStore(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = location(type, in: directory)
        try Notes.store(location).close()
        let before = try bytes(location)
        let registry = StoreRegistry([
            FaultyStoreType(base: try StoreRegistry.standard.type(named: type), faults: Faults(dropsRecordsAt: 1))
        ])
        let refused = error {
            _ = try MigrationManager(registry: registry).migrateInPlace(
                StoreLocation(type: "faulty", path: location.path), model: try Notes.v2())
        }
        #expect(refused?.code == .verificationFailed)
        #expect(refused?.message.contains(location.path) == true && refused?.message.contains("roost-tmp") == false)
        #expect(try bytes(location) == before)
        #expect(try directory.names() == ["notes"])
    }

    @Test(
        "an in-place migration does not replace a store that another program opens meanwhile",
        arguments: Sample.fileTypes)
    func foreignReader(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = location(type, in: directory)
        try Notes.store(location).close()
        let before = try bytes(location)
        // With a backup, every type writes a new file.
        let suffix = try #require(try StoreRegistry.standard.type(named: type).companionSuffixes.first)
        let options = MigrationOptions(
            conversion: ConversionOptions(onProgress: { progress in
                guard progress.phase == .verifying else { return }
                // A program that opens the store with SQLite or LMDB directly creates this file.
                _ = FileManager.default.createFile(atPath: location.path + suffix, contents: Data())
            })
        ).with { $0.keepsBackup = true }
        let error = error { _ = try manager.migrateInPlace(location, model: try Notes.v2(), options: options) }
        #expect(error?.code == .busy && error?.message.contains("'\(location.path)\(suffix)' exists") == true)
        #expect(try bytes(location) == before)
        #expect(try directory.names() == ["notes", "notes\(suffix)"])
    }

    @Test(
        "an in-place migration with nothing to do removes the temporary files of a crash", arguments: Sample.fileTypes)
    func sweeps(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = location(type, in: directory)
        try Notes.store(location).close()
        let left = StoreFile.temporarySibling(of: location.path)
        try FileManager.default.copyItem(atPath: location.path, toPath: left)
        #expect(try manager.migrateInPlace(location, model: try Notes.v1()).path == .nothing)
        #expect(try directory.names() == ["notes"])
    }
}
