internal import Foundation
internal import RoostCore
internal import RoostMigration
internal import RoostSystem

/// The handler of SIGINT, SIGTERM and SIGHUP, which cancels the current operation if possible, and
/// otherwise ends the process.
final class Interruption: Sendable {
    static let shared = Interruption()

    /// The time limit for closing open stores after a cancellation.
    private static let patienceSeconds: UInt32 = 3
    /// The time after the first signal in which further signals have no effect.
    private static let repetitionTime = Duration.milliseconds(500)
    /// The stack size of threads that only wait.
    private static let stackByteCount = 1 << 20

    private struct State {
        /// The task that runs the command; cancelling the task cancels the command's fetches.
        var command: Task<Void, Never>?
        var cancellation: ConversionCancellation?
        let readingCancellation = ConversionCancellation()
        var openStoreCount = 0
        /// Whether the operation has succeeded, or can no longer be cancelled.
        var isDone = false
        /// The time of the first signal that ends the command, or nil.
        var firstSignal: ContinuousClock.Instant?
        var wasInterrupted: Bool { firstSignal != nil }
        var isReadingCancelled = false
        /// The interactive shell, which Ctrl-C does not end, or nil in other commands.
        var session: Session?
    }

    private struct Session {
        var statement: Task<Void, Never>?
        var wasInterrupted = false
    }

    private enum Action {
        case nothing, leave, cancel(ConversionCancellation), cancelStatement(Task<Void, Never>)
        case unwind(Task<Void, Never>?, ConversionCancellation)
    }

    private let state = Mutex(State())

