extension PersistentStore {
    /// Runs `body`, then closes the store, also after an error.
    package func closing<Result>(
        after body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let result: Result
        do throws(StoreError) { result = try body() } catch { throw closed(after: error) }
        try close()
        return result
    }

    /// Closes the store and returns `first`.
    ///
    /// If closing fails with another code, the message of that error is added to `first`.
    package func closed(after first: StoreError) -> StoreError {
        do throws(StoreError) { try close() } catch {
            guard error.code != first.code else { return first }
            return first.adding("'\(location.path)' was not closed", of: error)
        }
        return first
    }
}

extension StoreError {
    /// Returns this error with an added sentence about a failed cleanup.
    package func adding(_ what: String, of other: StoreError) -> StoreError {
        withMessage("\(message) Also, \(what): \(other.message)")
    }
}
