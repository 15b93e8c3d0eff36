#if Interactive
    internal import Dispatch
    internal import RoostCore
    internal import RoostJSONText
    internal import RoostMigration
    internal import RoostQuery
    internal import RoostSystem

    /// A potentially long operation that clients can cancel, with its own thread and task.
    final class Job: Sendable {
        private struct State {
            var done = 0
            var total: Int?
            var response: HTTPResponse?
            var error: ViewerError?
            var task: Task<Void, Never>?
            var isCancelled = false
            var endTime: DispatchTime?
            /// The last time that the client polled, or nil if the request waits for the response.
            var askTime: DispatchTime?
        }

        private static let stackByteCount = 8 << 20
        private static let forgottenNanoseconds: UInt64 = 10_000_000_000

        let number: Int
        /// The name of the work, for people.
        let what: String
        /// The cancellation of a comparison, which does not check whether its task is cancelled.
        let cancellation = ConversionCancellation()
        private let state = Mutex(State())
        private let end = DispatchSemaphore(value: 0)
        private let startTime = DispatchTime.now()

        init(_ number: Int, what: String) { (self.number, self.what) = (number, what) }

        /// Starts the work, or throws `outOfResources` if the system cannot start another thread.
        func start(_ body: @escaping @Sendable (Job) throws -> HTTPResponse) throws(StoreError) {
            do throws(SystemFailure) {
                try SystemThread.start("roost-\(number)", stackByteCount: Self.stackByteCount) { [self] in
                    let thread = CallingThread()
                    let task = Task(executorPreference: thread) {
                        FetchCancellation.$progress.withValue(FetchProgress { self.add($0) }) {
                            self.finish { try body(self) }
                        }
                    }
                    let isCancelled = state.withLock { state in
                        state.task = task
                        return state.isCancelled
                    }
                    if isCancelled { task.cancel() }
                    thread.run()
                }
            } catch {
                throw StoreError(error)
            }
        }

        private func finish(_ body: () throws -> HTTPResponse) {
            let result = Result(catching: body)
            state.withLock { state in
                switch result {
                case .success(let response): state.response = response
                case .failure(let error): state.error = ViewerError(any: error)
                }
                state.endTime = .now()
                state.task = nil
            }
            end.signal()
        }

        /// Returns the response, or nil if the work is not done in time.
        ///
        /// Waits without limit if `milliseconds` is nil.
        func wait(milliseconds: Int?) -> HTTPResponse? {
            if let milliseconds {
                guard end.wait(timeout: .now() + .milliseconds(milliseconds)) == .success else { return nil }
            } else {
                end.wait()
            }
            end.signal()
            return result
        }

        /// The response, which may describe an error, or nil while the work is in progress.
        var result: HTTPResponse? { state.withLock { $0.response ?? $0.error?.response } }

        func add(_ count: Int) { state.withLock { $0.done += count } }

        func setTotal(_ total: Int) { state.withLock { $0.total = total } }

        func cancel() {
            cancellation.cancel()
            let task = state.withLock { state in
                state.isCancelled = true
                return state.task
            }
            task?.cancel()
        }

        /// Records that a client has polled for the response.
        func asked() { state.withLock { $0.askTime = .now() } }

        /// Whether the work is in progress, but the client has stopped polling for the response.
        var isForgotten: Bool {
            state.withLock { state in
                guard state.endTime == nil, let last = state.askTime else { return false }
                return DispatchTime.now().uptimeNanoseconds - last.uptimeNanoseconds > Self.forgottenNanoseconds
            }
        }

        var isDone: Bool { state.withLock { $0.endTime != nil } }

        var json: JSONNode {
            state.withLock { state in
                let name =
                    if state.response != nil { "done" } else if state.isCancelled {
                        "cancelled"
                    } else if state.error != nil { "failed" } else { "running" }
                let milliseconds =
                    ((state.endTime ?? .now()).uptimeNanoseconds - startTime.uptimeNanoseconds) / 1_000_000
                return JSONNode([
                    "id": JSONNode(number), "state": JSONNode(name), "what": JSONNode(what),
                    "done": JSONNode(state.done),
                    "total": state.total.map { JSONNode($0) } ?? .null, "milliseconds": JSONNode(Int(milliseconds)),
                    "error": state.error?.json ?? .null,
                ])
            }
        }
    }
#endif
