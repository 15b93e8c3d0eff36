public import RoostCore

/// A store with known content, which the checks of reading read.
///
/// Types that cannot write bring one with their ``StoreFixture``, so that more than their refusals
/// is checked; on all others the suite makes its own (``StandardSample``). A check says nothing
/// about what a sample lacks: it should have several entities, subentities, attributes of every
/// type, nulls, links of every kind, and more objects of one entity than a batch holds
/// (`RecordBatch.capacityCount`).
public struct StoreSample: Sendable {
    /// The location of the store.
    package let location: StoreLocation
    /// The options for opening it, instead of the fixture's options.
    package let options: StoreOptions
    /// The content: its model, its objects with their versions, its links and the user's metadata.
    package let content: ReferenceStore

    /// Describes a store that exists and is closed.
    ///
    /// - Parameters:
    ///   - location: Where the store is.
    ///   - options: What it is opened with.
    ///   - content: What it holds; commit to a ``ReferenceStore`` what the store's makers wrote.
    public init(_ location: StoreLocation, options: StoreOptions = StoreOptions(), holding content: ReferenceStore) {
        (self.location, self.options, self.content) = (location, options, content)
    }
}
