internal import RoostCore
internal import RoostFiles
internal import RoostMigration
internal import RoostSystem

/// Standard input as a source of bytes.
enum StandardInput {
    /// What it is called in messages.
    static let name = "standard input"
    /// How often a wait for bytes looks whether it was cancelled, in milliseconds.
    private static let cancellationInterval: Int32 = 100

    /// Whether it is a terminal, from which no dump can be expected.
    static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// Reads up to as many bytes as the buffer holds; 0 at the end.
    ///
    /// Waits for bytes until somebody cancels: a signal does not end the system call.
    static func read(
        into buffer: UnsafeMutableRawBufferPointer, cancellation: ConversionCancellation
    ) throws(StoreError) -> Int {
        while true {
            try wait { () throws(StoreError) in
                guard cancellation.isCancelled else { return }
                throw StoreError(.cancelled, "The load was cancelled; the destination is as it was before.")
            }
            // SAFETY: the buffer has room for `count` bytes.
            let count = SystemCalls.read(STDIN_FILENO, into: buffer)
            if count >= 0 { return count }
            if errno != EINTR, errno != EAGAIN { throw failure(errno) }
        }
    }

    /// Waits until there are bytes, or no more will come, and asks `checkCancellation` again and
    /// again meanwhile.
    ///
    /// - Parameters:
    ///   - onSignal: Called after this thread handled a signal, as when the terminal changed its
    ///     size.
    ///   - checkCancellation: Throws to end the wait.
    /// - Throws: What `checkCancellation` throws; `ioFailure`.
    static func wait(
        onSignal: () -> Void = {}, _ checkCancellation: () throws(StoreError) -> Void
    ) throws(StoreError) {
        while true {
            try checkCancellation()
            var descriptor = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            let ready = poll(&descriptor, 1, cancellationInterval)
            if ready > 0 { return }
            guard ready < 0 else { continue }
            let code = errno
            if code == EINTR { onSignal() } else if code != EAGAIN { throw failure(code) }
        }
    }

    private static func failure(_ code: Int32) -> StoreError {
        StoreError(
            .ioFailure, "Standard input cannot be read: \(SystemError(code: code)).",
            underlying: SystemError(code: code))
    }
}
