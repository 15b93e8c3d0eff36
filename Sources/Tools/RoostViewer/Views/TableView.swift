#if Interactive
    internal import Dispatch
    internal import RoostCore
    internal import RoostJSONText
    internal import RoostQuery
    internal import RoostStores

    /// A page of the objects of an entity or of a relationship.
    struct TableView {
        /// The relationship whose objects are shown, and its source object.
        struct Owner {
            var id: ObjectID
            var relationship: ManagedObjectModel.Relationship
        }

        private static let usualSize = 50
        private static let largestSize = 500
        private static let facetCount = 8

        private let viewed: ViewedStore
        private let entity: ManagedObjectModel.Entity
        private let owner: Owner?
        private let whereText: String?
        private let sortText: String?
        private let fetch: FetchRequest
        private let page: Int
        private let size: Int
        private let available: [TableColumn]
        private let columns: [TableColumn]
        private let facets: [String]
        private let hasPlan: Bool

        /// Reads a request for all objects of the entity, or for objects of the owner's
        /// relationship.
        ///
        /// - Throws: ``ViewerError`` for an invalid name, number or predicate.
        init(
            _ request: HTTPRequest, viewed: ViewedStore, entity: ManagedObjectModel.Entity, owner: Owner? = nil
        ) throws(ViewerError) {
            (self.viewed, self.entity, self.owner) = (viewed, entity, owner)
            whereText = request.value("where")
            sortText = request.value("sort")
            page = try request.integer("page", in: 1...Int(Int32.max), default: 1)
            size = try request.integer("size", in: 0...Self.largestSize, default: Self.usualSize)
            available = TableColumn.all(of: entity)
            columns = try TableColumn.chosen(request.value("select"), of: available, entity: entity)
            facets = request.query.filter { $0.name == "facet" }.map(\.value)
            guard facets.count <= Self.facetCount else {
                throw ViewerError(
                    .badRequest,
                    message: "A table can have at most \(Self.facetCount) facets, and the address has \(facets.count).")
            }
            hasPlan = request.value("plan") == "1"
            var fetch = FetchRequest(entity.name)
            if let whereText {
                fetch.predicate = try PredicateHelp.predicate(whereText, entity: entity, model: viewed.model)
            }
            if let sortText { fetch.sortDescriptors = try SortText.descriptors(sortText, of: entity) }
            self.fetch = fetch
        }

        func answer(_ job: Job) throws -> JSONNode {
            let start = DispatchTime.now()
            return try viewed.read { snapshot in
                let (ids, count) = try objects(snapshot, job: job)
                var titles = ObjectTitles(viewed.model)
                let records = try self.records(ids, snapshot: snapshot)
                let counts = try linkCounts(of: ids, snapshot: snapshot)
                try titles.read(records.flatMap { references(of: $0) }, from: snapshot)
                if let owner { try titles.read([owner.id], from: snapshot) }
                let writer = CellWriter(titles: titles)
                var members = [
                    JSONMember("entity", .string(entity.name.text)),
                    JSONMember("entities", JSONNode(texts: includedEntities)),
                    JSONMember("where", JSONNode(whereText)), JSONMember("sort", JSONNode(sortText)),
                    JSONMember("page", JSONNode(page)), JSONMember("size", JSONNode(size)),
                    JSONMember("count", JSONNode(count)),
                    JSONMember("columns", JSONNode(list: columns.map { $0.json(viewed.model) })),
                    JSONMember("available", JSONNode(list: available.map { $0.json(viewed.model) })),
                    JSONMember("rows", JSONNode(list: records.map { row($0, counts: counts, writer: writer) })),
                    JSONMember("writable", JSONNode(viewed.editor != nil)), JSONMember("undo", viewed.undo),
                ]
                if let owner {
                    members.append(JSONMember("owner", titles.node(owner.id)))
                    members.append(JSONMember("relationship", .string(owner.relationship.name.name)))
                }
                if !facets.isEmpty {
                    let request = try narrowed(snapshot)
                    let lists = try facets.map { name in
                        try FacetList(name, request: request, entity: entity, model: viewed.model).answer(snapshot)
                    }
                    members.append(JSONMember("facets", JSONNode(list: lists)))
                }
                if hasPlan { members.append(JSONMember("plan", JSONNode(texts: try plan(snapshot)))) }
                let milliseconds = (DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1_000_000
                members.append(JSONMember("milliseconds", JSONNode(Int(milliseconds))))
                return JSONNode(.object(members))
            }
        }

        private var includedEntities: [String] {
            entity.selfAndSubentities.map { viewed.model.entities[$0] }.filter { !$0.isAbstract }.map(\.name.text)
        }

        // MARK: Objects

        /// Returns the objects of the page, and the total number of objects.
        private func objects(_ snapshot: any StoreSnapshot, job: Job) throws -> (ids: [ObjectID], count: Int) {
            let offset = (page - 1).multipliedReportingOverflow(by: size)
            guard !offset.overflow else { throw ViewerError(.badRequest, message: "Page \(page) does not exist.") }
            let first = offset.partialValue
            if let owner, fetch.predicate == nil, fetch.sortDescriptors.isEmpty {
                let all = try snapshot.destinations(of: owner.relationship, from: owner.id)
                return (Array(all.dropFirst(first).prefix(size)), all.count)
            }
            let request = try narrowed(snapshot)
            // Without a predicate, the first page needs no list of all objects. In the order of keys
            // or of an index, the other pages need no list either.
            if request.predicate == nil, isInOrder || page == 1 {
                let count = try viewed.count(entity, snapshot: snapshot)
                guard size > 0, first < count else { return ([], count) }
                return (try snapshot.objectIDs(request.with { ($0.fetchOffset, $0.fetchLimit) = (first, size) }), count)
            }
            if size == 0 { return ([], try snapshot.count(request)) }
            job.setTotal(try viewed.count(entity, snapshot: snapshot))
            let all = try viewed.lists.ids(request, snapshot: snapshot)
            return (Array(all.dropFirst(first).prefix(size)), all.count)
        }

        /// Whether the objects are in the order of their keys or of an index.
        private var isInOrder: Bool {
            guard let first = fetch.sortDescriptors.first else { return true }
            return fetch.sortDescriptors.count == 1 && first.options.isEmpty
                && available.contains { $0.name == first.key && $0.isIndexed }
        }

        /// Returns the request, limited to the objects of the owner's relationship.
        ///
        /// - Throws: `limitExceeded` for too many objects of a relationship without an inverse;
        ///   errors of reading the relationship.
        private func narrowed(_ snapshot: any StoreSnapshot) throws(StoreError) -> FetchRequest {
            guard let owner else { return fetch }
            let isMember = FetchRequest.Predicate.comparison(try membership(in: owner, snapshot: snapshot))
            return fetch.with { $0.predicate = fetch.predicate.map { .and([isMember, $0]) } ?? isMember }
        }

        /// Returns the condition that the owner's relationship contains an object.
        ///
        /// A to-one inverse is compared with the owner. Otherwise the condition lists the objects,
        /// because some stores find listed objects faster. If the list would be too long, a to-many
        /// inverse is compared with the owner.
        private func membership(
            in owner: Owner, snapshot: any StoreSnapshot
        ) throws(StoreError) -> FetchRequest.Comparison {
            let inverse = owner.relationship.inverse.map { viewed.model.relationships[$0] }
            if let inverse, !inverse.isToMany {
                return FetchRequest.Comparison(
                    left: .keyPath([inverse.name.name]), operator: .equal, right: .constant(.objectID(owner.id)))
            }
            let ids = try snapshot.destinations(of: owner.relationship, from: owner.id)
            guard ids.count > RecordFilter.maximumListCount else {
                return FetchRequest.Comparison(
                    left: .evaluatedObject, operator: .isIn, right: .aggregate(ids.map { .constant(.objectID($0)) }))
            }
            guard let inverse else {
                let name = owner.relationship.name.name
                throw StoreError(
                    .limitExceeded,
                    "'\(name)' of \(owner.id) has \(ids.count) objects and no inverse. Only \(RecordFilter.maximumListCount) objects of such a relationship can be sorted, filtered or counted by value. Add an inverse to the model."
                )
            }
            return FetchRequest.Comparison(
                left: .keyPath([inverse.name.name]), operator: .equal, right: .constant(.objectID(owner.id)),
                modifier: .any)
        }

        private func records(_ ids: [ObjectID], snapshot: any StoreSnapshot) throws(StoreError) -> [Record] {
            guard !ids.isEmpty else { return [] }
            let cursor = try snapshot.records(with: ids)
            var (records, batch) = ([Record](), RecordBatch(model: viewed.model))
            while try cursor.next(into: &batch) { records += (0..<batch.count).map { batch.record(at: $0) } }
            return records
        }

        /// Returns the counts of related objects, by the index of the column and the object's key.
        private func linkCounts(of ids: [ObjectID], snapshot: any StoreSnapshot) throws(StoreError) -> [[Int64: Int]] {
            var counts: [[Int64: Int]] = []
            for column in columns {
                var count: [Int64: Int] = [:]
                if case .toMany(let relationship) = column.content, !ids.isEmpty {
                    let cursor = try snapshot.links(of: relationship.name, from: ids)
                    var batch = LinkBatch(relationship: relationship.number)
                    while try cursor.next(into: &batch) {
                        for link in batch.links { count[link.source, default: 0] += 1 }
                    }
                }
                counts.append(count)
            }
            return counts
        }

        private func references(of record: Record) -> [ObjectID] {
            columns.compactMap { column in
                guard case .objectID(let id) = value(of: column, record: record) else { return nil }
                return id
            }
        }

        private func value(of column: TableColumn, record: Record) -> Value {
            record.withReader { reader in reader.layout.field(column.name).map { reader.value($0) } ?? .null }
        }

        private func row(_ record: Record, counts: [[Int64: Int]], writer: CellWriter) -> JSONNode {
            let cells = zip(columns, counts).map { column, count -> JSONNode in
                guard case .toMany = column.content else {
                    return writer.node(value(of: column, record: record), type: column.type, elements: column.elements)
                }
                return JSONNode(["count": JSONNode(count[record.id.key] ?? 0)])
            }
            return JSONNode([
                "entity": JSONNode(record.id.entity.text), "key": JSONNode(record.id.key),
                "version": JSONNode(Int64(record.version)),
                "title": JSONNode(ObjectTitles.title(record, in: viewed.model)),
                "values": JSONNode(list: cells),
            ])
        }

        private func plan(_ snapshot: any StoreSnapshot) throws -> [String] {
            let request = try narrowed(snapshot)
            let plan = try snapshot.explain(request, executing: false)
            let missing = MissingIndex.attribute(plan, for: request, model: viewed.model)
            return PlanReport(plan, missingIndex: missing).lines
        }
    }
#endif
