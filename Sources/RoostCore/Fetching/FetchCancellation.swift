/// Ends fetches whose task was cancelled.
package enum FetchCancellation {
    /// How many records or entries a fetch looks at before it asks again whether its task was cancelled: less than a millisecond's work.
    package static let stride = 4096

    /// What a fetch throws whose task was cancelled.
    package static var error: StoreError {
        StoreError(.cancelled, "The task that fetches was cancelled before the fetch was done.")
    }

    /// Throws code `cancelled` in a task that was cancelled.
    package static func check() throws(StoreError) {
        if Task.isCancelled { throw error }
    }
}
