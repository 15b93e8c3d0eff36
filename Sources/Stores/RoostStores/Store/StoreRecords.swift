public import RoostCore

/// An asynchronous sequence of the results of a request.
///
/// All results come from one view of the store. The view ends with the iteration, or when the
/// iterator is deallocated. A thread of Roost reads one batch at a time, so memory is bounded.
///
/// ```swift
/// for try await record in store.records(FetchRequest("Track", where: "plays > 3")) {
///     print(record["title"])
/// }
/// ```
public struct StoreRecords<Element: Sendable>: AsyncSequence, Sendable {
    /// The errors of the iteration.
    public typealias Failure = StoreError

    let store: Store
    let request: FetchRequest
    let transform: @Sendable (RecordBatch, StoreView) throws(StoreError) -> [Element]

    /// Returns an iterator, whose first call of `next()` begins the view.
    public func makeAsyncIterator() -> Iterator { Iterator(reading: self) }

    /// An iterator over the results.
    ///
    /// In a cancelled task, the iterator throws `cancelled` at the next batch.
    public struct Iterator: AsyncIteratorProtocol {
        private let pass: Pass
        private var elements: [Element] = []
        private var position = 0

        fileprivate init(reading records: StoreRecords) { pass = Pass(records) }

        /// Returns the next result, or nil at the end and in all later calls.
        ///
        /// - Throws: `closed` for a closed store; `cancelled`; errors of the request and of
        ///   reading.
        public mutating func next() async throws(StoreError) -> Element? {
            if position == elements.count {
                let pass = pass
                elements = try await StoreThreads.run { () throws(StoreError) in try pass.next() }
                position = 0
                if elements.isEmpty { return nil }
            }
            defer { position += 1 }
            return elements[position]
        }

        /// Returns the next result, as ``next()`` does.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(StoreError) -> Element? {
            try await next()
        }
    }

    // Proof of Sendable: a lock guards all state, so only one call at a time uses the view.
    fileprivate final class Pass: @unchecked Sendable {
        private struct State {
            var view: StoreView?
            var cursor: (any RecordCursor)?
            var batch: RecordBatch
            var isAtEnd = false
        }

        private let records: StoreRecords
        private let state: Mutex<State>

        init(_ records: StoreRecords) {
            self.records = records
            state = Mutex(State(batch: RecordBatch(model: records.store.model)))
        }

        deinit { state.withLock { $0.view?.end() } }

        /// Returns the results of the next batch, or an empty array at the end.
        func next() throws(StoreError) -> [Element] {
            try state.withLock { (state) throws(StoreError) in
                guard !state.isAtEnd else { return [] }
                do throws(StoreError) {
                    if Task.isCancelled { throw StoreError(.cancelled, "The task was cancelled during a fetch.") }
                    let view: StoreView
                    if let open = state.view {
                        view = open
                    } else {
                        view = StoreView(try records.store.persistentStore.snapshot(), model: records.store.model)
                        state.view = view
                        state.cursor = try view.snapshot.fetch(records.request)
                    }
                    var elements: [Element] = []
                    if let cursor = state.cursor, try cursor.next(into: &state.batch) {
                        elements = try records.transform(state.batch, view)
                    } else {
                        end(&state)
                    }
                    return elements
                } catch {
                    end(&state)
                    throw error
                }
            }
        }

        private func end(_ state: inout State) {
            state.isAtEnd = true
            state.cursor = nil
            state.view?.end()
            state.view = nil
        }
    }
}

extension Store {
    /// Returns the objects of a request, as an asynchronous sequence.
    public func records(_ request: FetchRequest) -> StoreRecords<Record> {
        StoreRecords(store: self, request: request) { (records, _) throws(StoreError) in
            (0..<records.count).map { records.record(at: $0) }
        }
    }
}
