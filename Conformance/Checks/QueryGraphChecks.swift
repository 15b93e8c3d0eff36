internal import Foundation
internal import RoostCore

extension ConformanceCheck {
    /// The semantics of predicates and sort orders that follow relationships.
    static let queriesThroughRelationships: [ConformanceCheck] = [
        onGraph(
            "to-one", behavior: "A path through to-one relationships is null if one of them has no related object.",
            entity: "Node",
            table: [
                (#"parent.name == "a""#, [2, 3]), ("parent.name == nil", [1, 5]), ("parent.name != nil", [2, 3, 4]),
                (#"parent.name != "a""#, [1, 4, 5]), (#"parent.parent.name == "a""#, [4]),
                ("parent.parent == nil", [1, 2, 3, 5]), ("parent == nil", [1, 5]), (#"parent.name < "b""#, [2, 3]),
                (#"NOT parent.name < "b""#, [1, 4, 5]), ("length(parent.name) == 1", [2, 3, 4]),
                (#"parent.name IN {"b", nil}"#, [1, 4, 5]), ("parent.name == name", []),
                ("parent.parent.parent.name == nil", [1, 2, 3, 4, 5]),
            ]),
        onGraph(
            "quantifiers",
            behavior:
                "ANY is true if an element matches, ALL if every element matches, and NONE if no element matches. Without elements, ANY is false and ALL is true.",
            entity: "Node",
            table: [
                (#"ANY friends.name == "b""#, [1, 4]), (#"SOME friends.name == "b""#, [1, 4]),
                (#"ALL friends.name == "a""#, [3, 5]), (#"NONE friends.name == "b""#, [2, 3, 5]),
                ("ANY friends.name == nil", [2]), (#"ANY friends.name != "a""#, [1, 2, 4]),
                (#"NOT ANY friends.name == "a""#, [1, 4, 5]), ("ALL friends.name != nil", [1, 3, 4, 5]),
                (#"ANY friends.name IN {"a", "c"}"#, [1, 2, 3]), (#"ANY friends.name BETWEEN {"b", "z"}"#, [1, 4]),
                (#"ANY friends.name CONTAINS[c] "A""#, [2, 3]), (#"ALL friends.name LIKE "?""#, [1, 3, 4, 5]),
                ("ANY children.children.name == nil", [1]), (#"ANY parent.children.name == "c""#, [2, 3]),
                ("ANY owned.age > 5", [1, 2]), ("ALL owned.age > 5", [2, 4, 5]), ("NONE owned.age > 5", [3, 4, 5]),
                ("ANY owned.age < 100", [1, 2]), ("ALL owned.age < 100", [1, 2, 4, 5]),
                (#"ANY owned.keepers.name == "b""#, [1, 2]),
                ("ANY friends.parent.name == nil", [2, 3]), (#"ANY friends.parent.name == "a""#, [1, 4]),
            ]),
        onGraph(
            "correlation",
            behavior: "Two ANY conditions may match different objects. SUBQUERY requires that one object matches both.",
            entity: "Node",
            table: [
                (#"ANY owned.name == "Rex" AND ANY owned.age == 10"#, [1]),
                (#"SUBQUERY(owned, $b, $b.name == "Rex" AND $b.age == 10).@count > 0"#, []),
                (#"SUBQUERY(owned, $b, $b.name == "Rex" AND $b.age == 3).@count == 1"#, [1]),
                ("SUBQUERY(friends, $f, $f.parent == SELF).@count == 2", [1]),
                ("SUBQUERY(friends, $f, $f == parent).@count == 1", [2, 3, 4]),
                (
                    "SUBQUERY(friends, $f, SUBQUERY($f.friends, $g, $g == SELF).@count == 1).@count == friends.@count",
                    [1, 2, 3, 4, 5]
                ),
                (#"SUBQUERY(children, $c, ANY $c.children.name == nil).@count == 1"#, [1]),
                (#"ANY SUBQUERY(friends, $f, $f.name != nil).name == "c""#, [1]),
                ("SUBQUERY(friends, $f, TRUEPREDICATE).@count == friends.@count", [1, 2, 3, 4, 5]),
                (#"nil <= SUBQUERY(friends, $f, $f.name == "b").@count"#, []),
                (#"SUBQUERY(friends, $f, $f.name == "b").@count IN {}"#, []),
            ]),
        onGraph(
            "collection-operators",
            behavior: "@count includes nulls. Without values, @sum is 0 and the other operators are null.",
            entity: "Node",
            table: [
                ("friends.@count == 2", [1, 2]), ("friends.@count == 0", [5]), ("owned.@sum.age == 13", [1]),
                ("owned.@sum.age == 0", [3, 4, 5]), ("owned.@avg.age == 6.5", [1]),
                ("owned.@avg.age == nil", [3, 4, 5]),
                ("owned.@min.age == 3", [1]), ("owned.@max.age == 10", [1, 2]), ("owned.@max.age == nil", [3, 4, 5]),
                (#"owned.@min.name == "R2""#, [1, 2]), ("owned.age.@count == 1", [2, 3]),
                ("children.children.@count == 1", [1]),
                ("parent.children.@count == 2", [2, 3]), ("parent.children.@count == 0", [1, 5]),
                ("friends.friends.@count == 3", [1, 2]),
                ("count(friends) == 2", [1, 2]), ("sum(owned.age) > 5", [1, 2]),
                ("max(owned.age) - min(owned.age) == 7", [1]),
                ("owned.@unionOfObjects.age.@count == 0", []),
            ].filter { !$0.0.contains("unionOfObjects") }
        ) { snapshot in
            let union = FetchRequest.Expression.keyPath(["owned", "@unionOfObjects", "age"])
            try expectKeys(
                .comparison(.init(left: .element(of: union, .size), operator: .equal, right: .constant(0))),
                keys: [3, 4, 5],
                entity: "Node", snapshot: snapshot,
                named: "owned.@unionOfObjects.age[SIZE] == 0")
        },
        onGraph(
            "membership", behavior: "IN and CONTAINS search the values and objects at the end of a path.",
            entity: "Node",
            table: [
                (#""a" IN friends.name"#, [2, 3]), ("nil IN friends.name", [2]),
                (#"friends.name CONTAINS "a""#, [2, 3]),
                (#"friends.name CONTAINS[c] "A""#, [2, 3]), ("friends CONTAINS parent", [2, 3, 4]),
                ("parent IN friends", [2, 3, 4]),
                ("name IN parent.children.name", [2, 3, 4]), ("NOT parent IN children", [1, 2, 3, 4, 5]),
            ]),
        onGraph(
            "sets", behavior: "UNION, INTERSECT and MINUS give each object once.", entity: "Node", table: []
        ) { snapshot in
            let table: [(FetchRequest.SetOperation, Int64, [Int64])] = [
                (.union, 2, [1, 2]), (.union, 1, [3, 4]), (.intersect, 2, [1]), (.intersect, 1, [2]),
                (.intersect, 0, [3, 4, 5]),
                (.minus, 0, [1, 5]), (.minus, 1, [2, 3, 4]),
            ]
            for (operation, count, keys) in table {
                let set = FetchRequest.Expression.setOperation(operation, .keyPath(["friends"]), .keyPath(["children"]))
                for counted in [FetchRequest.Expression.path(of: set, ["@count"]), .element(of: set, .size)] {
                    try expectKeys(
                        .comparison(.init(left: counted, operator: .equal, right: .constant(.int(count)))), keys: keys,
                        entity: "Node", snapshot: snapshot,
                        named: "friends \(operation) children has \(count)")
                }
            }
        },
        onGraph(
            "elements",
            behavior:
                "[FIRST], [LAST] and [n] follow the order of an ordered relationship, and are null if the element does not exist.",
            entity: "Album",
            table: [
                ("songs[FIRST].title == nil", [1, 2]), (#"songs[LAST].title == "two""#, [1]),
                (#"songs[1].title == "one""#, [1]),
                ("songs[9] == nil", [1, 2]), ("songs[SIZE] == 3", [1]), ("songs[FIRST] == nil", [2]),
                ("songs[0].album == SELF", [1]),
                ("songs[FIRST].playlists.@count == 1", [1]), ("songs[-1] == nil", [1, 2]),
            ]
        ) { snapshot in
            try expectKeys(#"tracks[FIRST].title == "two""#, keys: [1], entity: "Playlist", snapshot: snapshot)
            try expectRefused("friends[FIRST] == nil", code: .invalidRequest, entity: "Node", snapshot: snapshot)
        },
        onGraph(
            "objects",
            behavior:
                "A constant object ID matches the object with the same key in the same entity hierarchy. The ID of an object that does not exist matches nothing.",
            entity: "Node", table: []
        ) { snapshot in
            typealias E = FetchRequest.Expression
            func id(_ entity: EntityName, key: Int64) -> E { .constant(.objectID(ObjectID(entity, key: key))) }
            let table: [(FetchRequest.Comparison, [Int64])] = [
                (.init(left: .keyPath(["parent"]), operator: .equal, right: id("Node", key: 1)), [2, 3]),
                (.init(left: id("Node", key: 1), operator: .equal, right: .keyPath(["parent"])), [2, 3]),
                (.init(left: .keyPath(["parent"]), operator: .notEqual, right: id("Node", key: 1)), [1, 4, 5]),
                (.init(left: .keyPath(["parent"]), operator: .equal, right: id("Node", key: 99)), []),
                (.init(left: .keyPath(["parent"]), operator: .equal, right: id("NoSuchEntity", key: 1)), []),
                (.init(left: .keyPath(["parent"]), operator: .equal, right: id("Tag", key: 1)), []),
                (
                    .init(
                        left: .keyPath(["parent"]), operator: .isIn,
                        right: .aggregate([id("Node", key: 2), id("Node", key: 1)])),
                    [2, 3, 4]
                ),
                (
                    .init(left: .keyPath(["friends"]), operator: .equal, right: id("Node", key: 1), modifier: .any),
                    [2, 3]
                ),
                (
                    .init(left: .keyPath(["friends"]), operator: .equal, right: id("Node", key: 1), modifier: .all),
                    [3, 5]
                ),
                (.init(left: .keyPath(["friends"]), operator: .contains, right: id("Node", key: 1)), [2, 3]),
                (
                    .init(left: .keyPath(["owned"]), operator: .equal, right: id("Robot", key: 2), modifier: .any),
                    [1, 2]
                ),
                (
                    .init(left: .keyPath(["owned"]), operator: .equal, right: id("Being", key: 2), modifier: .any),
                    [1, 2]
                ),
                (.init(left: .keyPath(["owned"]), operator: .equal, right: id("Dog", key: 2), modifier: .any), [1, 2]),
                (
                    .init(
                        left: .evaluatedObject, operator: .isIn,
                        right: .aggregate([id("Node", key: 4), id("Node", key: 2), id("Node", key: 50)])), [2, 4]
                ),
                (.init(left: .evaluatedObject, operator: .isIn, right: .keyPath(["parent", "children"])), [2, 3, 4]),
                (.init(left: .keyPath(["objectID"]), operator: .equal, right: id("Node", key: 3)), [3]),
                (.init(left: .keyPath(["parent", "parent"]), operator: .equal, right: id("Node", key: 1)), [4]),
                (.init(left: .keyPath(["parent"]), operator: .equal, right: .evaluatedObject), []),
            ]
            for (comparison, keys) in table {
                try expectKeys(
                    .comparison(comparison), keys: keys, entity: "Node", snapshot: snapshot, named: "\(comparison)")
            }
        },
        onGraph(
            "order",
            behavior:
                "Sort keys may follow to-one relationships. In ascending order, objects without a related object come first, and ties are ordered by key.",
            entity: "Node", table: []
        ) { snapshot in
            let table: [([FetchRequest.SortDescriptor], [Int64])] = [
                ([.init("parent.name")], [1, 5, 2, 3, 4]), ([.init("parent.name", ascending: false)], [4, 2, 3, 1, 5]),
                ([.init("parent.parent.name"), .init("name", ascending: false)], [5, 3, 2, 1, 4]),
            ]
            for (order, keys) in table {
                try expectEqual(
                    try snapshot.keys(FetchRequest("Node", sortedBy: order)), keys, "the order of \(order)")
                try expectEqual(
                    try snapshot.keys(FetchRequest("Node", sortedBy: order, limit: 2, offset: 1)), Array(keys[1..<3]),
                    "a part of the order of \(order)")
            }
            for key in ["friends", "friends.name", "parent"] {
                try expectError(.invalidRequest, in: "an order by \(key)") {
                    _ = try snapshot.keys(FetchRequest("Node", sortedBy: [.init(key)]))
                }
            }
            try expectError(.unknownProperty, in: "an order by parent.nothing") {
                _ = try snapshot.keys(FetchRequest("Node", sortedBy: [.init("parent.nothing")]))
            }
        },
    ]

    /// Creates a check on a small graph of nodes with beings, and of albums with songs.
    private static func onGraph(
        _ name: String, behavior: String, entity: EntityName, table: [(String, [Int64])],
        also: @escaping @Sendable (any StoreSnapshot) throws -> Void = { _ in }
    ) -> ConformanceCheck {
        ConformanceCheck("queries.graph.\(name)", behavior) { bench in
            let store = try bench.create()
            try store.change { try fillGraph(&$0) }
            try store.view { snapshot in
                for (text, keys) in table { try expectKeys(text, keys: keys, entity: entity, snapshot: snapshot) }
                try also(snapshot)
            }
        }
    }

    /// Inserts nodes a, b, c, a nameless node, and e, with related objects.
    ///
    /// Node a is the parent of b and c. Node b is the parent of the nameless node.
    static func fillGraph(_ changes: inout ChangeSet) throws {
        func id(_ entity: EntityName, key: Int64) -> Value { .objectID(ObjectID(entity, key: key)) }
        let names: [Value] = ["a", "b", "c", .null, "e"]
        let parents: [Int64?] = [nil, 1, 1, 2, nil]
        for index in names.indices {
            try changes.insert(
                ObjectID("Node", key: Int64(index + 1)),
                values: ["name": names[index], "parent": parents[index].map { id("Node", key: $0) } ?? .null])
        }
        for (source, target) in [(1, 2), (1, 3), (2, 4)] as [(Int64, Int64)] {
            try changes.add(Link(source, target), to: RelationshipName("Node", name: "friends"))
        }
        try changes.insert(ObjectID("Dog", key: 1), values: ["name": "Rex", "age": 3, "trait": "old"])
        try changes.insert(ObjectID("Robot", key: 2), values: ["name": "R2", "age": 10])
        try changes.insert(ObjectID("Dog", key: 3), values: [:])
        for (source, target) in [(1, 1), (1, 2), (2, 2), (3, 3)] as [(Int64, Int64)] {
            try changes.add(Link(source, target), to: RelationshipName("Node", name: "owned"))
        }
        try changes.insert(ObjectID("Album", key: 1), values: ["title": "X"])
        try changes.insert(ObjectID("Album", key: 2), values: ["title": "Y"])
        for (key, title, place) in [(1, "one", 1), (2, "two", 2), (3, nil, 0)] as [(Int64, String?, Int64)] {
            try changes.insert(
                ObjectID("Track", key: key),
                values: [
                    "title": title.map { .string($0) } ?? .null, "album": id("Album", key: 1),
                    "album#order": .int(place),
                ])
        }
        try changes.insert(ObjectID("Track", key: 4), values: ["title": "four"])
        for key in Int64(1)...3 { try changes.insert(ObjectID("Playlist", key: key), values: [:]) }
        for (source, target, place) in [(1, 2, 0), (1, 1, 1), (2, 3, 0)] as [(Int64, Int64, Int64)] {
            try changes.add(Link(source, target, order: place), to: RelationshipName("Playlist", name: "tracks"))
        }
    }
}
