extension PersistentStore {
    /// Runs `body` and closes the store, also after an error.
    ///
    /// - Parameter body: A function that uses the store.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`, as ``closed(after:)`` returns it; errors of ``close()``.
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
    /// If closing fails with another code, its message is added to the message of the first error.
    package func closed(after first: StoreError) -> StoreError {
        do throws(StoreError) { try close() } catch {
            guard error.code != first.code else { return first }
            return first.adding("'\(location.path)' was not closed", of: error)
        }
        return first
    }
}

extension StoreError {
    /// Returns this error with a sentence about a failed cleanup added to its message.
    package func adding(_ what: String, of other: StoreError) -> StoreError {
        withMessage("\(message) Also, \(what): \(other.message)")
    }
}
