/// A type whose stores are documents of a limited size, so that a plan can say that one would
/// become too large.
package protocol DocumentStoreType: PersistentStoreType {
    /// The largest document that a store with these options may have, in bytes.
    ///
    /// - Throws: `invalidRequest` for an unknown option or a value that is not possible.
    func maximumDocumentByteCount(_ typeOptions: [String: String]) throws(StoreError) -> Int
}
