/// A pass over stored records.
///
/// A store with records in memory or in a mapped file passes a visitor to ``ScanningFetch``, which
/// copies only matching records.
package protocol RecordVisitor: AnyObject {
    /// Verifies the next records and calls `body` with each, until `body` returns false.
    ///
    /// The next call continues after the last visited record.
    ///
    /// - Returns: Whether more records may follow; false in every call after the end.
    /// - Throws: The errors of ``RecordCursor/next(into:)``. For a damaged record, this method
    ///   throws after visiting all preceding records; the next call continues after the damaged
    ///   record.
    func visit(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool
}

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
