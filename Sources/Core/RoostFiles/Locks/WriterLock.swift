public import RoostCore

/// The writer's place at a store: one holder over all processes, taken and given back for each transaction.
///
/// For libraries whose own lock cannot be waited for with a limit. It is a second byte of the file that ``StoreLock`` uses,
/// or the file `<store>.writer.lock` where bytes cannot be locked apart, and independent of the first.
public final class WriterLock: Sendable {
    private struct State {
        var file: LockFile?
    }
    private let state: Mutex<State>
    private let storePath: String

    /// Opens the lock file of the store at `path` without locking it.
    ///
    /// Throws what ``StoreLock`` throws.
    public init(forStoreAt path: String) throws(StoreError) {
        state = Mutex(State(file: try LockFile(forStoreAt: path, .writer, isWritable: true)))
        storePath = path
    }

    /// Takes the place, waiting up to `timeoutSeconds` for whoever has it.
    ///
    /// Throws code `busy` after that, `closed` after ``close()``.
    public func lock(timeoutSeconds: Double) throws(StoreError) {
        var patience = Patience(seconds: timeoutSeconds)
        repeat {
            if try set(.exclusive) { return }
        } while patience.wait()
        throw patience.failure(
            StoreError(.busy, "Another process is writing to '\(storePath)'; try again later"))
    }

    /// Gives the place back.
    public func unlock() throws(StoreError) { _ = try set(.none) }

    /// Closes the lock file, and gives the place back if it is held.
    public func close() { state.withLock { $0.file = nil } }

    private func set(_ kind: LockFile.Kind) throws(StoreError) -> Bool {
        try state.withLock { (state) throws(StoreError) in
            guard let isSet = try state.file?.set(kind) else {
                throw StoreError(.closed, "'\(storePath)' was closed before")
            }
            return isSet
        }
    }
}
