#if Interactive
    internal import Dispatch
    internal import RoostCore
    internal import RoostJSONText
    internal import RoostSystem

    /// The work that requests have started.
    final class JobList: Sendable {
        private struct State {
            var last = 0
            var jobs: [Int: Job] = [:]
            var order: [Int] = []
        }

        /// The time that an asynchronous request waits for its response.
        private static let patienceMilliseconds = 120
        /// The number of jobs above which the oldest finished jobs are removed.
        private static let keptCount = 32
        /// The maximum number of jobs that run at once.
        ///
        /// Other requests wait for up to ``waitingSeconds``.
        private static let runningCount = 8
        private static let waitingSeconds = 30

        private let state = Mutex(State())
        private let places = DispatchSemaphore(value: JobList.runningCount)

        /// Runs a potentially long operation for a request.
        ///
        /// A request with `Prefer: respond-async` gets the job's number if the response takes
        /// longer than ``patienceMilliseconds``. All other requests wait for the response.
        func answer(
            _ request: HTTPRequest, what: String, _ body: @escaping @Sendable (Job) throws -> HTTPResponse
        ) -> HTTPResponse {
            guard waitForPlace(request) else {
                return ViewerError(
                    .unavailable, code: "busy", message: "The server is busy. Cancel a running job, or try again later."
                ).response
            }
            let job = state.withLock { state in
                state.last += 1
                let job = Job(state.last, what: what)
                state.jobs[job.number] = job
                state.order.append(job.number)
                while state.order.count > Self.keptCount,
                    let place = state.order.firstIndex(where: { state.jobs[$0]?.isDone ?? true })
                {
                    state.jobs[state.order.remove(at: place)] = nil
                }
                return job
            }
            do throws(StoreError) {
                try job.start { [places] job in
                    defer { places.signal() }
                    return try body(job)
                }
            } catch {
                places.signal()
                remove(job.number)
                return ViewerError(error).response
            }
            guard let response = wait(for: job, request: request) else {
                return HTTPResponse(.accepted, json: JSONNode(["job": JSONNode(job.number)]))
            }
            remove(job.number)
            return response
        }

        /// Waits until a job can begin, and meanwhile cancels forgotten jobs.
        ///
        /// Returns false after a timeout, or if the client has disconnected.
        private func waitForPlace(_ request: HTTPRequest) -> Bool {
            for _ in 0..<Self.waitingSeconds {
                if places.wait(timeout: .now() + .seconds(1)) == .success { return true }
                if request.isAbandoned() { return false }
                for job in state.withLock({ Array($0.jobs.values) }) where job.isForgotten { job.cancel() }
            }
            return false
        }

        /// Waits for the response of a job.
        ///
        /// Returns nil for an asynchronous request after ``patienceMilliseconds``. For any other
        /// request, cancels the job if the client disconnects.
        private func wait(for job: Job, request: HTTPRequest) -> HTTPResponse? {
            if request.headers["prefer"]?.hasPrefix("respond-async") ?? false {
                job.asked()
                return job.wait(milliseconds: Self.patienceMilliseconds)
            }
            while true {
                if let response = job.wait(milliseconds: 500) { return response }
                if request.isAbandoned() { job.cancel() }
            }
        }

        /// Returns a job, and records that a client polled.
        func job(_ number: Int) throws(ViewerError) -> Job {
            guard let job = state.withLock({ $0.jobs[number] }) else {
                throw ViewerError(.notFound, message: "The job with the number \(number) is unknown or was removed.")
            }
            job.asked()
            return job
        }

        func cancelAll() {
            for job in state.withLock({ Array($0.jobs.values) }) { job.cancel() }
        }

        private func remove(_ number: Int) {
            state.withLock { state in
                state.jobs[number] = nil
                state.order.removeAll { $0 == number }
            }
        }
    }
#endif
