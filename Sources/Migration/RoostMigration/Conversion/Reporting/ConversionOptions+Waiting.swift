package import RoostCore
package import RoostFiles

/// Waiting for others who use a store, as long as the options say.
extension ConversionOptions {
    /// Whether the conversion was asked to stop.
    var isCancelled: () -> Bool {
        let cancellation = cancellation
        return { cancellation?.isCancelled ?? false }
    }

    /// A wait of as long as the options say, which ends when the conversion is asked to stop.
    package var timeout: Timeout { Timeout(seconds: timeoutSeconds, isCancelled: isCancelled) }

    /// Claims the name of a destination, after waiting for another conversion into it.
    ///
    /// - Throws: What ``DestinationClaim/acquire(forStoreAt:timeoutSeconds:isCancelled:)`` throws.
    package func claim(_ location: StoreLocation) throws(StoreError) -> DestinationClaim {
        try DestinationClaim.acquire(
            forStoreAt: location.path, timeoutSeconds: timeoutSeconds, isCancelled: isCancelled)
    }

    /// Replaces a store by a finished one, after waiting until all others have closed it.
    ///
    /// Later openers of the store yield to the replacement; see ``ExclusiveRequest``.
    ///
    /// - Throws: What ``PersistentStoreType/replace(_:with:overwriting:)`` throws; `cancelled`.
    func replace(
        _ location: StoreLocation, type: any PersistentStoreType, with new: StoreLocation
    ) throws(StoreError) {
        var timeout = timeout
        var request: ExclusiveRequest?
        defer { request?.withdraw() }
        while true {
            do throws(StoreError) {
                return try type.replace(location, with: new, overwriting: overwrites)
            } catch {
                guard error.code == .busy else { throw error }
                if type.capabilities.contains(.file), timeout.secondsLeft > 0 {
                    // A store that others have open already has a lock file; without one, no other process can be asked.
                    if let request {
                        request.renew()
                    } else {
                        request = try? ExclusiveRequest(forStoreAt: location.path)
                    }
                }
                guard timeout.wait() else { throw timeout.failure(error) }
            }
        }
    }
}
