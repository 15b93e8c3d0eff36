internal import Dispatch

/// Carries batches from the reading thread to the writing thread, and back when they are empty.
///
/// At most `capacity` batches are in progress, so the faster side waits for the slower one and
/// memory stays bounded whatever the size of the store. One sender, one receiver.
package final class BatchChannel: Sendable {
    /// A message from the reader to the writer.
    package enum Message: Sendable {
        /// The data needed before the first record: the keys that count as used, and the amount to
        /// come.
        case begin(lastKeys: [EntityName: Int64], objectCount: Int?, linkCount: Int?)
        /// Records; those of a conversion are of one hierarchy.
        case records(RecordBatch)
        /// Links, all of one relationship.
        case links(LinkBatch)
        /// Everything was sent.
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
        // A semaphore must not be deallocated below its initial value, so they start at zero and
        // are signaled.
        free = DispatchSemaphore(value: 0)
        filled = DispatchSemaphore(value: 0)
        for _ in 0..<capacity { free.signal() }
    }

    /// Sends a message, waiting for room.
    ///
    /// Returns false if the other side stopped; the message is then dropped.
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

    /// Receives the next message, waiting for one.
    ///
    /// Returns nil if the other side stopped before ``Message/end``.
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

    /// Whether one side has ended the exchange.
    package var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Ends the exchange from either side, waking the other one.
    package func stop() {
        state.withLock { state in
            state.isStopped = true
            state.messages = []
        }
        free.signal()
        filled.signal()
    }

    /// Returns an empty batch to fill, reusing a returned one if possible.
    package func spareRecords(_ model: ManagedObjectModel) -> RecordBatch {
        guard var batch = state.withLock({ $0.spareRecords.popLast() }) else { return RecordBatch(model: model) }
        batch.removeAll()
        return batch
    }

    /// Returns an empty batch to fill, reusing a returned one if possible.
    package func spareLinks(_ relationship: Int) -> LinkBatch {
        guard var batch = state.withLock({ $0.spareLinks.popLast() }) else {
            return LinkBatch(relationship: relationship)
        }
        batch.removeAll()
        batch.relationship = relationship
        return batch
    }

    /// Takes back a batch for reuse.
    package func recycle(_ batch: consuming RecordBatch) {
        // Cursors replace what is in a batch, so there is no need to empty it here.
        let batch = consume batch
        state.withLock { $0.spareRecords.append(batch) }
    }

    /// Takes back a batch for reuse.
    package func recycle(_ batch: consuming LinkBatch) {
        let batch = consume batch
        state.withLock { $0.spareLinks.append(batch) }
    }
}
