import Roost
import RoostCore
import Testing

/// A store of nodes, with to-many relationships of each kind and derived attributes that read them.
struct NodeSample {
    struct Node: Codable, Sendable {
        var code: Int
        var parent: ObjectID?
        var children: [ObjectID]?
        var friends: [ObjectID]?
        var follows: [ObjectID]?
        var followers: [ObjectID]?
        var next: ObjectID?
    }

    let store: Store
    /// Six nodes with the codes 0 to 5, which have no relationships at first.
    let nodes: [ObjectID]

    init(_ type: String, in folder: Folder, isOrdered: Bool) throws {
        store = try folder.store(
            type,
            entities: [
                EntityDescription(
                    "Node",
                    attributes: [
                        .integer32("code"), .derived("childCount", type: .integer32, from: "children.@count"),
                        .derived("childSum", type: .integer64, from: "children.code.@sum"),
                        .derived("friendSum", type: .integer64, from: "friends.code.@sum"),
                        .derived("followerCount", type: .integer64, from: "followers.@count"),
                        .derived("grand", type: .integer32, from: "parent.parent.code"),
                        .derived("siblingCount", type: .integer32, from: "parent.children.@count"),
                    ],
                    relationships: [
                        .toOne("parent", to: "Node", inverse: "children"),
                        .toMany("children", to: "Node", inverse: "parent", isOrdered: isOrdered),
                        .toMany("friends", to: "Node", inverse: "friends"),
                        .toMany("follows", to: "Node", inverse: "followers", isOrdered: isOrdered),
                        .toMany("followers", to: "Node", inverse: "follows", isOrdered: isOrdered),
                        .toOne("next", to: "Node"),
                    ],
                    uniquenessConstraints: [["code"]])
            ])
        nodes = try store.ids("Node", rows: (0...5).map { ["code": .int($0)] })
    }

    /// Inserts new nodes, and updates nodes whose codes exist.
    @discardableResult
    func save(_ values: Node...) throws -> BatchResult {
        try store.insert(values, onConflict: .update, result: .objectIDs)
    }

    func numbers(_ name: String, of number: Int) throws -> [Int] { try order(name, of: number).sorted() }

    /// Returns the indexes in `nodes` of the related nodes, in the order of the relationship.
    func order(_ name: String, of number: Int) throws -> [Int] {
        try store.members(name, of: nodes[number]).map { id in try #require(nodes.firstIndex(of: id)) }
    }

    /// Compares all derived attributes with their correct values, and checks the store.
    func verify(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let (found, expected) = try store.read { view in
            let all = try view.fetch("Node")
            let records = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })
            func code(_ id: ObjectID) -> Int64 { if case .int(let code)? = records[id]?["code"] { code } else { 0 } }
            func sum(_ ids: [ObjectID]) -> Value { .int(ids.map(code).reduce(0, +)) }
            func parent(_ id: ObjectID) -> ObjectID? {
                if case .objectID(let parent)? = records[id]?["parent"] { parent } else { nil }
            }
            var found: [ObjectID: [String: Value]] = [:]
            var expected: [ObjectID: [String: Value]] = [:]
            for node in all {
                let children = try view.objectIDs("children", of: node.id)
                let siblings = try parent(node.id).map { try view.objectIDs("children", of: $0).count }
                expected[node.id] = [
                    "childCount": .int(Int64(children.count)), "childSum": sum(children),
                    "friendSum": sum(try view.objectIDs("friends", of: node.id)),
                    "followerCount": .int(Int64(try view.objectIDs("followers", of: node.id).count)),
                    "grand": parent(node.id).flatMap(parent).map { .int(code($0)) } ?? .null,
                    "siblingCount": siblings.map { .int(Int64($0)) } ?? 0,
                ]
                found[node.id] = expected[node.id].map { values in
                    Dictionary(uniqueKeysWithValues: values.keys.map { ($0, node[$0]) })
                }
            }
            return (found, expected)
        }
        #expect(found == expected, sourceLocation: sourceLocation)
        #expect(try store.check().isEmpty, sourceLocation: sourceLocation)
    }
}
