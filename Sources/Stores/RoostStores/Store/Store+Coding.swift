public import RoostCore
internal import RoostPredicates
internal import RoostQuery

extension StoreView {
    /// Returns the objects that meet a condition, as values of a type.
    ///
    /// Objects with equal sort keys are in ascending order of their IDs.
    ///
    /// ```swift
    /// struct Track: Codable {
    ///     let objectID: ObjectID
    ///     var title: String
    ///     var plays: Int?
    /// }
    /// let tracks = try store.read { view in try view.fetch(Track.self, where: "plays > 3") }
    /// ```
    ///
    /// Coding keys are the names of properties, and `objectID` is the ID of the object. To-one
    /// relationships are `ObjectID?`, to-many relationships are `[ObjectID]`, and composite
    /// attributes are nested structs.
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - entity: The entity, or nil for the entity with the name of the type.
    ///   - predicate: The condition, or nil for all objects.
    ///   - sortDescriptors: The order.
    ///   - limit: The maximum number of objects, or nil for all.
    /// - Returns: The values, all in memory at once. ``forEach(_:of:where:_:)`` uses bounded memory.
    /// - Throws: `unknownEntity`; `unknownProperty` for a key that is not a stored property;
    ///   `invalidValue` for a property that does not fit its Swift type.
    public func fetch<Element: Decodable>(
        _ type: Element.Type, of entity: EntityName? = nil, where predicate: FetchRequest.Predicate? = nil,
        sortedBy sortDescriptors: [FetchRequest.SortDescriptor] = [], limit: Int? = nil
    ) throws(StoreError) -> [Element] {
        let request = FetchRequest(
            entity ?? EntityName(of: type), where: predicate, sortedBy: sortDescriptors, limit: limit)
        var elements: [Element] = []
        try forEachDecoded(type, request: request) { (element) throws(StoreError) in elements.append(element) }
        return elements
    }

    /// Calls `body` for each object that meets a condition, as a value of a type, in bounded
    /// memory.
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - entity: The entity, or nil for the entity with the name of the type.
    ///   - predicate: The condition, or nil for all objects.
    ///   - body: A closure that receives each value. Its first error ends the pass.
    /// - Throws: The errors of ``fetch(_:of:where:sortedBy:limit:)``, and the errors of `body`.
    public func forEach<Element: Decodable>(
        _ type: Element.Type, of entity: EntityName? = nil, where predicate: FetchRequest.Predicate? = nil,
        _ body: (Element) throws -> Void
    ) throws {
        try forEachDecoded(type, request: FetchRequest(entity ?? EntityName(of: type), where: predicate), body)
    }

    /// Returns the object with an ID as a value of a type, or nil if it does not exist.
    ///
    /// - Throws: The errors of ``fetch(_:of:where:sortedBy:limit:)``.
    public func value<Element: Decodable>(_ type: Element.Type, id: ObjectID) throws(StoreError) -> Element? {
        var batch = RecordBatch(model: model)
        guard try snapshot.record(with: id, into: &batch) else { return nil }
        let decoder = RecordDecoder(model: model)
        return try batch.withRecord(at: 0) { (record) throws(StoreError) in
            try decoder.decode(type, from: record, members: members)
        }
    }

    private func forEachDecoded<Element: Decodable, Failure: Error>(
        _ type: Element.Type, request: FetchRequest, _ body: (Element) throws(Failure) -> Void
    ) throws {
        let cursor = try snapshot.fetch(request)
        let decoder = RecordDecoder(model: model)
        var batch = RecordBatch(model: model)
        while try cursor.next(into: &batch) {
            try batch.forEachRecord { (record) throws in
                try body(try decoder.decode(type, from: record, members: members))
            }
        }
    }

    private func forEachDecoded<Element: Decodable>(
        _ type: Element.Type, request: FetchRequest, _ body: (Element) throws(StoreError) -> Void
    ) throws(StoreError) {
        let cursor = try snapshot.fetch(request)
        let decoder = RecordDecoder(model: model)
        var batch = RecordBatch(model: model)
        while try cursor.next(into: &batch) {
            try batch.forEachRecord { (record) throws(StoreError) in
                try body(try decoder.decode(type, from: record, members: members))
            }
        }
    }

