internal import RoostCore
internal import RoostQuery

/// A view of a document that leaves the contents in the file.
///
/// Complete lists and hierarchies are read from the file, in bounded memory. Any other request
/// reads the whole document into memory.
final class DocumentSnapshot: SequentialSnapshot, CheckedFetchingSnapshot, ExplainingSnapshot, IDListingSnapshot,
    VisitableSnapshot, AggregatingSnapshot, GroupedLinkSnapshot, GraphProvidingSnapshot, HistorySnapshot
{
    let model: ManagedObjectModel
    private let file: DocumentFile
    private let head: DocumentHead
    private let tail: DocumentTail
    /// An idle stream for reuse by later passes.
    private var stream: DocumentStream?
    /// An idle reader for reuse by later cursors.
    private var hierarchies: DocumentHierarchies?
    private let spillDirectories: [String]
    private let requireOpenStore: () throws(StoreError) -> Void
    private let makeWhole: () throws(StoreError) -> any StoreSnapshot
    private var whole: (any StoreSnapshot)?
    private var isClosed = false

    /// Creates a view of a document, with a stream from which no list was read.
    ///
    /// `whole` reads the document into memory and returns a view of its contents.
    init(
        _ file: DocumentFile, stream: DocumentStream, spillDirectories: [String],
        requireOpen: @escaping () throws(StoreError) -> Void,
        whole: @escaping () throws(StoreError) -> any StoreSnapshot
    ) {
        self.file = file
        self.stream = stream
        self.spillDirectories = spillDirectories
        tail = stream.tail
        model = stream.model
        head = stream.head
        requireOpenStore = requireOpen
        makeWhole = whole
    }

    func requireOpen() throws(StoreError) {
        try requireOpenStore()
        if isClosed { throw StoreError(.closed, "The snapshot was closed.") }
    }

    private func inMemory() throws(StoreError) -> any StoreSnapshot {
        try requireOpen()
        if let whole { return whole }
        let made = try makeWhole()
        whole = made
        return made
    }

    // MARK: Lists

    /// Returns a stream that has not begun `list`.
    func takeStream(before list: DocumentStream.List) throws(StoreError) -> DocumentStream {
        if let taken = stream, taken.isBefore(list) {
            stream = nil
            return taken
        }
        return try makeStream()
    }

    private func makeStream() throws(StoreError) -> DocumentStream {
        try file.requireUnchanged()
        guard let anew = try DocumentStream(file) else {
            throw StoreError(.busy, "'\(file.path)' was changed while it was read; open it again.")
        }
        return anew
    }

    /// Returns a reader that has not begun the hierarchy of `root`.
    func takeHierarchies(before root: Int) throws(StoreError) -> DocumentHierarchies {
        if let taken = hierarchies, taken.isBefore(root: root) {
            hierarchies = nil
            return taken
        }
        return try DocumentHierarchies(file, stream: try makeStream(), directories: spillDirectories)
    }

    /// Keeps a reader that reached the end of a hierarchy, for reuse.
    func giveBack(_ hierarchies: DocumentHierarchies) { self.hierarchies = hierarchies }

    /// Keeps a stream that reached the end of a list, for reuse.
    func giveBack(_ stream: DocumentStream) { self.stream = stream }

    func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
        guard id == nil else { return try inMemory().records(of: entity, after: id) }
        try requireOpen()
        let found = try model.requireEntity(entity)
        let number = found.number
        if DocumentHierarchies.contain(found) {
            guard found.superentity == nil else { return try inMemory().records(of: entity, after: id) }
            let count = found.selfAndSubentities.reduce(0) { $0 + tail.count(of: .records(entity: $1)) }
            return DocumentHierarchyCursor(self, root: number, isEmpty: count == 0)
        }
        let list = DocumentStream.List.records(entity: number)
        return DocumentRecordCursor(DocumentPass(self, list: list, isEmpty: tail.count(of: list) == 0))
    }

    func links(of relationship: RelationshipName, after link: Link?) throws(StoreError) -> any LinkCursor {
        let found = model.linkRelationships.first { $0.name == relationship }
        guard link == nil, let found else { return try inMemory().links(of: relationship, after: link) }
        try requireOpen()
        let list = DocumentStream.List.links(relationship: found.number)
        return DocumentLinkCursor(DocumentPass(self, list: list, isEmpty: tail.count(of: list) == 0))
    }

    // MARK: Facts and histories

    var canRecordHistory: Bool { true }

    func withHistory<Result>(
        _ body: (any HistoryEntries, StoreUUID, Generation) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try requireOpen()
        guard head.hasHistory, let whole = try inMemory() as? any HistorySnapshot else {
            return try body(NoHistory(), head.storeUUID ?? StoreUUID(), tail.tally.generation)
        }
        return try whole.withHistory(body)
    }

    func recordedTally() throws(StoreError) -> StoreTally? {
        try requireOpen()
        return tail.tally
    }

    func userMetadata() throws(StoreError) -> [String: MetadataValue] {
        try requireOpen()
        return head.userMetadata
    }

    func lastKey(of entity: EntityName) throws(StoreError) -> Int64 {
        try requireOpen()
        return tail.lastKeys[try model.requireEntity(entity).root] ?? 0
    }

    // MARK: Read in memory

    func records(with ids: [ObjectID]) throws(StoreError) -> any RecordCursor { try inMemory().records(with: ids) }
    func links(of relationship: RelationshipName, from id: ObjectID) throws(StoreError) -> any LinkCursor {
        try inMemory().links(of: relationship, from: id)
    }
    func groupedLinks(
        of relationship: ManagedObjectModel.Relationship, from ids: [ObjectID]
    ) throws(StoreError) -> any LinkCursor {
        try inMemory().links(of: relationship.name, from: ids)
    }
    func record(with id: ObjectID, into batch: inout RecordBatch) throws(StoreError) -> Bool {
        try inMemory().record(with: id, into: &batch)
    }
    func fetch(_ request: CheckedFetchRequest) throws(StoreError) -> any RecordCursor {
        try inMemory().fetch(checked: request)
    }
    func makeVisitor(_ request: CheckedFetchRequest) throws(StoreError) -> (any RecordVisitor)? {
        try inMemory().visitor(request)
    }
    func computeNumbers(
        _ aggregates: [WholeNumberAggregate], of request: CheckedFetchRequest
    ) throws(StoreError) -> [Int64?]? { try inMemory().wholeNumbers(aggregates, of: request) }
    func appendIDs(of request: CheckedFetchRequest, to ids: inout [ObjectID]) throws(StoreError) {
        ids += try inMemory().objectIDs(checked: request)
    }
    func count(_ request: CheckedFetchRequest) throws(StoreError) -> Int { try inMemory().count(checked: request) }
    func explain(_ request: CheckedFetchRequest, executing: Bool) throws(StoreError) -> FetchPlan {
        try inMemory().explain(checked: request, executing: executing)
    }
    func makeObjectGraph() -> any ObjectGraph {
        // This function cannot throw, so `SnapshotGraph` reports an error of reading the document.
        (try? inMemory())?.objectGraph() ?? SnapshotGraph(self)
    }

    func close() {
        isClosed = true
        (stream, hierarchies) = (nil, nil)
        whole?.close()
        whole = nil
    }
}

