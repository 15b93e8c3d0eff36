internal import RoostCore

/// A bulk load on its own thread.
final class DestinationLoad {
    private let channel: BatchChannel
    private let writer: WorkerThread<StoreTally?>
    private var isOver = false

    /// Starts a load by sending `begin`, the first message, to the writer.
    init(_ channel: BatchChannel, begin: BatchChannel.Message, writer: WorkerThread<StoreTally?>) throws(StoreError) {
        self.channel = channel
        self.writer = writer
        try send(begin)
    }

    deinit { abandon() }

    func spareRecords(_ model: ManagedObjectModel) -> RecordBatch { channel.spareRecords(model) }
    func spareLinks(_ relationship: Int) -> LinkBatch { channel.spareLinks(relationship) }

    /// Sends a message to the writer, or throws the writer's error if the writer has stopped.
    func send(_ message: BatchChannel.Message) throws(StoreError) {
        guard !isOver, channel.send(message) else {
            _ = try join()
            throw StoreError(
                .internalInconsistency, "The destination stopped before everything was written.")
        }
    }

    /// Waits until all content is written, and returns the tally of the store.
    func finish() throws(StoreError) -> StoreTally {
        try send(.end)
        guard let tally = try join() else {
            throw StoreError(.internalInconsistency, "The destination ended before everything was written.")
        }
        return tally
    }

    private func join() throws(StoreError) -> StoreTally? {
        guard !isOver else { return nil }
        isOver = true
        return try writer.join().get()
    }

    /// Cancels the load and discards its content.
    func abandon() {
        guard !isOver else { return }
        isOver = true
        channel.stop()
        _ = writer.join()
    }
}
