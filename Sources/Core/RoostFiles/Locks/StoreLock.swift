public import RoostCore

/// An advisory lock on a store, held on the file `<store>.lock` beside the store.
///
/// The lock works between processes and between two openers in one process. It ends with the
/// process. Hold a shared lock while a store is open, and an exclusive lock to create, destroy,
/// replace or recover a store. The lock file is never removed while its store exists, so that all
/// openers lock the same file. A file with two names (hard links) has two lock files, so
/// `StoreFile.requireOneName(ofStoreAt:forWriting:acceptsLinks:)` refuses such a store for writing.
public final class StoreLock: Sendable {
    /// The modes in which the lock can be held.
    public enum Mode: Sendable {
        /// Other holders may share the lock.
        case shared
        /// No other holder is allowed.
        case exclusive
    }

    package static let suffix = ".lock"

    package static func path(forStoreAt path: String) -> String { StoreFile.resolvingLink(path) + suffix }

    private struct State {
        var file: LockFile?
        var mode: Mode
    }
    private let state: Mutex<State>
    private let storePath: String
    /// The identity of the lock file.
    private let identity: FileIdentity

    /// The number of locks that this process holds on each lock file.
    private static let heldCounts = Mutex<[FileIdentity: Int]>([:])
    /// The maximum time that an opener yields to a request for exclusive use.
    private static let yieldSeconds = 5.0
    /// The same maximum for an opener whose process already has the store open.
    private static let nestedYieldSeconds = 0.2

    private init(_ file: LockFile, identity: FileIdentity, mode: Mode, storePath: String) {
        state = Mutex(State(file: file, mode: mode))
        self.storePath = storePath
        self.identity = identity
        Self.heldCounts.withLock { $0[identity, default: 0] += 1 }
    }

    deinit { release() }

    /// Locks the store at `path`, which need not exist yet.
    ///
    /// Creates the lock file if it is missing.
    ///
    /// A shared request yields to a waiting exclusive request for at most five seconds, which count
    /// toward the timeout. If this process already holds the lock, the limit is 0.2 seconds,
    /// because the exclusive request may be waiting for this process.
    ///
    /// - Parameters:
    ///   - path: The store's path.
    ///   - mode: Whether other holders may share the lock.
    ///   - timeoutSeconds: How long to wait until other holders release the lock; 0 tries once.
    ///   - isCancelled: Called while waiting. True ends the wait, as cancellation of the task does.
    /// - Returns: The lock, held.
    /// - Throws: `busy`, naming the file, after the timeout; `cancelled`; `missingDirectory`;
    ///   `permissionDenied`, also for a directory in which every user may replace files;
    ///   `readOnly`; `noSpace`; `notAStore` if the file at the lock file's path is not an empty
    ///   regular file with one name.
    public static func acquire(
        forStoreAt path: String, mode: Mode, timeoutSeconds: Double, isCancelled: (() -> Bool)? = nil
    ) throws(StoreError) -> StoreLock {
        var timeout = Timeout(seconds: timeoutSeconds, isCancelled: isCancelled)
        while true {
            let file = try LockFile(forStoreAt: path, region: .store, isWritable: mode == .exclusive)
            if mode == .shared { try letOthersGoFirst(file, timeout: timeout) }
            var isWaiting = false
            while try !file.set(mode.kind) {
                if mode == .exclusive, timeoutSeconds > 0 {
                    file.startWaiting()
                    isWaiting = true
                }
                guard timeout.wait() else { throw timeout.failure(busy(path, mode: mode)) }
            }
            if isWaiting { file.stopWaiting() }
            // Try again if the store and its lock file were removed between opening and locking.
            if let identity = try file.currentIdentity {
                return StoreLock(file, identity: identity, mode: mode, storePath: path)
            }
        }
    }

    private static func letOthersGoFirst(_ file: LockFile, timeout: Timeout) throws(StoreError) {
        guard timeout.secondsLeft > 0, file.isWaitedFor else { return }
        let isHeld = try file.currentIdentity.map { identity in heldCounts.withLock { $0[identity] != nil } } ?? false
        let seconds = min(timeout.secondsLeft, isHeld ? nestedYieldSeconds : yieldSeconds)
        var yielding = Timeout(seconds: seconds, isCancelled: { timeout.isCancelled })
        while file.isWaitedFor, yielding.wait() {}
    }

