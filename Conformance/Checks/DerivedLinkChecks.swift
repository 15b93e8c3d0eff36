internal import RoostCore

private let songs = RelationshipName("Album", name: "songs")
private let children = RelationshipName("Node", name: "children")

extension ConformanceCheck {
    /// To-many relationships that are derived from a to-one inverse.
    static let derived: [ConformanceCheck] = [
        linked(
            "from-to-one",
            behavior: "The members of a to-many relationship with a to-one inverse are the objects that refer back.",
            group: "derived"
        ) { store in
            try store.change { changes in
                for (key, parent) in [(11, 1), (12, 2), (13, 1), (14, 1)] as [(Int64, Int64)] {
                    try changes.insert(
                        ObjectID("Node", key: key), values: ["parent": .objectID(ObjectID("Node", key: parent))])
                }
            }
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.targets(of: children, from: ObjectID("Node", key: 1)), [11, 13, 14],
                    "the children of 1")
                try expectEqual(
                    try snapshot.targets(of: children, from: ObjectID("Node", key: 2)), [12], "the children of 2")
                try expectEqual(
                    try snapshot.targets(of: children, from: ObjectID("Node", key: 3)), [], "the children of 3")
                let links = try snapshot.drain(snapshot.links(of: children, from: ObjectID("Node", key: 1)))
                try expectEqual(links.map(\.source), [1, 1, 1], "the sources")
            }
        },
        linked(
            "moves",
            behavior:
                "A derived to-many relationship follows every update of its to-one inverse: to another object, to null, and back.",
            group: "derived"
        ) { store in
            try store.change {
                try $0.insert(ObjectID("Node", key: 11), values: ["parent": .objectID(ObjectID("Node", key: 1))])
            }
            func parents() throws -> [[Int64]] {
                try store.view { snapshot in
                    try [1, 2].map { try snapshot.targets(of: children, from: ObjectID("Node", key: $0)) }
                }
            }
            try expectEqual(try parents(), [[11], []], "the children of 1 and 2")
            try store.change {
                try $0.update(
                    ObjectID("Node", key: 11), version: 1, values: ["parent": .objectID(ObjectID("Node", key: 2))])
            }
            try expectEqual(try parents(), [[], [11]], "after moving to 2")
            try store.change { try $0.update(ObjectID("Node", key: 11), version: 2, values: [:]) }
            try expectEqual(try parents(), [[], []], "after leaving")
            try store.change {
                try $0.update(
                    ObjectID("Node", key: 11), version: 3, values: ["parent": .objectID(ObjectID("Node", key: 1))])
            }
            try expectEqual(try parents(), [[11], []], "after coming back")
            try store.change { $0.delete(ObjectID("Node", key: 11), version: 4) }
            try expectEqual(try parents(), [[], []], "after the delete")
        },
        linked(
            "ordered",
            behavior:
                "An ordered derived relationship is sorted by the positions that the members store, then by key. It follows updates.",
            group: "derived"
        ) { store in
            func song(_ place: Int64) -> [String: Value] {
                ["album": .objectID(ObjectID("Album", key: 1)), "album#order": .int(place)]
            }
            try store.change { changes in
                for (key, place) in [(51, 30), (52, -7), (53, 30), (54, .max), (55, .min), (56, 0)] as [(Int64, Int64)]
                {
                    try changes.insert(ObjectID("Track", key: key), values: song(place))
                }
            }
            try expectEqual(
                try store.view { try $0.targets(of: songs, from: ObjectID("Album", key: 1)) },
                [55, 52, 56, 51, 53, 54],
                "the songs in order")
            try store.change { changes in
                try changes.update(ObjectID("Track", key: 54), version: 1, values: song(-100))
                try changes.update(
                    ObjectID("Track", key: 55), version: 1,
                    values: ["album": .objectID(ObjectID("Album", key: 2)), "album#order": 1])
            }
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.targets(of: songs, from: ObjectID("Album", key: 1)), [54, 52, 56, 51, 53],
                    "the songs after moving")
                try expectEqual(
                    try snapshot.targets(of: songs, from: ObjectID("Album", key: 2)), [55],
                    "the songs of the other album")
            }
        },
        linked(
            "reflexive", behavior: "A derived relationship works within one entity, and an object may refer to itself.",
            group: "derived"
        ) {
            store in
            try store.change {
                try $0.insert(ObjectID("Node", key: 20), values: ["parent": .objectID(ObjectID("Node", key: 20))])
            }
            try expectEqual(
                try store.view { try $0.targets(of: children, from: ObjectID("Node", key: 20)) }, [20],
                "the children of 20")
        },
        linked(
            "dangling",
            behavior:
                "A to-one reference to a deleted object stays and is dangling. The inverse to-many relationship of the deleted object has no members.",
            group: "derived"
        ) { store in
            try store.change {
                try $0.insert(ObjectID("Node", key: 11), values: ["parent": .objectID(ObjectID("Node", key: 1))])
            }
            try store.change { $0.delete(ObjectID("Node", key: 1), version: 1) }
            try store.view { snapshot in
                let object = try require(try snapshot.object(ObjectID("Node", key: 11)), "the object")
                try expectEqual(object.values["parent"], .objectID(ObjectID("Node", key: 1)), "the reference")
                try expectEqual(object.version, 1, "the version")
                try expectEqual(
                    try snapshot.objects(with: [ObjectID("Node", key: 1)]).count, 0,
                    "the number of objects that it refers to")
                try expectEqual(
                    try snapshot.targets(of: children, from: ObjectID("Node", key: 1)), [],
                    "the children of the deleted object")
            }
        },
        linked(
            "many", behavior: "Thousands of referring objects come back complete and in key order.", group: "derived"
        ) {
            store in
            let keys = (1000..<9000).map { Int64($0) }
            try store.change { changes in
                for key in keys.shuffledForChecks {
                    try changes.insert(
                        ObjectID("Node", key: key), values: ["parent": .objectID(ObjectID("Node", key: key % 2 + 1))])
                }
            }
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.targets(of: children, from: ObjectID("Node", key: 1)), keys.filter { $0 % 2 == 0 },
                    "the children of 1")
            }
        },
        linked(
            "polymorphic-reference",
            behavior: "A to-one reference to an entity with subentities keeps the concrete entity.",
            group: "derived"
        ) { store in
            try store.change { changes in
                try changes.insert(ObjectID("Dog", key: 1), values: [:])
                try changes.insert(ObjectID("Robot", key: 2), values: [:])
                try changes.insert(ObjectID("Indexed", key: 1), values: ["owner": .objectID(ObjectID("Dog", key: 1))])
                try changes.insert(ObjectID("Indexed", key: 2), values: ["owner": .objectID(ObjectID("Robot", key: 2))])
            }
            let owners = try store.view { try $0.objects(of: "Indexed").map { $0.values["owner"] } }
            try expectEqual(
                owners, [.objectID(ObjectID("Dog", key: 1)), .objectID(ObjectID("Robot", key: 2))], "the owners")
        },
    ]
}
