internal import RoostCore
internal import RoostQuery
internal import RoostStores
internal import RoostSystem

/// The implementation of ``FetchedResultsController``.
final class FollowedResult: ResultsFollower {
    let context: ManagedObjectContext
    private(set) var request: ResultsRequest
    private(set) var list: ResultsList
    private(set) var error: StoreError?
    var onChange: ((ResultsChange) -> Void)?
    private var channels: [WeakChannel] = []
    /// The unreported difference.
    private var change: ResultsChange?
    /// The keys of the objects that changed since the list was last up to date.
    private var touched: Set<Int64> = []
    /// Whether the last update failed.
    private var isBehind = false

    private struct WeakChannel {
        weak var channel: ResultsChannel?
    }

    init(_ context: ManagedObjectContext, request: ResultsRequest) throws(StoreError) {
        (self.context, self.request) = (context, request)
        try context.prepareFetch()
        list = try request.fetchList(context)
        context.core.requireResults().add(self)
    }

    deinit {
        context.core.endResults(self)
        for channel in channels { channel.channel?.finish() }
    }

    var model: ManagedObjectModel { context.core.model }

    var sections: [ResultsSection] { list.publicSections(model) }

    func makeChannel() -> ResultsChannel {
        channels.removeAll { $0.channel == nil }
        let channel = ResultsChannel()
        channels.append(WeakChannel(channel: channel))
        return channel
    }

    // MARK: Fetching

    /// Fetches the list for `other` or the present request, and reports the difference.
    func fetch(_ other: ResultsRequest?) throws(StoreError) {
        // `prepareFetch` ends the event, updates `list`, and calls the program, which can set another window. So
        // `request` is read only afterwards.
        try context.prepareFetch()
        let next = other ?? request
        let new = try next.fetchList(context)
        request = next
        take(new, from: list)
        report()
    }

    private func take(_ fetched: ResultsList, from old: ResultsList) {
        var new = fetched
        var difference = new.difference(from: old, touched: touched, model: model)
        if let change { difference = Self.joining(change, second: difference, list: new, owner: self) }
        list = new
        (touched, isBehind, error) = ([], false, nil)
        change = difference.isEmpty ? nil : difference
    }

    /// Returns the first difference, or the whole result if the second difference is not empty.
    ///
    /// Two nonempty differences occur only if the program fetches during a callback.
    private static func joining(
        _ first: ResultsChange, second: ResultsChange, list: ResultsList, owner: FollowedResult
    ) -> ResultsChange {
        if second.isEmpty { return first }
        var whole = ResultsChange()
        whole.reload = list.publicSections(owner.model)
        return whole
    }

    // MARK: Following

    func update(_ noted: [ObjectPlace: ResultsNote], needsFetch: Bool) {
        var own: [Int64: ResultsNote] = [:]
        var isRelated = false
        for (place, note) in noted {
            if place.root == request.entity.root {
                own[place.key] = note
                if note.contains(.touched) { touched.insert(place.key) }
            }
            if request.follows(place.root), !isPlanted(.overlooksRelatedResults) { isRelated = true }
        }
        guard needsFetch || isRelated || isBehind || !own.isEmpty else { return }
        do throws(StoreError) {
            let isSavedOnly = !request.includesPendingChanges && !isPlanted(.overlooksOwnSaves)
            let needsFetch = needsFetch || isRelated || isBehind || isSavedOnly
            if !needsFetch, let difference = try follow(own) {
                (touched, error) = ([], nil)
                change = difference.isEmpty ? nil : difference
            } else {
                take(try request.fetchList(context), from: list)
            }
        } catch {
            self.error = error
            isBehind = true
        }
    }

    /// Computes the difference from the changed objects, or returns nil if a fetch is necessary.
    private func follow(_ noted: [Int64: ResultsNote]) throws(StoreError) -> ResultsChange? {
        var changes: [ResultsRowChange] = []
        changes.reserveCapacity(noted.count)
        let missing = try request.examine(noted, context: context) { (record, examiner) throws(StoreError) in
            changes.append(
                ResultsRowChange(
                    key: record.key, row: try request.row(record, examiner: examiner),
                    isTouched: noted[record.key]?.contains(.touched) ?? false || isPlanted(.reportsUntouched)))
        }
        for key in missing where list.contains(key) {
            changes.append(ResultsRowChange(key: key, row: nil, isTouched: true))
        }
        guard let limit = followedLimit(&changes, missing: missing) else { return nil }
        return list.apply(changes, limit: limit, model: model)
    }

    /// Returns the maximum number of rows to keep (`.some(nil)` for all), or nil if a fetch is
    /// necessary.
    ///
    /// If a changed row is now after the last row of a full window, it is set to nil, so that its
    /// object is not in the window. `missing` contains the keys of changed objects that no longer
    /// exist or match.
    private func followedLimit(_ changes: inout [ResultsRowChange], missing: [Int64]) -> Int?? {
        let (limit, offset) = (request.request.fetchLimit, request.request.fetchOffset ?? 0)
        guard limit != nil || offset > 0 else { return .some(nil) }
        if isPlanted(.keepsWindow) { return .some(limit) }
        if offset > 0 {
            if isPlanted(.trustsOffset) { return .some(nil) }
            // Rows before the window are unknown, so only moves within the window are certain.
            guard missing.isEmpty else { return nil }
            for change in changes {
                guard let row = change.row, let position = list.position(of: change.key) else { return nil }
                guard list.hasOrder(row, at: position) || !list.isBeforeFirst(row) && !list.isAfterLast(row) else {
                    return nil
                }
            }
            return .some(nil)
        }
        guard let limit, list.count >= limit else { return .some(limit) }
        // Rows after a full window are unknown, so rows that move past its last row leave the
        // window.
        var count = list.count
        for index in changes.indices {
            let position = list.position(of: changes[index].key)
            guard let row = changes[index].row else {
                if position != nil { count -= 1 }
                continue
            }
            if let position {
                guard !list.hasOrder(row, at: position), list.isAfterLast(row) else { continue }
                changes[index].row = nil
                count -= 1
            } else if list.isAfterLast(row) {
                changes[index].row = nil
            } else {
                count += 1
            }
        }
        return count >= limit ? .some(limit) : nil
    }

    // MARK: Reporting

    func report() {
        guard let change else { return }
        self.change = nil
        for channel in channels { channel.channel?.put(change) { self.sections } }
        onChange?(change)
    }

    // MARK: Objects

    /// The maximum number of objects to read together.
    private static let pageCount = 64

    /// Returns the object at a place; if it is a fault, reads it together with its neighbors.
    func object(at place: ResultsPlace) -> ManagedObject {
        let section = list.sections[place.section]
        let (chunk, index) = section.position(ofItem: place.item)
        let entries = section.chunks[chunk].entries
        let core = context.core
        let object = core.object(Int(entries[index].entity), key: entries[index].key)
        guard object.isFault, !core.isReadAhead(object) else { return object }
        let start = index / Self.pageCount * Self.pageCount
        let root = request.entity.root
        let page = entries[start..<min(entries.count, start + Self.pageCount)]
        _ = core.latching { () throws(StoreError) in
            try core.read(
                page.map(\.key).filter {
                    core.registered(root, key: $0)?.row == nil
                        && core.readAhead[ObjectPlace(root: root, key: $0)] == nil
                }, root: root)
        }
        return object
    }

    func place(of object: ManagedObject) -> ResultsPlace? {
        guard object.core === context.core, object.root == request.entity.root else { return nil }
        return list.place(of: object.key)
    }
}
