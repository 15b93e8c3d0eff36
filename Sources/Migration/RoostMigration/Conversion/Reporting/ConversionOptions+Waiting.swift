package import RoostCore
package import RoostFiles

/// Waiting for other users of a store, up to the timeout of the options.
extension ConversionOptions {
    var isCancelled: () -> Bool {
        let cancellation = cancellation
        return { cancellation?.isCancelled ?? false }
    }

    /// The timeout of the options, which ends early if the conversion is cancelled.
    package var timeout: Timeout { Timeout(seconds: timeoutSeconds, isCancelled: isCancelled) }

    /// Claims a destination, and waits first if another conversion holds the claim.
    package func claim(_ location: StoreLocation) throws(StoreError) -> DestinationClaim {
        try DestinationClaim.acquire(
            forStoreAt: location.path, timeoutSeconds: timeoutSeconds, isCancelled: isCancelled)
    }

    /// Publishes a finished store, after waiting until all users of an existing store have closed
    /// it.
    ///
    /// During this time, processes that open the existing store wait until it is replaced. See
    /// ``ExclusiveRequest``.
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
                    // If the request fails, processes that open the store now may delay the replacement.
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
