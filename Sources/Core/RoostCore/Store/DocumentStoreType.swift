/// A type whose stores are documents of a limited size.
///
/// A plan uses the limit to report that a store would become too large.
package protocol DocumentStoreType: PersistentStoreType {
    /// The maximum size of a document of a store with these options, in bytes.
    ///
    /// - Throws: `invalidRequest` for an unknown option or an invalid value.
    func maximumDocumentByteCount(_ typeOptions: [String: String]) throws(StoreError) -> Int
}