    /// Installs the signal handling; call this before a second thread starts.
    ///
    /// SIGPIPE and SIGXFSZ are ignored, so that a failed write is an ordinary error. All threads
    /// inherit the mask that blocks SIGINT, SIGTERM and SIGHUP, and one thread waits for these
    /// signals. Dispatch's signal sources are not used: on Linux, they can lose a signal that a
    /// thread without the mask receives first.
    func install() {
        for ignored in [SIGPIPE, SIGXFSZ] { signal(ignored, SIG_IGN) }
        var awaited = sigset_t()
        sigemptyset(&awaited)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&awaited, number) }
        // If the signals cannot be blocked, they end the process, as by default.
        guard pthread_sigmask(SIG_BLOCK, &awaited, nil) == 0 else { return }
        // A shell can start a background command with SIGINT and SIGTERM ignored. The default actions
        // are restored, so that the thread below receives these signals.
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
        // An ignored SIGHUP stays ignored, as with nohup. SAFETY: the values are function pointers
        // or C's special numbers, and are only compared.
        if unsafeBitCast(signal(SIGHUP, SIG_DFL), to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
            signal(SIGHUP, SIG_IGN)
            sigdelset(&awaited, SIGHUP)
        }
        let signals = awaited
        do throws(SystemFailure) {
            try SystemThread.start("roost-signals", stackByteCount: Self.stackByteCount) { [self] in
                // Signals for a line editor must reach the editing thread.
                var edited = sigset_t()
                sigemptyset(&edited)
                for number in [SIGTSTP, SIGCONT, SIGWINCH] { sigaddset(&edited, number) }
                // If this call fails, a handler may run on this thread, which is harmless.
                _ = pthread_sigmask(SIG_BLOCK, &edited, nil)
                var signals = signals
                var number: Int32 = 0
                while sigwait(&signals, &number) == 0 { arrived(number) }
            }
        } catch {
            // No thread waits for the signals, so they are unblocked and end the process, as by
            // default.
            pthread_sigmask(SIG_UNBLOCK, &awaited, nil)
        }
    }

    /// Runs a command on this thread, as a task, so that a signal can cancel its fetches.
    func running(_ command: @escaping @Sendable () -> ExitCode) -> ExitCode {
        let thread = CallingThread()
        let code = Mutex(ExitCode.failure)
        let task = Task(executorPreference: thread) {
            let result = command()
            code.withLock { $0 = result }
        }
        state.withLock { $0.command = task }
        thread.run()
        return code.withLock { $0 }
    }

    /// Runs `body`, which a signal cancels through `cancellation` instead of ending the process.
    ///
    /// After `body` has succeeded, the first signal has no effect: the process prints its report and
    /// ends with its normal exit code. A later signal ends the process, because printing may block.
    func cancelling<Result>(_ cancellation: ConversionCancellation, _ body: () throws -> Result) rethrows -> Result {
        state.withLock { state in
            (state.cancellation, state.isDone) = (cancellation, false)
            if state.wasInterrupted { cancellation.cancel() }
        }
        do {
            let result = try body()
            state.withLock { $0.isDone = true }
            return result
        } catch {
            state.withLock { $0.cancellation = nil }
            throw error
        }
    }

    /// Runs `body`, which opens and closes a store.
    ///
    /// The first signal cancels reading from the store, so that `body` closes the store and removes
    /// its temporary files. The process ends at a later signal, or ``patienceSeconds`` after the
    /// first signal.
    func withOpenStore<Result>(_ body: () throws -> Result) rethrows -> Result {
        state.withLock { $0.openStoreCount += 1 }
        defer { state.withLock { $0.openStoreCount -= 1 } }
        return try body()
    }

    /// The cancellation of reads other than fetches, such as reads of standard input.
    var readingCancellation: ConversionCancellation { state.withLock { $0.readingCancellation } }

    /// Whether the reading of open stores was cancelled.
    var isReadingCancelled: Bool { state.withLock { $0.isReadingCancelled } }

    func check() throws(StoreError) {
        if isReadingCancelled { throw Self.error }
    }

    /// Marks the beginning of a commit, or throws `cancelled` after a signal.
    ///
    /// After this call, the first signal has no effect: the command ends with its normal exit code.
    func beginCommit() throws(StoreError) {
        let wasInterrupted = state.withLock { state in
            if !state.wasInterrupted { state.isDone = true }
            return state.wasInterrupted
        }
        if wasInterrupted { throw Self.error }
    }

    // MARK: Shells

    /// Runs a commit during which the first signal has no effect.
    func committing<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try beginCommit()
        defer { state.withLock { $0.isDone = false } }
        return try body()
    }

    /// Whether a signal that ends the command was received.
    var wasInterrupted: Bool { state.withLock { $0.wasInterrupted } }

    /// Runs `body`, during which Ctrl-C ends statements instead of the command.
    func withSession<Result>(_ body: () throws -> Result) rethrows -> Result {
        state.withLock { $0.session = Session() }
        defer { state.withLock { $0.session = nil } }
        return try body()
    }

    /// Whether Ctrl-C was pressed since the last call of ``takeInterrupt()``.
    var hasInterrupt: Bool { state.withLock { $0.session?.wasInterrupted ?? false } }

    /// Waits until the user types, and calls `onSignal` after this thread handled a signal.
    ///
    /// Throws `cancelled` after a signal that ends the command or discards the typed text.
    func waitForTyping(onSignal: () -> Void = {}) throws(StoreError) {
        try StandardInput.wait(onSignal: onSignal) { () throws(StoreError) in
            try check()
            if hasInterrupt { throw Self.error }
        }
    }

    /// Returns whether Ctrl-C was pressed since the last call.
    func takeInterrupt() -> Bool {
        state.withLock { state in
            defer { state.session?.wasInterrupted = false }
            return state.session?.wasInterrupted ?? false
        }
    }

    /// Runs one statement of a session on this thread, as a task that Ctrl-C can cancel.
    func runningStatement(_ body: () -> Void) {
        let thread = CallingThread()
        withoutActuallyEscaping(body) { body in
            // Proof: the task runs on this thread, which waits until the task ends.
            nonisolated(unsafe) let body = body
            let task = Task(executorPreference: thread) { body() }
            state.withLock { state in
                state.session?.statement = task
                if state.session?.wasInterrupted ?? false { task.cancel() }
            }
            thread.run()
        }
        state.withLock { state in
            state.session?.statement = nil
            // After a signal that ends the command, reading remains cancelled.
            if state.session != nil, !state.wasInterrupted { state.isReadingCancelled = false }
        }
    }

    private static var error: StoreError { StoreError(.cancelled, "Interrupted; nothing was changed.") }

    private func arrived(_ number: Int32) {
        let action = state.withLock { state -> Action in
            if number == SIGINT, state.session != nil {
                // A commit cannot be cancelled, and the session continues after it.
                guard !state.isDone else { return .nothing }
                state.session?.wasInterrupted = true
                guard let statement = state.session?.statement else { return .nothing }
                state.isReadingCancelled = true
                return .cancelStatement(statement)
            }
            let now = ContinuousClock.now
            // GNU's timeout sends its signal twice, and a terminal that is closed can send SIGHUP twice.
            if let first = state.firstSignal, now - first < Self.repetitionTime { return .nothing }
            defer { state.firstSignal = state.firstSignal ?? now }
            if state.isDone { return state.wasInterrupted ? .leave : .nothing }
            if let cancellation = state.cancellation { return state.wasInterrupted ? .leave : .cancel(cancellation) }
            guard state.openStoreCount > 0, !state.wasInterrupted else { return .leave }
            state.isReadingCancelled = true
            return .unwind(state.session?.statement ?? state.command, state.readingCancellation)
        }
        switch action {
        case .nothing: break
        case .leave: Console.leave(.interrupted)
        case .cancel(let cancellation): cancellation.cancel()
        case .cancelStatement(let statement): statement.cancel()
        case .unwind(let command, let reading):
            command?.cancel()
            reading.cancel()
            do throws(SystemFailure) {
                try SystemThread.start("roost-patience", stackByteCount: Self.stackByteCount) {
                    sleep(Self.patienceSeconds)
                    Console.leave(.interrupted)
                }
            } catch {
                // Without this timer, a reader that ignores the cancellation could run forever.
                Console.leave(.interrupted)
            }
        }
    }
}
