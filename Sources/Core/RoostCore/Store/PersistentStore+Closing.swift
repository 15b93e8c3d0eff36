extension PersistentStore {
    /// Runs `body` and closes the store, also after an error.
    ///
    /// - Parameter body: Uses the store.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, see ``closed(after:)``; what ``close()`` throws.
    package func closing<Result>(
        after body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let result: Result
        do throws(StoreError) { result = try body() } catch { throw closed(after: error) }
        try close()
        return result
    }

    /// Closes the store after an error, and returns that error.
    ///
    /// Its message also says why the store was not closed, unless both errors have the same code.
    package func closed(after first: StoreError) -> StoreError {
        do throws(StoreError) { try close() } catch {
            guard error.code != first.code else { return first }
            return first.adding("'\(location.path)' was not closed", of: error)
        }
        return first
    }
}

extension StoreError {
    /// Returns the same error, saying also what went wrong while cleaning up.
    package func adding(_ what: String, of other: StoreError) -> StoreError {
        withMessage("\(message) Also, \(what): \(other.message)")
    }
}
