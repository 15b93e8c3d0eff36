internal import RoostCore

extension RecordCursor {
    /// Reads the next batch.
    ///
    /// Stops on cancellation, and skips damaged objects if the options allow it.
    ///
    /// - Parameters:
    ///   - batch: Receives the records.
    ///   - options: The options for reading the source.
    ///   - skipped: Receives the damaged objects.
    /// - Returns: Whether the cursor had another batch.
    /// - Throws: `cancelled`; `corrupted` for damage that is not skipped; other read errors.
    func next(
        into batch: inout RecordBatch, options: ConversionOptions, noting skipped: inout SkippedObjects
    ) throws(StoreError) -> Bool {
        var lastDamaged: ObjectID?
        while true {
            try options.cancellation?.check()
            do throws(StoreError) {
                return try next(into: &batch)
            } catch  where options.skipsDamaged && error.code == .corrupted {
                // A cursor that reports the same record twice makes no progress.
                if let damaged = error.damagedObject {
                    guard damaged != lastDamaged else { throw error }
                    lastDamaged = damaged
                }
                try skipped.note(error)
            }
        }
    }

    /// Reads the next batch like `next(into:options:noting:)`, but without listing the damaged
    /// objects.
    func next(into batch: inout RecordBatch, options: ConversionOptions) throws(StoreError) -> Bool {
        var skipped = SkippedObjects()
        return try next(into: &batch, options: options, noting: &skipped)
    }
}
