package import RoostCore

/// A receiver of progress reports from the fetches of a task.
package final class FetchProgress: Sendable {
    private let body: @Sendable (Int) -> Void

    /// Creates a receiver; `body` receives the number of records examined since the last call.
    package init(_ body: @escaping @Sendable (Int) -> Void) { self.body = body }

    func report(_ count: Int) { body(count) }
}

/// Support for ending fetches together with their task.
package enum FetchCancellation {
    /// The number of records or entries that a fetch examines between checks for cancellation.
    package static let stride = 4096

    /// The receiver of progress reports of this task's fetches, if any.
    ///
    /// A database that filters and sorts in its own engine does not report the progress of fetches.
    @TaskLocal package static var progress: FetchProgress?

    package static var error: StoreError {
        StoreError(.cancelled, "The task that fetches was cancelled before the fetch was done.")
    }

    package static func check() throws(StoreError) {
        if Task.isCancelled { throw error }
    }
}

extension Array {
    /// Sorts like `sort(by:)`, but throws `cancelled` soon after the task is cancelled.
    ///
    /// After this error, the elements are in any order.
    mutating func sortUnlessCancelled(by precedes: (Element, Element) -> Bool) throws(StoreError) {
        var comparisonCount = 0
        do {
            try sort { left, right in
                comparisonCount &+= 1
                if comparisonCount.isMultiple(of: FetchCancellation.stride) { try FetchCancellation.check() }
                return precedes(left, right)
            }
        } catch {
            // The closure throws no other error.
            throw FetchCancellation.error
        }
    }
}
