package import RoostCore
internal import RoostStores

extension TextImport {
    package struct Result: Sendable {
        /// The number of imported rows.
        package var rows = 0
        /// The number of new objects of the entity.
        package var inserted = 0
        /// The number of objects that were inserted because rows refer to them.
        package var related = 0

        package init() {}
    }

    /// Inserts an object for each row, or updates the object with the row's key.
    ///
    /// Missing objects of relations are inserted first, in separate transactions. Without a key,
    /// all rows form one transaction. With a key, a transaction has at most 20 000 rows, which are
    /// held in memory. After an error, the committed transactions remain.
    ///
    /// If `isNew` is true, error messages omit the number of imported rows, because the caller
    /// deletes the store.
    ///
    /// - Throws: The errors of a batch insert; `invalidValue` with the line of an invalid row.
    package func insert(
        into store: any PersistentStore, author: String? = nil, isNew: Bool = false
    ) throws(StoreError) -> Result {
        var result = Result()
        if !options.relations.isEmpty {
            result.related = try RowFeed(self, in: store).insertMissing()
        }
        let before = options.key.isEmpty ? 0 : try count(in: store)
        let feed = try RowFeed(self, in: store)
        if options.key.isEmpty {
            _ = try store.execute(
                request(author) { (row) throws(StoreError) in
                    guard let next = try feed.next() else { return true }
                    row = next
                    return false
                }, model: model)
            // Other writers may change the number of objects in the store during the import.
            result.inserted = feed.rowCount
        } else {
            var isAtEnd = false
            while !isAtEnd {
                let end = feed.rowCount + Self.keyedCount
                do throws(StoreError) {
                    _ = try store.execute(
                        request(author) { (row) throws(StoreError) in
                            guard feed.rowCount < end else { return true }
                            guard let next = try feed.next() else {
                                isAtEnd = true
                                return true
                            }
                            row = next
                            return false
                        }, model: model)
                } catch {
                    let before = end - Self.keyedCount
                    guard before > 0, !isNew else { throw error }
                    throw error.withMessage(
                        "\(error.message) \(before) rows were imported before this error, and row numbers in the message do not count these rows."
                    )
                }
            }
        }
        result.rows = feed.rowCount
        if !options.key.isEmpty { result.inserted = min(max(0, try count(in: store) - before), result.rows) }
        return result
    }

    /// Checks all rows without writing, and returns the number of valid rows.
    ///
    /// Rows are checked against the rules of single objects, not against other objects.
    ///
    /// - Throws: The same errors as ``insert(into:author:isNew:)``.
    package func look() throws(StoreError) -> Int { try RowFeed(self, in: nil).lookAtAll() }

    private func request(
        _ author: String?, _ handler: @escaping (inout BatchInsertRequest.Row) throws(StoreError) -> Bool
    ) -> BatchInsertRequest {
        var request = BatchInsertRequest(entity.name, handler: handler)
        if !options.key.isEmpty { request.onConflict = .update }
        request.author = author
        return request
    }

    private func count(in store: any PersistentStore) throws(StoreError) -> Int {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        return try snapshot.count(FetchRequest(entity.name))
    }
}
