internal import RoostCore
public import RoostStores

extension ManagedObjectContext {
    /// The commits that the context shows from now on: its own saves, and the saves that it merges.
    ///
    /// Each comes after the objects have their new values. The sequence is `Sendable`, so another
    /// task can read it; it then uses the IDs.
    public var changes: SaveNotices { commits.makeSequence() }
}

/// The sequences that a context feeds, as long as programs keep them.
final class WeakBuffers {
    private struct Weak {
        weak var buffer: NoticeBuffer?
    }

    private var buffers: [Weak] = []

    deinit { for buffer in buffers { buffer.buffer?.end() } }

    var isEmpty: Bool { buffers.isEmpty }

    func makeSequence() -> SaveNotices {
        let buffer = NoticeBuffer()
        buffers.removeAll { $0.buffer == nil }
        buffers.append(Weak(buffer: buffer))
        return SaveNotices(buffer)
    }

    func put(_ notice: SaveNotice) {
        guard !buffers.isEmpty else { return }
        for buffer in buffers { buffer.buffer?.put(notice) }
        buffers.removeAll { $0.buffer == nil }
    }
}
