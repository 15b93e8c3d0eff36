internal import Foundation
internal import RoostCore
internal import RoostMigration
internal import RoostSystem

/// Ctrl-C, SIGTERM and a terminal that goes away: they cancel what can be cancelled, and end
/// everything else at once.
final class Interruption: Sendable {
    /// The one of the process, since signals are the process's.
    static let shared = Interruption()

    /// How long the reading of open stores may take to notice that it was cancelled.
    private static let patienceSeconds: UInt32 = 3
    /// The stacks of threads that only wait.
    private static let stackByteCount = 1 << 20

    private struct State {
        /// What runs the command, so that its fetches can be cancelled, and its comparisons.
        var command: Task<Void, Never>?
        var cancellation: ConversionCancellation?
        let readingCancellation = ConversionCancellation()
        var openStoreCount = 0
        /// Whether what could be cancelled has succeeded, or is at the point from which on it
        /// cannot be.
        var isDone = false
        var wasInterrupted = false
        /// Whether a signal has cancelled the reading of open stores.
        var isReadingCancelled = false
        /// The shell that Ctrl-C does not end; nil in other commands.
        var session: Session?
    }

    /// A shell in which a user types.
    private struct Session {
        /// Runs the present statement.
        var statement: Task<Void, Never>?
        /// Whether Ctrl-C came since the last look.
        var wasInterrupted = false
    }

    /// What a signal does.
    private enum Action {
        case nothing, leave, cancel(ConversionCancellation), cancelStatement(Task<Void, Never>)
        case unwind(Task<Void, Never>?, ConversionCancellation)
    }

    private let state = Mutex(State())

    /// Takes over the signals of the process; called once, before there is a second thread.
    ///
    /// Writing to a closed pipe and beyond a size limit become ordinary errors. The others are
    /// blocked in every thread, since threads inherit that, and one waits for them: signal sources
    /// of Dispatch lose a signal now and then on Linux, when a thread that does not block it gets
    /// it first.
    func install() {
        for ignored in [SIGPIPE, SIGXFSZ] { signal(ignored, SIG_IGN) }
        var awaited = sigset_t()
        sigemptyset(&awaited)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&awaited, number) }
        // Where they cannot be blocked they end the process, as they do by themselves.
        guard pthread_sigmask(SIG_BLOCK, &awaited, nil) == 0 else { return }
        // Whoever started the process may have it ignore these two, as shells do for what runs in the background.
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
        // With this one that is what somebody asked for: nohup.
        // SAFETY: both are function pointers or the numbers in their place that C defines, and are only compared.
        if unsafeBitCast(signal(SIGHUP, SIG_DFL), to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
            signal(SIGHUP, SIG_IGN)
            sigdelset(&awaited, SIGHUP)
        }
        let signals = awaited
        do throws(SystemFailure) {
            try SystemThread.start("roost-signals", stackByteCount: Self.stackByteCount) { [self] in
                // What a line editor handles reaches the thread that edits.
                var edited = sigset_t()
                sigemptyset(&edited)
                for number in [SIGTSTP, SIGCONT, SIGWINCH] { sigaddset(&edited, number) }
                // If they cannot be blocked, a handler runs here, which is rare and harmless.
                _ = pthread_sigmask(SIG_BLOCK, &edited, nil)
                var signals = signals
                var number: Int32 = 0
                while sigwait(&signals, &number) == 0 { arrived(number) }
            }
        } catch {
            // No code would wait for them. They end the process, as they do by default.
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

    /// Runs `body` so that a signal cancels it by `cancellation` instead of ending the process.
    ///
    /// The first signal after `body` has succeeded changes nothing: the process reports what was
    /// done and ends with its code. The second signal ends it, in case its output blocks.
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

    /// Runs `body`, which opens a store and closes it, so that the first signal cancels what it
    /// reads instead of ending the process.
    ///
    /// The files that a store has only while it is open go when it is closed. What does not notice
    /// for some seconds that it was cancelled, and what gets a second signal, ends at once.
    func withOpenStore<Result>(_ body: () throws -> Result) rethrows -> Result {
        state.withLock { $0.openStoreCount += 1 }
        defer { state.withLock { $0.openStoreCount -= 1 } }
        return try body()
    }

    /// What is asked to stop with the reading of open stores, for what is no fetch.
    var readingCancellation: ConversionCancellation { state.withLock { $0.readingCancellation } }

    /// Whether the reading of open stores was cancelled.
    var isReadingCancelled: Bool { state.withLock { $0.isReadingCancelled } }

    /// Throws code `cancelled` when the reading of open stores was cancelled.
    func check() throws(StoreError) {
        if isReadingCancelled { throw Self.error }
    }

    /// Decides between a signal and a commit: the one that comes first.
    ///
    /// From here on the first signal changes nothing: the command says what it did, closes the
    /// store and ends with its code.
    ///
    /// - Throws: `cancelled` after a signal.
    func beginCommit() throws(StoreError) {
        let wasInterrupted = state.withLock { state in
            if !state.wasInterrupted { state.isDone = true }
            return state.wasInterrupted
        }
        if wasInterrupted { throw Self.error }
    }

    // MARK: Shells

    /// Makes a commit that a signal does not interrupt, and after which the command continues.
    ///
    /// - Throws: `cancelled` if a signal came before; what `body` throws.
    func committing<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try beginCommit()
        defer { state.withLock { $0.isDone = false } }
        return try body()
    }

    /// Whether a signal came that ends the command.
    var wasInterrupted: Bool { state.withLock { $0.wasInterrupted } }

    /// Lets Ctrl-C end statements instead of the command while `body` runs.
    func withSession<Result>(_ body: () throws -> Result) rethrows -> Result {
        state.withLock { $0.session = Session() }
        defer { state.withLock { $0.session = nil } }
        return try body()
    }

    /// Whether Ctrl-C came since ``takeInterrupt()``.
    var hasInterrupt: Bool { state.withLock { $0.session?.wasInterrupted ?? false } }

    /// Waits until the user types.
    ///
    /// - Parameter onSignal: Called after this thread handled a signal.
    /// - Throws: `cancelled` after a signal that ends the command or what is typed.
    func waitForTyping(onSignal: () -> Void = {}) throws(StoreError) {
        try StandardInput.wait(onSignal: onSignal) { () throws(StoreError) in
            try check()
            if hasInterrupt { throw Self.error }
        }
    }

    /// Returns whether Ctrl-C came since the last call.
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
            // Proof: the task runs on this thread, which waits for its end.
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
            // What ends the command stays.
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
            defer { state.wasInterrupted = true }
            if state.isDone { return state.wasInterrupted ? .leave : .nothing }
            if let cancellation = state.cancellation { return .cancel(cancellation) }
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
                // What does not notice that it was cancelled would run on.
                Console.leave(.interrupted)
            }
        }
    }
}