    func members(
        _ relationship: ManagedObjectModel.Relationship, id: ObjectID
    ) throws(StoreError) -> [ObjectID] {
        try snapshot.destinations(of: relationship, from: id)
    }
}

extension Store {
    /// Returns the objects that meet a condition, as values of a type.
    ///
    /// See ``StoreView/fetch(_:of:where:sortedBy:limit:)``.
    public func fetch<Element: Decodable>(
        _ type: Element.Type, of entity: EntityName? = nil, where predicate: FetchRequest.Predicate? = nil,
        sortedBy sortDescriptors: [FetchRequest.SortDescriptor] = [], limit: Int? = nil
    ) throws(StoreError) -> [Element] {
        try reading { (view) throws(StoreError) in
            try view.fetch(type, of: entity, where: predicate, sortedBy: sortDescriptors, limit: limit)
        }
    }

    /// Returns the objects that meet a condition, as values of a type, asynchronously.
    public func fetch<Element: Decodable & Sendable>(
        _ type: Element.Type, of entity: EntityName? = nil, where predicate: FetchRequest.Predicate? = nil,
        sortedBy sortDescriptors: [FetchRequest.SortDescriptor] = [], limit: Int? = nil
    ) async throws(StoreError) -> [Element] {
        try await StoreThreads.run { () throws(StoreError) in
            try self.reading { (view) throws(StoreError) in
                try view.fetch(type, of: entity, where: predicate, sortedBy: sortDescriptors, limit: limit)
            }
        }
    }

    /// Calls `body` for each object that meets a condition, as a value of a type, in bounded
    /// memory.
    ///
    /// ```swift
    /// try store.forEach(Track.self, where: "plays > 3") { track in print(track.title) }
    /// ```
    ///
    /// See ``StoreView/forEach(_:of:where:_:)``.
    public func forEach<Element: Decodable>(
        _ type: Element.Type, of entity: EntityName? = nil, where predicate: FetchRequest.Predicate? = nil,
        _ body: (Element) throws -> Void
    ) throws {
        try read { view in try view.forEach(type, of: entity, where: predicate, body) }
    }

    /// Returns an asynchronous sequence of the objects that meet a condition, as values of a type.
    ///
    /// ```swift
    /// for try await track in store.records(Track.self) { print(track.title) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - entity: The entity, or nil for the entity with the name of the type.
    ///   - predicate: The condition, or nil for all objects.
    ///   - sortDescriptors: The order.
    /// - Returns: A sequence that reads the values in bounded memory.
    public func records<Element: Decodable & Sendable>(
        _ type: Element.Type, of entity: EntityName? = nil, where predicate: FetchRequest.Predicate? = nil,
        sortedBy sortDescriptors: [FetchRequest.SortDescriptor] = []
    ) -> StoreRecords<Element> {
        let request = FetchRequest(entity ?? EntityName(of: type), where: predicate, sortedBy: sortDescriptors)
        return StoreRecords(store: self, request: request) { (records, view) throws(StoreError) in
            let decoder = RecordDecoder(model: view.model)
            var elements: [Element] = []
            elements.reserveCapacity(records.count)
            try records.forEachRecord { (record) throws(StoreError) in
                elements.append(try decoder.decode(type, from: record, members: view.members))
            }
            return elements
        }
    }

    /// Returns the object with an ID as a value of a type, or nil if it does not exist.
    ///
    /// - Throws: The errors of ``StoreView/fetch(_:of:where:sortedBy:limit:)``.
    public func value<Element: Decodable>(_ type: Element.Type, id: ObjectID) throws(StoreError) -> Element? {
        try reading { (view) throws(StoreError) in try view.value(type, id: id) }
    }

