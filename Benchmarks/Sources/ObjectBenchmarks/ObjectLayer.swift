/// A library that keeps objects, as a program uses it: what all such libraries can do.
///
/// This is the place where others can be put beside Roost, by hand, because they need the network:
/// add the package to `Benchmarks/Package.swift`, write a type with this protocol in a file of its
/// own, and name it in ``ObjectBench/others``. Each operation has the same meaning for all: durable
/// when it returns, objects of the library's own kind, nothing read in advance.
///
/// ```swift
/// struct GRDBLayer: ObjectLayer {
///     let name = "GRDB"
///     init(directory: URL) throws { queue = try DatabaseQueue(path: …) }
///     func insert(_ count: Int) throws { try queue.write { … } }
/// }
/// ```
protocol ObjectLayer {
    /// The name in the table.
    var name: String { get }
    /// Inserts albums, twenty for each artist, and saves them in one transaction.
    func insert(_ count: Int) throws
    /// Reads all albums as objects, and returns the sum of their years and the bytes of their
    /// titles.
    func readAll() throws -> Int
    /// Reads all albums, and returns the bytes of the names of their artists.
    func readReferences() throws -> Int
    /// Adds a play to each album, and saves them in one transaction.
    func updateAll() throws
    /// Returns the number of albums of a year.
    func count(year: Int) throws -> Int
}
