package import RoostCore
internal import Testing

/// Returns the store error that `body` throws, or nil; records any other error as an issue.
package func storeError(_ body: () throws -> Void) -> StoreError? {
    do {
        try body()
        return nil
    } catch {
        if !(error is StoreError) { Issue.record(error) }
        return error as? StoreError
    }
}
