internal import Foundation
internal import RoostCore
internal import RoostMigration

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Ctrl-C and SIGTERM: they cancel what can be cancelled, and end everything else at once.
final class Interruption: Sendable {
    /// The one of the process, since signals are the process's.
    static let shared = Interruption()

    private struct State {
        var cancellation: ConversionCancellation?
        /// Whether what could be cancelled has succeeded.
        var isDone = false
        var wasInterrupted = false
    }

    private let state = Mutex(State())

    /// Takes over the signals of the process; called once, before there is a second thread.
    ///
    /// Writing to a closed pipe and beyond a size limit become ordinary errors. SIGINT and SIGTERM are blocked in every thread, since threads
    /// inherit that, and one waits for them: signal sources of Dispatch lose a signal now and then on Linux, when a thread that does not
    /// block it gets it first.
    func install() {
        for ignored in [SIGPIPE, SIGXFSZ] { signal(ignored, SIG_IGN) }
        var awaited = sigset_t()
        sigemptyset(&awaited)
        for number in [SIGINT, SIGTERM] {
            // Whoever started the process may have it ignore them, as shells do for what runs in the background.
            signal(number, SIG_DFL)
            sigaddset(&awaited, number)
        }
        // Where they cannot be blocked they end the process, as they do by themselves.
        guard pthread_sigmask(SIG_BLOCK, &awaited, nil) == 0 else { return }
        let signals = awaited
        Thread.detachNewThread { [self] in
            var signals = signals
            var number: Int32 = 0
            while sigwait(&signals, &number) == 0 { arrived() }
        }
    }

    /// Runs `body` so that a signal cancels it by `cancellation` instead of ending the process.
    ///
    /// The first that comes when `body` has succeeded changes nothing: what it did stands, and the process says so and ends with its
    /// code. The second ends it, should nobody read what it says.
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

    private func arrived() {
        let cancellation = state.withLock { state in
            defer { state.wasInterrupted = true }
            return state.isDone && state.wasInterrupted ? nil : state.cancellation
        }
        guard let cancellation else { Console.leave(.interrupted) }
        cancellation.cancel()
    }
}
