internal import Dispatch
package import RoostCore
package import RoostGraph

extension StoreMeter {
    /// Saves a context in the background, and calls `body` while the commit waits.
    ///
    /// - Parameters:
    ///   - context: The context, which must belong to the main actor.
    ///   - commitError: An error with which the commit fails; nil for a commit that succeeds.
    ///   - body: Changes the context.
    /// - Returns: The error of the save, or nil.
    /// - Throws: The error of `body`, after the save has ended.
    @MainActor
    package func save(
        _ context: ManagedObjectContext, commitError: StoreError? = nil, during body: () throws -> Void
    ) async throws -> StoreError? {
        let (starts, started) = AsyncStream.makeStream(of: Void.self)
        let gate = DispatchSemaphore(value: 0)
        beforeNextCommit { () throws(StoreError) in
            started.yield()
            gate.wait()
            if let commitError { throw commitError }
        }
        let save = Task { @MainActor () -> StoreError? in
            do throws(StoreError) { try await context.saveInBackground() } catch { return error }
            return nil
        }
        for await _ in starts { break }
        let result = Result { try body() }
        gate.signal()
        let error = await save.value
        try result.get()
        return error
    }
}
