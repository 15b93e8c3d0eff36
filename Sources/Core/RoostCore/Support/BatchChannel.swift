internal import Dispatch

/// A channel that passes batches from a sending thread to a receiving thread.
///
/// The receiver can return used batches, which the sender fills again. At most `capacity` messages
/// wait, so memory is bounded.
package final class BatchChannel: Sendable {
    package enum Message: Sendable {
        /// The first message: the highest used key of each hierarchy, and the expected counts.
        case begin(lastKeys: [EntityName: Int64], objectCount: Int?, linkCount: Int?)
        /// Records; in a conversion, the records of a batch belong to one hierarchy.
        case records(RecordBatch)
        case links(LinkBatch)
        case end
    }

    private struct State {
        var messages: [Message] = []
        var spareRecords: [RecordBatch] = []
        var spareLinks: [LinkBatch] = []
        var isStopped = false
    }

    private let state = Mutex(State())
    private let free: DispatchSemaphore
    private let filled: DispatchSemaphore

    package init(capacity: Int) {
        // A semaphore must not be deallocated while its value is below its initial value, so both start at zero.
        free = DispatchSemaphore(value: 0)
        filled = DispatchSemaphore(value: 0)
        for _ in 0..<capacity { free.signal() }
    }

    /// Waits for room and sends a message; returns false if the channel was stopped.
    package func send(_ message: Message) -> Bool {
        if isStopped { return false }
        free.wait()
        let isSent = state.withLock { state in
            guard !state.isStopped else { return false }
            state.messages.append(message)
            return true
        }
        filled.signal()
        return isSent
    }

    /// Waits for the next message; returns nil if the channel was stopped.
    package func receive() -> Message? {
        if isStopped { return nil }
        filled.wait()
        let message: Message? = state.withLock { state in
            guard !state.isStopped, !state.messages.isEmpty else { return nil }
            return state.messages.removeFirst()
        }
        free.signal()
        return message
    }

    package var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Stops the channel, and wakes a waiting sender or receiver.
    package func stop() {
        state.withLock { state in
            state.isStopped = true
            state.messages = []
        }
        free.signal()
        filled.signal()
    }

    /// Returns an empty batch, if possible a recycled one.
    package func spareRecords(_ model: ManagedObjectModel) -> RecordBatch {
        guard var batch = state.withLock({ $0.spareRecords.popLast() }) else { return RecordBatch(model: model) }
        batch.removeAll()
        return batch
    }

    package func spareLinks(_ relationship: Int) -> LinkBatch {
        guard var batch = state.withLock({ $0.spareLinks.popLast() }) else {
            return LinkBatch(relationship: relationship)
        }
        batch.removeAll()
        batch.relationship = relationship
        return batch
    }

    package func recycle(_ batch: consuming RecordBatch) {
        // The batch is cleared when it is reused.
        let batch = consume batch
        state.withLock { $0.spareRecords.append(batch) }
    }

    package func recycle(_ batch: consuming LinkBatch) {
        let batch = consume batch
        state.withLock { $0.spareLinks.append(batch) }
    }
}
