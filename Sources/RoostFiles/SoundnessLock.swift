public import RoostCore

/// The knowledge that a store's file is sound, shared by all who have it open.
///
/// The first opener, over all processes, examines the file while nobody else has it open; later ones rely on that as long as
/// an earlier one is there. Hold a shared ``StoreLock`` around it.
public final class SoundnessLock: Sendable {
    private let file: Mutex<LockFile?>

    private init(_ file: LockFile) { self.file = Mutex(file) }

    /// Joins those who know that the store at `path` is sound; if there are none, calls `examine` first.
    ///
    /// Nobody writes to the store during `examine`, as long as all writers join before they write. When it throws, nobody
    /// relies on it.
    /// - Throws: what `examine` throws; `busy` when another opener examines for longer than `timeoutSeconds`; what ``StoreLock`` throws.
    public static func enter(
        forStoreAt path: String, timeoutSeconds: Double, examine: () throws(StoreError) -> Void
    ) throws(StoreError) -> SoundnessLock {
        let file = try LockFile(forStoreAt: path, .sound, isWritable: true)
        var patience = Patience(seconds: timeoutSeconds)
        repeat {
            if try file.set(.exclusive) {
                try examine()
                // From exclusive to shared nobody can be in the way.
                guard try file.set(.shared) else { continue }
                return SoundnessLock(file)
            }
            // Whoever shares it has examined the file, or joined somebody who did.
            if try file.set(.shared) { return SoundnessLock(file) }
        } while patience.wait()
        throw patience.failure(
            StoreError(.busy, "'\(path)' is being examined by another process; try again later"))
    }

    /// Lets go.
    ///
    /// Calling it again does nothing.
    public func release() { file.withLock { $0 = nil } }
}
