internal import Foundation
internal import RoostCore
internal import RoostSystem

/// The model of checks of histories.
enum HistoryModel {
    /// A model with relationships, a subentity, and attributes whose values the history preserves
    /// on deletion.
    static let model: Result<ManagedObjectModel, StoreError> = {
        let marked = { (attribute: AttributeDescription) in
            attribute.with { $0.preservesValueInHistoryOnDeletion = true }
        }
        let place = AttributeDescription(
            "place", type: .composite,
            elements: [.init("street", type: .string), .init("number", type: .integer32)])
        do throws(StoreError) {
            return .success(
                try ManagedObjectModel(entities: [
                    EntityDescription(
                        "Person",
                        attributes: [
                            marked(.init("email", type: .string)), marked(.init("code", type: .uuid)),
                            .init("name", type: .string), .init("age", type: .integer64), marked(place),
                        ],
                        relationships: [
                            .toOne("team", to: "Team", inverse: "members"),
                            .toMany("friends", to: "Person", inverse: "friends"),
                        ]),
                    EntityDescription("Manager", superentity: "Person", attributes: [.init("rank", type: .integer32)]),
                    EntityDescription(
                        "Team", attributes: [.init("title", type: .string)],
                        relationships: [
                            .toMany("members", to: "Person", inverse: "team", isOrdered: true),
                            .toMany("tags", to: "Tag", inverse: "teams", isOrdered: true),
                        ]),
                    EntityDescription(
                        "Tag", attributes: [.init("title", type: .string)],
                        relationships: [.toMany("teams", to: "Team", inverse: "tags")]),
                ]))
        } catch {
            return .failure(error)
        }
    }()
}

/// A clock that a check sets.
final class CheckClock: Sendable {
    private let time: Mutex<Int64>

    /// Creates a clock at a time in seconds since 2001-01-01.
    init(_ seconds: Int64 = 1000) { time = Mutex(seconds * 1_000_000) }

    func set(_ seconds: Int64) { time.withLock { $0 = seconds * 1_000_000 } }

    var function: @Sendable () -> Int64 { { self.time.withLock { $0 } } }
}

extension Workbench {
    func createRecording(
        name: String = "store", clock: CheckClock? = nil, configure: (inout StoreOptions) -> Void = { _ in }
    ) throws -> any PersistentStore {
        try create(try HistoryModel.model.get(), name: name) { options in
            options.tracksHistory = true
            options.historyClock = clock?.function
            configure(&options)
        }
    }
}

extension PersistentStore {
    /// Returns the transactions that a request selects, each complete.
    func transactions(_ request: HistoryRequest = HistoryRequest()) throws -> [HistoryTransaction] {
        try view { try $0.transactions(request) }
    }

    func transactions(after token: HistoryToken) throws -> [HistoryTransaction] {
        try transactions(HistoryRequest(after: token))
    }

    func historyToken() throws -> HistoryToken { try view { try $0.historyToken() } }

    /// Inserts persons with these keys in one commit of an author.
    @discardableResult
    func addPeople(_ keys: ClosedRange<Int64>, by author: String? = nil) throws -> CommitReceipt {
        try change { changes in
            changes.author = author
            for key in keys {
                try changes.insert(
                    ObjectID("Person", key: key),
                    values: ["name": .string("person \(key)"), "email": .string("p\(key)@example.com")])
            }
        }
    }
}

extension StoreSnapshot {
    func transactions(_ request: HistoryRequest = HistoryRequest()) throws -> [HistoryTransaction] {
        let cursor = try historyCursor(request)
        var transactions: [HistoryTransaction] = []
        while let transaction = try cursor.nextWhole() { transactions.append(transaction) }
        return transactions
    }
}

/// Returns a change in short form: `+Person/p1`, `~Person/p1 age,name`, `-Person/p1`.
func brief(_ change: HistoryChange) -> String {
    switch change.kind {
    case .insert: "+\(change.id)"
    case .update: "~\(change.id) \(change.changedProperties.joined(separator: ","))"
    case .delete: "-\(change.id)"
    }
}

/// Returns a link change in short form: `+Team.tags 1-2`.
func brief(_ change: HistoryLinkChange) -> String {
    "\(change.isAdded ? "+" : "-")\(change.relationship) \(change.source.key)-\(change.target.key)"
}

extension Array {
    /// Returns the element at an index, or fails.
    func element(_ index: Int) throws -> Element {
        guard indices.contains(index) else {
            throw Mismatch(expected: "at least \(index + 1) elements", actual: "\(count)")
        }
        return self[index]
    }
}
