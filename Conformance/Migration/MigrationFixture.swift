internal import Foundation
public import RoostCore

/// A store written by an older version of a program, for tests of the program's migrations.
///
/// Keep a store of each released version beside the tests, in the state that matters. A test then
/// takes a few lines, in any framework:
///
/// ```swift
/// let fixture = MigrationFixture(
///     StoreLocation(type: "sqlite", path: "Fixtures/notes-1.sqlite"), registry: .standard)
/// let expected = MigrationSnapshot(
///     model: try Notes.current(), counts: ["Note": 2, "Section": 1],
///     objects: [.init("Note", where: .equal("postID", to: "n1"), values: ["hexColor": "FF0000"])])
/// let differences = try fixture.differences(from: expected) { copy in
///     let model = expected.model
///     _ = try MigrationManager().migrateInPlace(copy, model: model, options: Notes.migration)
///     return copy
/// }
/// #expect(differences == [])
/// ```
///
/// The caller migrates the copy, so the test covers the program's own migration code.
public struct MigrationFixture: Sendable {
    /// The stored store: a closed store that is one file.
    package let store: StoreLocation
    /// The types of store.
    package let registry: StoreRegistry

    /// Makes a fixture; reads nothing.
    public init(_ store: StoreLocation, registry: StoreRegistry) {
        self.store = store
        self.registry = registry
    }

    /// Copies the stored store, has the copy migrated, and says how the result differs from what is
    /// expected.
    ///
    /// The stored store is not opened, so not even a lock file is made beside it. The copy and what
    /// is made of it go when this returns.
    /// - Parameters:
    ///   - expected: What must come out.
    ///   - migrate: Migrates the copy, which it gets in a directory of its own; gives where the
    ///     result is, mostly in the same place.
    /// - Returns: One sentence for each difference; empty when the result is as expected.
    /// - Throws: What `migrate` throws, and what keeps the store from being copied or the result
    ///   from being opened.
    public func differences(
        from expected: MigrationSnapshot, migratedBy migrate: (_ copy: StoreLocation) throws -> StoreLocation
    ) throws -> [String] {
        let files = FileManager.default
        let directory = files.temporaryDirectory.appendingPathComponent("roost-fixture-\(UUID().uuidString)")
        try files.createDirectory(at: directory, withIntermediateDirectories: false)
        // What cannot be removed is left to the system.
        defer { try? files.removeItem(at: directory) }
        // A link to the stored store would be followed by the migration.
        let original = URL(fileURLWithPath: store.path).resolvingSymlinksInPath().path
        for suffix in ["-wal", "-journal"] where files.fileExists(atPath: original + suffix) {
            throw StoreError(
                .invalidRequest,
                "The stored store '\(original)' is not one file: '\(original)\(suffix)' is there; open and close it once, and store it then."
            )
        }
        let path = directory.appendingPathComponent(URL(fileURLWithPath: store.path).lastPathComponent).path
        try files.copyItem(atPath: original, toPath: path)
        // A fixture may be kept read-only; its copy is to be changed.
        try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let result = try registry.open(
            try migrate(StoreLocation(type: store.type, path: path)), options: StoreOptions(isReadOnly: true))
        do {
            let differences = try expected.differences(in: result)
            try result.close()
            return differences
        } catch {
            // The first error is the one to report.
            try? result.close()
            throw error
        }
    }
}
