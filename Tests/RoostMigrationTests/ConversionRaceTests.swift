import Foundation
import Roost
import RoostFiles
import RoostMigration
import RoostSystem
import Testing

@Suite("Conversions into one destination")
struct ConversionRaceTests {
    /// The result of a conversion that runs during another conversion.
    private final class Outcome: Sendable {
        let error = Mutex<StoreError?>(nil)
        let wasCalled = Mutex(false)
    }

    private func registry(_ type: String, faults: Faults) throws -> StoreRegistry {
        let registry = StoreRegistry()
        for type in StoreRegistry.standard.all { registry.register(type) }
        registry.register(FaultyStoreType(base: try StoreRegistry.standard.type(named: type), faults: faults))
        return registry
    }

    private func convert(
        _ type: String, in directory: TemporaryDirectory, faults: Faults, overwrites: Bool = false
    ) throws -> ConversionReport {
        try MigrationManager(registry: try registry(type, faults: faults)).convert(
            from: .location(StoreLocation(type: type, path: directory.file("a"))),
            to: .location(StoreLocation(type: "faulty", path: directory.file("b"))),
            options: ConversionOptions(overwrites: overwrites, timeoutSeconds: 0))
    }

    /// Returns a closure that converts `a` into `b` and records any error.
    private func intruder(
        _ type: String, in directory: TemporaryDirectory, overwrites: Bool, outcome: Outcome
    ) -> @Sendable () -> Void {
        let (a, b) = (
            StoreLocation(type: type, path: directory.file("a")), StoreLocation(type: type, path: directory.file("b"))
        )
        return {
            do throws(StoreError) {
                _ = try MigrationManager(registry: .standard).convert(
                    from: .location(a), to: .location(b),
                    options: ConversionOptions(overwrites: overwrites, timeoutSeconds: 0))
            } catch {
                outcome.error.withLock { $0 = error }
            }
        }
    }

    @Test(
        "a second conversion into a destination is refused while the first one copies",
        arguments: Sample.fileTypes, [false, true])
    func second(type: String, overwrites: Bool) throws {
        let directory = try TemporaryDirectory()
        try Sample.store(type, at: directory.file("a")).close()
        if overwrites { try Sample.store(type, at: directory.file("b"), people: 2).close() }
        let outcome = Outcome()
        let intrude = intruder(type, in: directory, overwrites: overwrites, outcome: outcome)
        let report = try convert(
            type, in: directory, faults: Faults(onAppend: { if $0 == 2 { intrude() } }), overwrites: overwrites)
        #expect(outcome.error.withLock { $0 }?.code == .busy)
        #expect(report.verified)
        #expect(try directory.names() == ["a", "b"])
    }

    @Test(
        "a second conversion is refused until the first one has renamed its new store",
        arguments: Sample.fileTypes, [false, true])
    func secondBeforeRenaming(type: String, overwrites: Bool) throws {
        let directory = try TemporaryDirectory()
        try Sample.store(type, at: directory.file("a")).close()
        try Sample.store(type, at: directory.file("b"), people: 2).close()
        let outcome = Outcome()
        let intrude = intruder(type, in: directory, overwrites: overwrites, outcome: outcome)
        _ = try convert(type, in: directory, faults: Faults(onReplace: intrude), overwrites: true)
        #expect(outcome.error.withLock { $0 }?.code == (overwrites ? .busy : .alreadyExists))
        #expect(try directory.names() == ["a", "b"])
    }

    @Test(
        "a sweep of temporary files does not remove a converted store before its renaming", arguments: Sample.fileTypes)
    func sweeping(type: String) throws {
        let directory = try TemporaryDirectory()
        try Sample.store(type, at: directory.file("a")).close()
        let path = directory.file("b")
        let report = try convert(
            type, in: directory, faults: Faults(onReplace: { StoreFile.sweepTemporarySiblings(of: path) }))
        #expect(report.verified)
        #expect(try directory.names() == ["a", "b"])
    }

    @Test("a conversion that replaces an open store throws busy before it copies anything", arguments: Sample.fileTypes)
    func destinationInUse(type: String) throws {
        let directory = try TemporaryDirectory()
        try Sample.store(type, at: directory.file("a")).close()
        let open = try Sample.store(type, at: directory.file("b"), people: 2)
        let outcome = Outcome()
        let faults = Faults(onAppend: { _ in outcome.wasCalled.withLock { $0 = true } })
        let error = #expect(throws: StoreError.self) {
            try convert(type, in: directory, faults: faults, overwrites: true)
        }
        #expect(error?.code == .busy)
        #expect(outcome.wasCalled.withLock { !$0 })
        let plan = try MigrationManager(registry: .standard).plan(
            from: .location(StoreLocation(type: type, path: directory.file("a"))),
            to: .location(StoreLocation(type: type, path: directory.file("b"))),
            options: ConversionOptions(overwrites: true, timeoutSeconds: 0))
        #expect(plan.refusals.count == 1)
        try open.close()
        #expect(try convert(type, in: directory, faults: Faults(), overwrites: true).verified)
    }

    @Test("a failing conversion leaves no lock file beside its destination", arguments: Sample.fileTypes)
    func lockFile(type: String) throws {
        let directory = try TemporaryDirectory()
        try Sample.store(type, at: directory.file("a")).close()
        for faults in [Faults(failsAtAppend: 2), Faults(failsAtFinish: true), Faults(failsAtReplace: true)] {
            #expect(throws: StoreError.self) { try convert(type, in: directory, faults: faults) }
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
            #expect(names.filter { !$0.hasPrefix("a") } == [])
        }
    }
}