    /// Locks the store at `path` for reading.
    ///
    /// Returns nil if this user cannot create or open the lock file, or if the disk is full.
    ///
    /// On read-only media, no lock is needed. Elsewhere, a reader without a lock must check whether
    /// the file has changed.
    public static func acquireForReading(storeAt path: String, timeoutSeconds: Double) throws(StoreError) -> StoreLock?
    {
        do throws(StoreError) {
            return try acquire(forStoreAt: path, mode: .shared, timeoutSeconds: timeoutSeconds)
        } catch  where error.code == .permissionDenied || error.code == .readOnly || error.code == .noSpace {
            return nil
        }
    }

    /// Changes the lock to shared or exclusive without releasing it.
    ///
    /// After an error the mode is unchanged.
    ///
    /// If two holders share the lock and both request an exclusive lock, they wait for each other
    /// until a timeout. On a system that has only `flock`, the lock is briefly released, and may
    /// be lost after an error.
    ///
    /// - Parameters:
    ///   - mode: The new mode.
    ///   - timeoutSeconds: How long to wait until other holders release the lock; 0 tries once.
    /// - Throws: `busy`; `cancelled`; `closed` after ``release()``.
    public func change(to mode: Mode, timeoutSeconds: Double) throws(StoreError) {
        var timeout = Timeout(seconds: timeoutSeconds)
        let isWaiting = mode == .exclusive && timeoutSeconds > 0
        defer { if isWaiting { state.withLock { $0.file?.stopWaiting() } } }
        repeat {
            let isDone = try state.withLock { (state) throws(StoreError) in
                guard let isSet = try state.file?.set(mode.kind) else {
                    throw StoreError(.closed, "The lock of '\(storePath)' was released before")
                }
                if isSet { state.mode = mode } else if isWaiting { state.file?.startWaiting() }
                return isSet
            }
            if isDone { return }
        } while timeout.wait()
        throw timeout.failure(Self.busy(storePath, mode: mode))
    }

    /// Whether another holder of the lock has called ``readFileAlone()``.
    package var isFileReadAlone: Bool { state.withLock { $0.file?.isFileReadAlone ?? false } }

    /// Announces that this holder reads the store's file without the log beside it.
    ///
    /// Other holders then delay moving the log into the file.
    package func readFileAlone() { state.withLock { $0.file?.readFileAlone() } }

    /// Releases the lock.
    ///
    /// Further calls do nothing.
    public func release() { state.withLock { forget(&$0) } }

    private func forget(_ state: inout State) {
        guard state.file != nil else { return }
        state.file = nil
        Self.heldCounts.withLock { counts in
            counts[identity] = counts[identity].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
    }

    /// Removes the lock file of a store that no longer exists, and releases the lock.
    ///
    /// A file that is not empty is kept.
    ///
    /// - Throws: `invalidRequest` unless the lock is held exclusively.
    package func releaseRemovingFile() throws(StoreError) {
        try state.withLock { (state) throws(StoreError) in
            guard state.mode == .exclusive, let file = state.file else {
                throw StoreError(
                    .invalidRequest, "The lock file of '\(storePath)' can be removed only by its exclusive holder")
            }
            // Remove the file before releasing the lock. A process that then locks the removed file
            // detects that the file is not at the path, and starts over.
            try file.removeIfEmpty()
            forget(&state)
        }
    }

    private static func busy(_ path: String, mode: Mode) -> StoreError {
        let others = mode == .exclusive ? "open" : "being created, replaced or recovered"
        return StoreError(
            .busy, "'\(path)' is \(others) elsewhere, in this process or another; close it there or try again later")
    }
}

extension StoreLock: CommitSignal {
    package var path: String { Self.path(forStoreAt: storePath) }
    /// The identity of the lock file, the same for all openers of the store.
    package var id: CommitSignalID { CommitSignalID(device: identity.device, inode: identity.inode) }

    package func raise() { state.withLock { $0.file?.touch() } }
}

extension StoreLock.Mode {
    var kind: LockFile.Kind { self == .shared ? .shared : .exclusive }
}

/// The bytes of a lock file, each locked separately.
enum Region: Int32 {
    /// Held in shared mode while a store is open, and exclusively to create or remove the store.
    case store = 0
    /// Held by the current writer.
    case writer = 1
    /// Shared by the openers of a sound store, or held exclusively by an opener that examines the
    /// store.
    case sound = 2
    /// Held by the caller that creates a store at the path.
    case claim = 3
    /// Held by an opener that waits for exclusive use of the store.
    case waiting = 4
    /// Shared by readers of the store's file that ignore its companion files.
    case fileReader = 5
    /// Shared by openers to record that the store was found sound.
    case confirmed = 6
}
