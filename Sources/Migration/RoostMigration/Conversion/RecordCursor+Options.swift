internal import RoostCore

extension RecordCursor {
    /// Reads the next batch, or returns false at the end.
    ///
    /// Skips damaged objects and adds them to `skipped`, if the options allow this. Throws
    /// `cancelled` on cancellation.
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

    func next(into batch: inout RecordBatch, options: ConversionOptions) throws(StoreError) -> Bool {
        var skipped = SkippedObjects()
        return try next(into: &batch, options: options, noting: &skipped)
    }
}
