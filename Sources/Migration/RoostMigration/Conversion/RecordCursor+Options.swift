internal import RoostCore

extension RecordCursor {
    /// Reads the next batch as options say: until the migration is cancelled, and past damaged
    /// objects where they are left out.
    ///
    /// - Parameters:
    ///   - batch: Takes the records.
    ///   - options: How the source is read.
    ///   - skipped: Takes the damaged objects.
    /// - Returns: Whether there was another batch.
    /// - Throws: `cancelled`; `corrupted` for damage that is not left out, and what reading throws.
    func next(
        into batch: inout RecordBatch, options: ConversionOptions, noting skipped: inout SkippedObjects
    ) throws(StoreError) -> Bool {
        while true {
            try options.cancellation?.check()
            do throws(StoreError) {
                return try next(into: &batch)
            } catch  where options.skipsDamaged && error.code == .corrupted {
                try skipped.note(error)
            }
        }
    }

    /// Reads the next batch in the same way, without a list of the damaged objects.
    func next(into batch: inout RecordBatch, options: ConversionOptions) throws(StoreError) -> Bool {
        var skipped = SkippedObjects()
        return try next(into: &batch, options: options, noting: &skipped)
    }
}