    /// Inserts one object for each value.
    ///
    /// The insert is atomic and durable on return. Coding keys are the names of properties. A
    /// property that a value does not encode, such as a nil optional, gets the model's default.
    /// ``ConflictRule/fail`` requires that `objectID` is nil; the other rules ignore `objectID`. If
    /// the first value encodes a to-many relationship, all values become one change set. Otherwise,
    /// later values must not encode one.
    ///
    /// ```swift
    /// try store.insert([Track(title: "Blue", plays: 3)])
    /// ```
    ///
    /// - Parameters:
    ///   - values: The values. The sequence is read once.
    ///   - entity: The entity of the new objects, or nil for the entity with the name of the type.
    ///   - onConflict: The rule for a value that matches an existing object in a uniqueness
    ///     constraint.
    ///   - result: The kind of the result.
    /// - Returns: The result of the requested kind.
    /// - Throws: The errors of ``insert(_:rows:onConflict:result:)``.
    @discardableResult
    public func insert<Element: Encodable>(
        _ values: some Sequence<Element>, into entity: EntityName? = nil, onConflict: ConflictRule = .fail,
        result: BatchResultType = .count
    ) throws(StoreError) -> BatchResult {
        let name = entity ?? EntityName(of: Element.self)
        let rows = EncodedRows(values, entity: name, model: model, requiresNewObjects: onConflict == .fail)
        var request = BatchInsertRequest(name, result: result) { (row) throws(StoreError) in
            guard let next = try rows.next() else { return true }
            guard next.members.isEmpty else {
                throw StoreError(
                    .invalidRequest,
                    "A value of '\(Element.self)' encodes a to-many relationship, but the first value encodes none. Encode every to-many relationship in all values, even if it has no objects."
                )
            }
            row = next.values
            return false
        }
        request.onConflict = onConflict
        if try rows.peek()?.members.isEmpty == false {
            request.memberRows = { { () throws(StoreError) in try rows.next() } }
        }
        return try execute(request)
    }

    /// Inserts one object for each value, asynchronously.
    @discardableResult
    public func insert<Element: Encodable & Sendable>(
        _ values: some Sequence<Element> & Sendable, into entity: EntityName? = nil,
        onConflict: ConflictRule = .fail, result: BatchResultType = .count
    ) async throws(StoreError) -> BatchResult {
        try await StoreThreads.run { () throws(StoreError) in
            let insertion: (Store) throws(StoreError) -> BatchResult = { (store) throws(StoreError) in
                try store.insert(values, into: entity, onConflict: onConflict, result: result)
            }
            return try insertion(self)
        }
    }
}

extension EntityName {
    /// Creates the entity name that a type declares, or else the type's own name.
    fileprivate init(of type: any Any.Type) {
        self = (type as? any EntityRepresentable.Type)?.entityName ?? EntityName(String(describing: type))
    }
}

/// The rows of a sequence of values, for use on one thread.
private final class EncodedRows {
    private let nextValue: () throws(StoreError) -> BatchInsertRequest.MemberRow?
    private var first: BatchInsertRequest.MemberRow?
    private var isPeeked = false

    init<Values: Sequence>(
        _ values: Values, entity: EntityName, model: ManagedObjectModel, requiresNewObjects: Bool
    ) where Values.Element: Encodable {
        var iterator = values.makeIterator()
        let encoder = RecordEncoder(model: model)
        nextValue = { () throws(StoreError) in
            guard let value = iterator.next() else { return nil }
            let row = try encoder.encode(value, for: entity)
            if requiresNewObjects, let id = row.objectID {
                throw StoreError(
                    .invalidRequest,
                    "A value of '\(Values.Element.self)' has the ID \(id) already, and an insert gives new IDs. Leave 'objectID' nil, or insert with a conflict rule."
                )
            }
            return BatchInsertRequest.MemberRow(values: row.values, members: row.members)
        }
    }

    func peek() throws(StoreError) -> BatchInsertRequest.MemberRow? {
        if !isPeeked { first = try nextValue() }
        isPeeked = true
        return first
    }

    func next() throws(StoreError) -> BatchInsertRequest.MemberRow? {
        if isPeeked {
            isPeeked = false
            defer { first = nil }
            return first
        }
        return try nextValue()
    }
}
