public import RoostCore
internal import RoostQuery
internal import RoostStores

/// The number of objects that match a request, and sums of their attributes, updated as a context
/// changes.
///
/// ```swift
/// let totals = try ResultsTotals(Fetch<Album>(where: "year > 1970"), sums: ["plays"], in: context)
/// totals.onChange = { print(totals.count, totals.sum("plays")) }
/// ```
///
/// At the end of each event, the totals are updated for the changed objects. The request is
/// executed again only if a ``FetchedResultsController`` without a window would fetch again.
///
/// Sums of whole numbers are exact if they fit in 64 bits. A sum of floating-point numbers is
/// computed exactly and rounded once, so it does not depend on the order of changes. Null values
/// are ignored.
///
/// - Complexity: Each matching object takes about 30 bytes of memory, and about 100 bytes more if
///   there are sums. An update takes time proportional to the number of changed objects, unless the
///   request is executed again.
public final class ResultsTotals {
    private let totals: FollowedTotals

    /// Counts the objects of a request, adds up their attributes, and follows changes.
    ///
    /// - Parameters:
    ///   - request: The request, without limit and offset. Its order does not matter.
    ///   - attributes: The names of numeric attributes.
    ///   - context: The context, which the totals keep alive.
    /// - Throws: The same errors as ``ManagedObjectContext/fetch(_:)-(FetchRequest)``;
    ///   `unknownProperty`; `invalidRequest` for a limit, an offset, or an attribute that is not
    ///   numeric.
    public init<Object: ManagedObjectClass>(
        _ request: Fetch<Object>, sums attributes: [String] = [], in context: ManagedObjectContext
    ) throws(StoreError) {
        totals = try FollowedTotals(
            request.request, includesPendingChanges: request.includesPendingChanges, attributes: attributes,
            context: context)
    }

    /// Counts the objects of an untyped request, adds up their attributes, and follows changes.
    ///
    /// - Throws: The same errors as ``init(_:sums:in:)-(Fetch<Object>,_,_)``.
    public init(
        _ request: FetchRequest, sums attributes: [String] = [], in context: ManagedObjectContext
    ) throws(StoreError) {
        totals = try FollowedTotals(request, includesPendingChanges: true, attributes: attributes, context: context)
    }

    /// The number of objects.
    public var count: Int { totals.count }

    /// Returns the sum of an attribute, or null for an attribute that was not given to the
    /// initializer.
    ///
    /// - Complexity: O(1).
    public func sum(_ attribute: String) -> Value { totals.sum(attribute) }

    /// A closure called in the context's isolation after each event that changed the count or a
    /// sum.
    ///
    /// The closure may also be called after other events.
    public var onChange: (() -> Void)? {
        get { totals.onChange }
        set { totals.onChange = newValue }
    }

    /// The error that prevented the last update of the totals, or nil.
    ///
    /// After an error, the totals keep their values from before the event. At the end of the next
    /// event with changes, they are computed again.
    public var error: StoreError? { totals.error }
}

final class FollowedTotals: ResultsFollower {
    private let context: ManagedObjectContext
    private let request: ResultsRequest
    private let attributes: [(name: String, fields: [RecordLayout.Field?])]
    /// The contributions of objects to the sums, by key.
    private var parts: [Int64: [Value]] = [:]
    private var sums: [ExactSum]
    private let emptySums: [ExactSum]
    private(set) var error: StoreError?
    var onChange: (() -> Void)?
    private var isChanged = false
    private var isBehind = false

    init(
        _ request: FetchRequest, includesPendingChanges: Bool, attributes: [String],
        context: ManagedObjectContext
    ) throws(StoreError) {
        guard request.fetchLimit == nil, request.fetchOffset == nil else {
            throw StoreError(
                .invalidRequest,
                "Totals of '\(request.entity)' cannot have a limit or an offset. Remove them."
            )
        }
        var request = request
        request.sortDescriptors = []
        let model = context.model
        self.context = context
        self.request = try ResultsRequest(
            request, includesPendingChanges: includesPendingChanges, sections: nil, named: nil, model: model)
        let entity = self.request.entity
        var known: [(name: String, fields: [RecordLayout.Field?])] = []
        var empty: [ExactSum] = []
        for name in attributes {
            let field = try entity.layout.requireField(name)
            guard ExactSum.supports(field.kind) else {
                throw StoreError(.invalidRequest, "'\(entity.name).\(name)' is not a numeric attribute.")
            }
            known.append((name, model.entities.map { entity.includes($0.number) ? $0.layout.field(name) : nil }))
            empty.append(ExactSum(field.kind))
        }
        (self.attributes, sums, emptySums) = (known, empty, empty)
        try context.prepareFetch()
        try fetch()
        // The first fetch does not count as a change.
        isChanged = false
        context.core.requireResults().add(self)
    }

    deinit { context.core.endResults(self) }

    var count: Int { parts.count }

    func sum(_ attribute: String) -> Value {
        attributes.firstIndex { $0.name == attribute }.map { sums[$0].value } ?? .null
    }

    private func values(of record: RecordReader) -> [Value] {
        attributes.map { $0.fields[record.entityNumber].map { record.value($0) } ?? .null }
    }

    private func fetch() throws(StoreError) {
        var (parts, sums) = ([Int64: [Value]](), emptySums)
        try request.fetch(context) { (record, _) in
            let values = values(of: record)
            parts[record.key] = values
            for (index, value) in values.enumerated() { sums[index].add(value) }
        }
        if parts.count != self.parts.count || zip(sums, self.sums).contains(where: { $0.value != $1.value }) {
            isChanged = true
        }
        (self.parts, self.sums) = (parts, sums)
    }

    private func replace(_ key: Int64, by values: [Value]?) {
        let old = parts[key]
        guard old != values else { return }
        isChanged = true
        parts[key] = values
        for (index, value) in (old ?? []).enumerated() { sums[index].add(value, isRemoved: true) }
        for (index, value) in (values ?? []).enumerated() { sums[index].add(value) }
    }

    func update(_ noted: [ObjectPlace: ResultsNote], needsFetch: Bool) {
        var own: [Int64: ResultsNote] = [:]
        var needsFetch = needsFetch || isBehind
        for (place, note) in noted {
            if place.root == request.entity.root { own[place.key] = note }
            if request.follows(place.root), !isPlanted(.overlooksRelatedTotals) { needsFetch = true }
        }
        guard needsFetch || !own.isEmpty else { return }
        do throws(StoreError) {
            if needsFetch || !request.includesPendingChanges {
                try fetch()
            } else {
                var present: [(Int64, [Value])] = []
                let missing = try request.examine(own, context: context) { (record, _) in
                    present.append((record.key, values(of: record)))
                }
                for (key, values) in present { replace(key, by: values) }
                if !isPlanted(.countsOnlyMore) { for key in missing { replace(key, by: nil) } }
            }
            (error, isBehind) = (nil, false)
        } catch {
            self.error = error
            isBehind = true
        }
    }

    func report() {
        guard isChanged || isPlanted(.callsForNothing) else { return }
        isChanged = false
        onChange?()
    }
}
