public import RoostCore

/// A store with known content for the checks of reading.
///
/// A type that cannot write provides a sample with its ``StoreFixture``. Other types need no
/// sample, because the suite writes one (`StandardSample`). The checks cover only what the sample
/// contains, so it should have:
///
/// - several entities and subentities
/// - attributes of every type, with nulls
/// - links of every kind
/// - more objects of one entity than a batch holds (`RecordBatch.capacityCount`)
public struct StoreSample: Sendable {
    package let location: StoreLocation
    /// The options for opening the store, instead of the fixture's options.
    package let options: StoreOptions
    /// The content: the model, the objects with their versions, the links and the user's metadata.
    package let content: ReferenceStore

    /// Creates the description of an existing, closed store.
    ///
    /// - Parameters:
    ///   - location: The location of the store.
    ///   - options: The options for opening it.
    ///   - content: The content of the store: a ``ReferenceStore`` with the same commits.
    public init(_ location: StoreLocation, options: StoreOptions = StoreOptions(), holding content: ReferenceStore) {
        (self.location, self.options, self.content) = (location, options, content)
    }
}
