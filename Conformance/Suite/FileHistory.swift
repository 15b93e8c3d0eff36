internal import RoostCore

/// A store's file and content after each of its commits.
///
/// A store that appends each commit to its file cannot tell an end that was cut off from a commit that a crash interrupted. So it may open
/// without its last commits. The history says what it must hold then.
struct FileHistory {
    /// What a store held after a commit.
    struct State {
        /// The file.
        fileprivate let bytes: [UInt8]
        /// Everything in the store.
        let contents: StoreContents
        /// What it answered to questions that go through its indexes.
        let answers: [[Int64]]
    }

    private var states: [State] = []
    private var whole: [UInt8] = []

    /// Adds the state that an open store has after a commit.
    mutating func add(
        _ store: any PersistentStore, on bench: Workbench, answers: [[Int64]] = []
    ) throws {
        let bytes = bench.bytes(of: store.url.path) ?? []
        states.append(State(bytes: bytes, contents: try store.contents(), answers: answers))
    }

    /// Ends the history with the file of the closed store, and forgets states of which it is not the continuation.
    mutating func finish(_ bytes: [UInt8]) {
        whole = bytes
        states.removeAll { $0.bytes.isEmpty || !bytes.starts(with: $0.bytes) }
    }

    /// Where each commit ends in the closed store's file; empty for a store that does not append.
    var ends: [Int] { states.map(\.bytes.count) }

    /// The state that a store may have whose file was changed to `bytes`: after the last commit that is whole.
    ///
    /// Nil where the damage must be noticed: the store does not append, not even its first state is whole, or a commit behind the damaged
    /// one is whole.
    func state(allowedFor bytes: [UInt8]) -> State? {
        guard let last = states.lastIndex(where: { bytes.starts(with: $0.bytes) }) else { return nil }
        var start = states[last].bytes.count
        for (number, state) in states.enumerated().dropFirst(last + 1) {
            let end = state.bytes.count
            // The first one is the damaged one.
            if number > last + 1, end > start, bytes.count >= end, bytes[start..<end] == whole[start..<end] {
                return nil
            }
            start = end
        }
        return states[last]
    }
}
