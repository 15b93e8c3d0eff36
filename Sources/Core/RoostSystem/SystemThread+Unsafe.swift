/// Threads whose start can fail with an error.
///
/// Foundation's `Thread` does not report failures, so a caller could wait forever for a thread that
/// never started.
package enum SystemThread {
    private final class Work {
        let name: String
        let body: @Sendable () -> Void

        init(_ name: String, _ body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }

        func run() {
            croost_name_thread(name)
            body()
        }
    }

    /// Starts a thread that runs `body` and then ends.
    ///
    /// Debuggers show the name. `stackByteCount` is a multiple of the page size; unused stack costs
    /// only address space.
    ///
    /// - Throws: `outOfResources` if the system cannot start a thread; `body` then does not run.
    package static func start(
        _ name: String, stackByteCount: Int, _ body: @escaping @Sendable () -> Void
    ) throws(SystemFailure) {
        let work = Unmanaged.passRetained(Work(name, body))
        let code = croost_start_thread(stackByteCount, { SystemThread.run($0) }, work.toOpaque())
        guard code == 0 else {
            work.release()
            throw SystemFailure(
                .outOfResources,
                "A thread could not be started (\(String(cString: strerror(code)))): this user or this container has reached a limit of processes or of memory. Raise it, or end other programs, and try again."
            )
        }
    }

    /// Makes all threads share one heap if the address space of the process is limited (`ulimit
    /// -v`).
    ///
    /// Has an effect only with glibc. Call this before the program starts a second thread.
    package static func spareAddressSpace() { croost_spare_address_space() }

    private static func run(_ work: UnsafeMutableRawPointer?) {
        guard let work else { return }
        // SAFETY: `start` retained the object for exactly this call.
        Unmanaged<Work>.fromOpaque(work).takeRetainedValue().run()
    }
}
