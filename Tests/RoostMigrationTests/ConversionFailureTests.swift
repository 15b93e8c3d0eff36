import Foundation
import Roost
import RoostFiles
import RoostMigration
import Testing

@Suite("Failing conversions")
struct ConversionFailureTests {
    enum Failure: String, CaseIterable {
        case firstAppend, middleAppend, lastAppend, finish, firstRead, middleRead, lostRecords, lostLinks, structure,
            replace, cancel

        func faults(_ cancellation: ConversionCancellation) -> Faults {
            switch self {
            case .firstAppend: Faults(failsAtAppend: 1)
            case .middleAppend: Faults(failsAtAppend: 4)
            case .lastAppend: Faults(failsAtAppend: 8)
            case .finish: Faults(failsAtFinish: true)
            case .firstRead: Faults(failsAtRead: 1)
            case .middleRead: Faults(failsAtRead: 4)
            case .lostRecords: Faults(dropsRecordsAt: 2)
            case .lostLinks: Faults(dropsLinksAt: 1)
            case .structure: Faults(isUnsound: true)
            case .replace: Faults(failsAtReplace: true)
            case .cancel: Faults(onAppend: { if $0 == 3 { cancellation.cancel() } })
            }
        }

        var code: StoreError.Code {
            switch self {
            case .finish: .noSpace
            case .lostRecords, .lostLinks: .verificationFailed
            case .structure: .corrupted
            case .cancel: .cancelled
            default: .ioFailure
            }
        }

        var isInSource: Bool { self == .firstRead || self == .middleRead }
    }

    @Test(
        "a failing conversion leaves no destination and does not change its source", arguments: Sample.writingTypes,
        Failure.allCases)
    func leavesNoTrace(type: String, failure: Failure) throws {
        let directory = try TemporaryDirectory()
        let (source, destination) = (directory.file("a"), directory.file("b"))
        try Sample.store(type, at: source).close()
        let before = try contents(type, at: source)
        let error = try #require(throws: StoreError.self) {
            try convert(type, from: source, to: destination, failure: failure)
        }
        #expect(error.code == failure.code, "\(error)")
        #expect(try contents(type, at: source) == before)
        #expect(try leftovers(directory, type: type, destination: destination) == [])

