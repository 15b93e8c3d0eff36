/// A pass over stored records; an implementation need not copy them into a batch.
///
/// A store whose records are in memory or in a mapped file passes a visitor to ``ScanningFetch``,
/// which copies only matching records.
package protocol RecordVisitor: AnyObject {
    /// Verifies the next records and calls `body` with each, until `body` returns false.
    ///
    /// The next call continues after the last visited record.
    ///
    /// - Returns: True if more records may follow. False at the end of the records, and in every
    ///   later call.
    /// - Throws: The errors of ``RecordCursor/next(into:)``. If a record is damaged, this method
    ///   visits all preceding records, then throws. The next call continues after the damaged
    ///   record.
    func visit(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool
}

/// A visitor of the records that a cursor reads.
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
