internal import RoostCore
internal import RoostFiles
internal import RoostMigration
internal import RoostSystem

/// Standard input as a source of bytes.
enum StandardInput {
    static let name = "standard input"
    /// The interval between checks for cancellation, in milliseconds.
    private static let cancellationInterval: Int32 = 100

    static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// Reads into the buffer, and returns the number of bytes, or 0 at the end of the input.
    ///
    /// Checks for a cancellation while it waits, since a signal does not end a blocking read.
    static func read(
        into buffer: UnsafeMutableRawBufferPointer, cancellation: ConversionCancellation
    ) throws(StoreError) -> Int {
        while true {
            try wait { () throws(StoreError) in
                guard cancellation.isCancelled else { return }
                throw StoreError(.cancelled, "The command was cancelled; the destination is as it was before.")
            }
            // SAFETY: the call writes at most `buffer.count` bytes into the buffer.
            let count = SystemCalls.read(STDIN_FILENO, into: buffer)
            if count >= 0 { return count }
            if errno != EINTR, errno != EAGAIN { throw failure(errno) }
        }
    }

    /// Waits for bytes or the end of the input, and regularly calls `checkCancellation`, whose error
    /// ends the wait.
    ///
    /// `onSignal` is called after this thread handled a signal, such as SIGWINCH.
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
