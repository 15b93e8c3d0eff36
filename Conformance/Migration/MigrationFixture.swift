internal import Foundation
public import RoostCore

/// A store written by an older version of a program, for tests of the program's migrations.
///
/// Keep a store of each released version beside the tests. A test then has a few lines, in any
/// framework:
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
    /// The original: a closed store in one file.
    package let store: StoreLocation
    package let registry: StoreRegistry

    /// Creates a fixture without reading the store.
    public init(_ store: StoreLocation, registry: StoreRegistry) {
        self.store = store
        self.registry = registry
    }

    /// Migrates a copy of the store, and returns the differences from the expected result.
    ///
    /// The original is never opened as a store, so not even a lock file is created beside it. The
    /// directory of the copy is removed on return.
    /// - Parameters:
    ///   - expected: The expected content.
    ///   - migrate: Migrates the copy, which has its own directory, and returns the location of the
    ///     result, usually that of the copy.
    /// - Returns: One sentence for each difference; empty if the result is as expected.
    /// - Throws: `invalidRequest` if the original is not one file; errors of `migrate`, of copying
    ///   the store and of reading the result.
    public func differences(
        from expected: MigrationSnapshot, migratedBy migrate: (_ copy: StoreLocation) throws -> StoreLocation
    ) throws -> [String] {
        let files = FileManager.default
        let directory = files.temporaryDirectory.appendingPathComponent("roost-fixture-\(UUID().uuidString)")
        try files.createDirectory(at: directory, withIntermediateDirectories: false)
        // If the removal fails, the system removes the temporary files.
        defer { try? files.removeItem(at: directory) }
        // A migration of a copied symbolic link would change the original.
        let original = URL(fileURLWithPath: store.path).resolvingSymlinksInPath().path
        for suffix in ["-wal", "-journal"] where files.fileExists(atPath: original + suffix) {
            throw StoreError(
                .invalidRequest,
                "The fixture '\(original)' is not one file: '\(original)\(suffix)' exists. Open and close the store, then copy it again."
            )
        }
        let path = directory.appendingPathComponent(URL(fileURLWithPath: store.path).lastPathComponent).path
        try files.copyItem(atPath: original, toPath: path)
        // The original may be read-only, but its copy must be writable.
        try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let result = try registry.open(
            try migrate(StoreLocation(type: store.type, path: path)), options: StoreOptions(isReadOnly: true))
        do {
            let differences = try expected.differences(in: result)
            try result.close()
            return differences
        } catch {
            // The first error is reported, not an error of closing.
            try? result.close()
            throw error
        }
    }
}