        let report = try MigrationManager(registry: .standard).convert(
            from: .location(StoreLocation(type: type, path: source)),
            to: .location(StoreLocation(type: type, path: destination)))
        #expect(report.verified)
    }

    @Test(
        "a failing conversion does not change the store that it should replace", arguments: Sample.writingTypes,
        Failure.allCases)
    func keepsOldDestination(type: String, failure: Failure) throws {
        let directory = try TemporaryDirectory()
        let (source, destination) = (directory.file("a"), directory.file("b"))
        try Sample.store(type, at: source).close()
        try Sample.store(type, at: destination, people: 7).close()
        let before = try contents(type, at: destination)
        #expect(throws: StoreError.self) {
            try convert(type, from: source, to: destination, failure: failure, overwrites: true)
        }
        #expect(try contents(type, at: destination) == before)
        #expect(try directory.names().filter { $0.contains("roost-tmp") } == [])

        let report = try MigrationManager(registry: .standard).convert(
            from: .location(StoreLocation(type: type, path: source)),
            to: .location(StoreLocation(type: type, path: destination)),
            options: ConversionOptions(overwrites: true))
        #expect(report.objects == 4505)
        let store = try StoreRegistry.standard.open(StoreLocation(type: type, path: destination))
        #expect(try store.snapshot().recordedTally()?.digest.objectCount == 4505)
        try store.close()
    }

    private func convert(
        _ type: String, from source: String, to destination: String, failure: Failure, overwrites: Bool = false
    ) throws {
        let cancellation = ConversionCancellation()
        let registry = try Sample.registry(type, faults: failure.faults(cancellation))
        _ = try MigrationManager(registry: registry).convert(
            from: .location(StoreLocation(type: failure.isInSource ? "faulty" : type, path: source)),
            to: .location(StoreLocation(type: failure.isInSource ? type : "faulty", path: destination)),
            options: ConversionOptions(overwrites: overwrites, cancellation: cancellation))
    }

    /// Returns the bytes of a store's file or, for a store without a file, its tally and UUID.
    private func contents(_ type: String, at path: String) throws -> String {
        if Sample.fileTypes.contains(type) {
            return try Data(contentsOf: URL(fileURLWithPath: path)).base64EncodedString()
        }
        let store = try StoreRegistry.standard.open(StoreLocation(type: type, path: path))
        let text = "\(try store.snapshot().computeTally()) \(try store.metadata().storeUUID)"
        try store.close()
        return text
    }

    /// Returns what remains of a destination: the names of files that do not belong to the source,
    /// or the path of a store without a file.
    private func leftovers(_ directory: TemporaryDirectory, type: String, destination: String) throws -> [String] {
        guard !Sample.fileTypes.contains(type) else {
            return try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { !$0.hasPrefix("a") }
        }
        do throws(StoreError) {
            _ = try StoreRegistry.standard.type(named: type)
                .metadata(at: StoreLocation(type: type, path: destination), options: StoreOptions())
            return [destination]
        } catch {
            return error.code == .notFound ? [] : ["\(error)"]
        }
    }

    @Test("only a conversion that verifies reports the records that a faulty loader loses")
    func verificationIsWhatNotices() throws {
        let directory = try TemporaryDirectory()
        try Sample.store("memory", at: directory.file("a")).close()
        let registry = try Sample.registry("memory", faults: Faults(dropsRecordsAt: 2))
        let (source, destination) = (
            ConversionEndpoint.location(StoreLocation(type: "memory", path: directory.file("a"))),
            ConversionEndpoint.location(StoreLocation(type: "faulty", path: directory.file("b")))
        )
        let report = try MigrationManager(registry: registry).convert(
            from: source, to: destination, options: ConversionOptions().with { $0.verifies = false })
        #expect(!report.verified)
        let error = #expect(throws: StoreError.self) {
            try MigrationManager(registry: registry).convert(
                from: source, to: destination, options: ConversionOptions(overwrites: true))
        }
        #expect(error?.code == .verificationFailed)
        #expect(error?.message.contains("'Book'") == true || error?.message.contains("'Person'") == true)
    }

    @Test("a conversion names a damaged record, and continues without it on request", arguments: Sample.writingTypes)
    func skipsDamaged(type: String) throws {
        let directory = try TemporaryDirectory()
        try Sample.store(type, at: directory.file("a")).close()
        let damaged: Set<ObjectID> = [
            ObjectID("Person", key: 1), ObjectID("Person", key: 2), ObjectID("Editor", key: 1500),
            ObjectID("Shelf", key: 3),
        ]
        let registry = try Sample.registry(type, faults: Faults(damaged: damaged))
        let (source, destination) = (
            ConversionEndpoint.location(StoreLocation(type: "faulty", path: directory.file("a"))),
            ConversionEndpoint.location(StoreLocation(type: type, path: directory.file("b")))
        )
        let error = try #require(throws: StoreError.self) {
            try MigrationManager(registry: registry).convert(from: source, to: destination)
        }
        #expect(error.code == .corrupted)
        #expect(error.damagedObject != nil)
        #expect(error.message.contains("p1 ") || error.message.contains("p3 "))

        let report = try MigrationManager(registry: registry).convert(
            from: source, to: destination, options: ConversionOptions(skipsDamaged: true))
        #expect(Set(report.skipped) == Set(damaged.map(\.description)))
        #expect(report.objects == 4501)
        #expect(report.verified)
        // The skipped persons 1, 2 and 1500 have two books each, and the friendships 1-2, 2-3 and 1499-1500. The
        // skipped shelf 3 has a fifth of the books.
        let dangling = Dictionary(uniqueKeysWithValues: report.dangling.map { ($0.relationship, $0.count) })
        #expect(dangling["Book.author"] == 6)
        #expect(dangling["Person.friends"] == 3)
        #expect(dangling.filter { $0.key != "Book.author" && $0.key != "Person.friends" }.values.reduce(0, +) == 600)

        let copy = try StoreRegistry.standard.open(destination.location)
        let findings = try checkStore(copy, limit: 10_000)
        // One finding for each missing end; the link between persons 1 and 2 has two.
        #expect(findings.count == 6 + 4 + 600)
        #expect(findings.allSatisfy { $0.severity == .violation })
        try copy.close()
    }

    @Test("a conversion that is cancelled before it starts throws cancelled")
    func cancelledBefore() throws {
        let directory = try TemporaryDirectory()
        try Sample.store("memory", at: directory.file("a"), people: 3).close()
        let cancellation = ConversionCancellation()
        cancellation.cancel()
        let error = #expect(throws: StoreError.self) {
            try MigrationManager(registry: .standard).convert(
                from: .location(StoreLocation(type: "memory", path: directory.file("a"))),
                to: .location(StoreLocation(type: "memory", path: directory.file("b"))),
                options: ConversionOptions(cancellation: cancellation))
        }
        #expect(error?.code == .cancelled)
    }
}