/// A pass over one list of a document.
private struct DocumentPass {
    private let snapshot: DocumentSnapshot
    private let list: DocumentStream.List
    private var stream: DocumentStream?
    private let isEmpty: Bool

    var model: ManagedObjectModel { snapshot.model }
    var relationship: Int { if case .links(let number) = list { number } else { 0 } }

    init(_ snapshot: DocumentSnapshot, list: DocumentStream.List, isEmpty: Bool) {
        self.snapshot = snapshot
        self.list = list
        self.isEmpty = isEmpty
    }

    func requireOpen() throws(StoreError) { try snapshot.requireOpen() }

    /// Calls `body` with a stream positioned at the next elements of the list.
    ///
    /// - Returns: Whether the list may have more elements after the call.
    mutating func read(_ body: (DocumentStream) throws(StoreError) -> Void) throws(StoreError) -> Bool {
        guard !isEmpty else { return false }
        let reading = if let stream { stream } else { try snapshot.takeStream(before: list) }
        stream = nil
        try reading.enter(list)
        try body(reading)
        // Reading the last batch of a list moves the stream to the next list.
        guard reading.next == list else {
            snapshot.giveBack(reading)
            return false
        }
        stream = reading
        return true
    }
}

private final class DocumentRecordCursor: FillingRecordCursor {
    private var pass: DocumentPass

    init(_ pass: DocumentPass) {
        self.pass = pass
        super.init(model: pass.model)
    }

    override func requireOpen() throws(StoreError) { try pass.requireOpen() }

    override func fill(_ batch: inout RecordBatch) throws(StoreError) -> Bool {
        try pass.read { (stream) throws(StoreError) in _ = try stream.read(into: &batch) }
    }
}

private final class DocumentHierarchyCursor: FillingRecordCursor {
    private let snapshot: DocumentSnapshot
    private let root: Int
    private var hierarchies: DocumentHierarchies?
    private let isEmpty: Bool

    init(_ snapshot: DocumentSnapshot, root: Int, isEmpty: Bool) {
        self.snapshot = snapshot
        self.root = root
        self.isEmpty = isEmpty
        super.init(model: snapshot.model)
    }

    override func requireOpen() throws(StoreError) { try snapshot.requireOpen() }

    override func fill(_ batch: inout RecordBatch) throws(StoreError) -> Bool {
        guard !isEmpty else { return false }
        let reading = if let hierarchies { hierarchies } else { try snapshot.takeHierarchies(before: root) }
        hierarchies = nil
        guard try reading.read(root: root, into: &batch) else {
            snapshot.giveBack(reading)
            return false
        }
        hierarchies = reading
        return true
    }
}

private final class DocumentLinkCursor: FillingLinkCursor {
    private var pass: DocumentPass

    init(_ pass: DocumentPass) {
        self.pass = pass
        super.init(relationship: pass.relationship)
    }

    override func requireOpen() throws(StoreError) { try pass.requireOpen() }

    override func fill(_ batch: inout LinkBatch) throws(StoreError) -> Bool {
        try pass.read { (stream) throws(StoreError) in _ = try stream.read(into: &batch) }
    }
}
