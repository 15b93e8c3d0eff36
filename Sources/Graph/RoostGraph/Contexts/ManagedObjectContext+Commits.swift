internal import RoostCore
public import RoostStores

extension ManagedObjectContext {
    /// The commits from now on: the context's own saves, and saves that it merges automatically.
    ///
    /// A commit appears after the context's objects have been updated. The sequence is `Sendable`,
    /// so another task can read it.
    public var changes: SaveNotices { SaveNotices(commits.makeSource()) }
}

/// The sequences to which a context adds its commits, kept alive only by their readers.
final class CommitSequences {
    private struct Weak {
        weak var source: NoticeSource?
    }

    private var sources: [Weak] = []

    deinit { for weak in sources { weak.source?.queue.end() } }

    var isEmpty: Bool { sources.isEmpty }

    func makeSource() -> NoticeSource {
        let source = NoticeSource()
        sources.removeAll { $0.source == nil }
        sources.append(Weak(source: source))
        return source
    }

    func put(_ notice: SaveNotice) {
        guard !sources.isEmpty else { return }
        for weak in sources { weak.source?.queue.put(notice) }
        sources.removeAll { $0.source == nil }
    }
}
