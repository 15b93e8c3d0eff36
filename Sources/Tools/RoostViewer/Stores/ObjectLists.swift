#if Interactive
    internal import Dispatch
    internal import RoostCore
    internal import RoostQuery
    internal import RoostSystem

    /// A cache of the results of requests, so that each later page of a table reads only its own
    /// rows.
    ///
    /// A result is a list of object IDs of 16 bytes. A list is valid for one generation of the
    /// store. Core Data's files have no generations, so a list of their objects is valid for a
    /// minute. The list of a request with `now()` or a registered function is not kept.
    final class ObjectLists: Sendable {
        private struct Entry {
            var request: FetchRequest
            var generation: Generation?
            let time = DispatchTime.now()
            var ids: [ObjectID]
        }

        /// The maximum number of objects in all lists together.
        private static let objectLimit = 8_000_000
        /// The extra cost of each list, in objects, so that at most 64 lists are kept.
        private static let requestCost = objectLimit / 64

        private static let unprovenNanoseconds: UInt64 = 60_000_000_000

        private let entries = Mutex<[Entry]>([])

        /// Returns the objects of a request, from the cache if possible.
        ///
        /// The request must have no limit and no offset.
        ///
        /// - Throws: Errors of the request; `cancelled`.
        func ids(_ request: FetchRequest, snapshot: any StoreSnapshot) throws(StoreError) -> [ObjectID] {
            let generation = try snapshot.recordedTally()?.generation
            if let known = known(request, generation: generation) { return known }
            let ids = try snapshot.objectIDs(request)
            guard !request.isVariable else { return ids }
            entries.withLock { entries in
                entries.removeAll { $0.request == request }
                entries.insert(Entry(request: request, generation: generation, ids: ids), at: 0)
                var total = 0
                entries = Array(
                    entries.prefix { entry in
                        total += entry.ids.count + Self.requestCost
                        return total <= Self.objectLimit && entry.generation == generation
                    })
            }
            return ids
        }

        /// Returns the cached objects of a request.
        func known(_ request: FetchRequest, generation: Generation?) -> [ObjectID]? {
            entries.withLock { entries in
                let oldest = DispatchTime.now().uptimeNanoseconds &- Self.unprovenNanoseconds
                guard let place = entries.firstIndex(where: { $0.request == request && $0.generation == generation }),
                    generation != nil || entries[place].time.uptimeNanoseconds > oldest
                else { return nil }
                // The list that was used last stays in the cache longest.
                entries.insert(entries.remove(at: place), at: 0)
                return entries[0].ids
            }
        }
    }
#endif
