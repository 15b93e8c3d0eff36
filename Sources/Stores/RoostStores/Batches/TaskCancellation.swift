internal import RoostCore

/// Throws `cancelled` in a cancelled task, before a batch request changes anything.
func throwIfCancelled() throws(StoreError) {
    if Task.isCancelled {
        throw StoreError(.cancelled, "The task was cancelled, so nothing was written.")
    }
}
