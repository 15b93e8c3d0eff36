internal import RoostCore
internal import RoostMigration

/// A store's file and content after each of its commits.
///
/// A store that appends commits to its file cannot distinguish a truncated file from a commit that
/// a crash interrupted. So it may open without its last commits. The history has the content that
/// the store must then show.
struct FileHistory {
    struct State {
        fileprivate let bytes: [UInt8]
        let contents: StoreContents
        /// The results of requests that use indexes.
        let answers: [[Int64]]
    }

    private var states: [State] = []
    private var whole: [UInt8] = []

    /// Adds the state that an open store has after a commit.
    mutating func add(
        _ store: any PersistentStore, on bench: Workbench, answers: [[Int64]] = []
    ) throws {
        let bytes = bench.bytes(of: store.location.path) ?? []
        states.append(State(bytes: bytes, contents: try store.contents(), answers: answers))
    }

    /// Ends the history with the file of the closed store.
    ///
    /// Removes each state whose file was empty or is not a prefix of the closed file.
    mutating func finish(_ bytes: [UInt8]) {
        whole = bytes
        states.removeAll { $0.bytes.isEmpty || !bytes.starts(with: $0.bytes) }
    }

    /// The file size in bytes after each commit.
    var ends: [Int] { states.map(\.bytes.count) }

    /// Returns the allowed state of a store whose file was changed to `bytes`: the state after the
    /// last whole commit.
    ///
    /// Returns nil if the store must detect the damage: if it does not append commits, if its first
    /// state is damaged, or if a whole commit follows the damaged one.
    func state(allowedFor bytes: [UInt8]) -> State? {
        guard let last = states.lastIndex(where: { bytes.starts(with: $0.bytes) }) else { return nil }
        var start = states[last].bytes.count
        for (number, state) in states.enumerated().dropFirst(last + 1) {
            let end = state.bytes.count
            // The first commit after `last` is the damaged one.
            if number > last + 1, end > start, bytes.count >= end, bytes[start..<end] == whole[start..<end] {
                return nil
            }
            start = end
        }
        return states[last]
    }
}
