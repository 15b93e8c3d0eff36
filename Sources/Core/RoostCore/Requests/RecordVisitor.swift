/// A pass over records at their place of storage, without copying each record into a batch.
///
/// A store whose records are in memory or in a mapped file passes a visitor to ``ScanningFetch``,
/// which copies only the records that it needs.
package protocol RecordVisitor: AnyObject {
    /// Calls `body` with each of the next records, verified, until `body` returns false. The next
    /// call continues after that record.
    ///
    /// - Returns: False at the end of the records, and in every later call.
    /// - Throws: The errors of ``RecordCursor/next(into:)``. The records before a damaged record
    ///   have been visited, and the next call continues after it.
    func visit(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool
}

/// A visitor of the records of a cursor.
package final class CursorVisitor: RecordVisitor {
    private let cursor: any RecordCursor
    private var batch: RecordBatch
    private var index = 0

    package init(_ cursor: any RecordCursor, model: ManagedObjectModel) {
        self.cursor = cursor
        batch = RecordBatch(model: model)
    }

    package func visit(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool {
        while true {
            while index < batch.count {
                index += 1
                guard batch.withRecord(at: index - 1, body) else { return true }
            }
            index = 0
            do throws(StoreError) {
                guard try cursor.next(into: &batch) else { return false }
            } catch {
                batch.removeAll()
                throw error
            }
        }
    }
}
