/// The operations that every library of persistent objects supports.
///
/// Other libraries are added by hand, because they require the network:
///
/// 1. Add the package to `Benchmarks/Package.swift`.
/// 2. Write a type with this protocol in its own file.
/// 3. Add the type to ``ObjectBench/others``.
///
/// Each operation uses the library's own objects, and reads nothing in advance. Its changes are
/// durable when it returns.
///
/// ```swift
/// struct GRDBLayer: ObjectLayer {
///     let name = "GRDB"
///     init(directory: URL) throws { queue = try DatabaseQueue(path: …) }
///     func insert(_ count: Int) throws { try queue.write { … } }
/// }
/// ```
protocol ObjectLayer {
    var name: String { get }
    /// Inserts albums, twenty for each artist, and saves them in one transaction.
    func insert(_ count: Int) throws
    /// Reads all albums as objects, and returns the sum of their years and of the byte counts of
    /// their titles.
    func readAll() throws -> Int
    /// Reads all albums, and returns the total byte count of their artists' names.
    func readReferences() throws -> Int
    /// Adds a play to each album, in one transaction.
    func updateAll() throws
    /// Returns the number of albums of a year.
    func count(year: Int) throws -> Int
}
