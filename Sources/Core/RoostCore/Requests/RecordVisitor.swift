/// A pass over records where they are stored, without copying each into a batch first.
///
/// A store whose records lie in memory or in a mapped file gives one to ``ScanningFetch``, which
/// copies only the records it needs.
package protocol RecordVisitor: AnyObject {
    /// Calls `body` with each of the next records, verified, until it returns false; the next call
    /// continues there.
    ///
    /// - Returns: False at the end of the records, and ever after.
    /// - Throws: As ``RecordCursor/next(into:)``; the records before a damaged one were shown, and
    ///   the next call continues after it.
    func visit(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool
}

/// Shows the records of a cursor.
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
