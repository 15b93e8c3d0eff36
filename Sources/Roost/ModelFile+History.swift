public import RoostCore
internal import RoostCoreData
public import RoostMigration

extension ModelFile {
    /// The versions of a bundle of Apple's (`.xcdatamodeld`), oldest first; nil for everything that has one version.
    ///
    /// A bundle says which version is current, not in which order they were made: they come in the natural order of their names, so that
    /// `Notes 10` follows `Notes 9`, those that are named like the current one behind all others. Versions behind the current one are
    /// there too.
    /// - Parameter path: The bundle.
    /// - Returns: A history without mapping models.
    /// - Throws: As ``read(_:version:registry:)``, naming the version that cannot be read.
    public static func history(at path: String) throws(StoreError) -> ModelHistory? {
        let name = path.split(separator: "/").last.map { $0.lowercased() } ?? ""
        guard name.hasSuffix(".xcdatamodeld") || name.hasSuffix(".momd") else { return nil }
        let names = try CoreDataModelReader.versions(at: path)
        guard names.count > 1 else { return nil }
        var versions: [ModelHistory.Version] = []
        for name in names { versions.append(.init(name, try CoreDataModelReader.read(at: path, version: name).model)) }
        return try ModelHistory(versions)
    }
}
