package import RoostCore

/// A receiver of the progress of a task's fetches.
package final class FetchProgress: Sendable {
    private let body: @Sendable (Int) -> Void

    /// Creates a receiver.
    ///
    /// - Parameter body: Receives the number of records that were looked at since the last call.
    package init(_ body: @escaping @Sendable (Int) -> Void) { self.body = body }

    func report(_ count: Int) { body(count) }
}

/// Ends fetches whose task was cancelled.
package enum FetchCancellation {
    /// The number of records or entries that a fetch looks at between checks for cancellation: less
    /// than a millisecond's work.
    package static let stride = 4096

    /// The receiver of the progress of this task's fetches, if any.
    ///
    /// Databases that filter and sort by themselves report nothing.
    @TaskLocal package static var progress: FetchProgress?

    /// The error that a fetch throws in a cancelled task.
    package static var error: StoreError {
        StoreError(.cancelled, "The task that fetches was cancelled before the fetch was done.")
    }

    /// Throws code `cancelled` in a cancelled task.
    package static func check() throws(StoreError) {
        if Task.isCancelled { throw error }
    }
}

extension Array {
    /// Sorts as `sort(by:)` does; throws code `cancelled`, in any order, soon after the task was
    /// cancelled.
    mutating func sortUnlessCancelled(by precedes: (Element, Element) -> Bool) throws(StoreError) {
        var comparisonCount = 0
        do {
            try sort { left, right in
                comparisonCount &+= 1
                if comparisonCount.isMultiple(of: FetchCancellation.stride) { try FetchCancellation.check() }
                return precedes(left, right)
            }
        } catch {
            // Nothing else is thrown above.
            throw FetchCancellation.error
        }
    }
}
