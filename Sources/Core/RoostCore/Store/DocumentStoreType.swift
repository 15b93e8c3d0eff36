/// A type whose stores are documents of a limited size.
package protocol DocumentStoreType: PersistentStoreType {
    /// Returns the maximum size in bytes of a store's document with these options.
    ///
    /// - Throws: `invalidRequest` for an unknown option or an invalid value.
    func maximumDocumentByteCount(_ typeOptions: [String: String]) throws(StoreError) -> Int
}
