internal import Foundation
internal import RoostCore

extension ConformanceCheck {
    /// Orders by attributes of related objects, by folded text, and by localized text.
    static let sorting: [ConformanceCheck] = [
        ConformanceCheck(
            "fetch.sort.paths",
            "Objects sort by attributes of related objects, through to-one relationships. A missing object sorts as null."
        ) { bench in
            let store = try bench.create()
            try store.change { changes in
                try changes.insert(ObjectID("Dog", key: 1), values: ["name": "b", "age": 3])
                try changes.insert(ObjectID("Robot", key: 2), values: ["name": "a", "age": 3])
                try changes.insert(ObjectID("Dog", key: 3), values: ["name": .null, "age": 1])
                let owners: [Int64?] = [1, nil, 2, 3, 1, 2]
                for (index, owner) in owners.enumerated() {
                    let entity: EntityName = owner == 2 ? "Robot" : "Dog"
                    try changes.insert(
                        ObjectID("Indexed", key: Int64(index + 1)),
                        values: [
                            "owner": owner.map { .objectID(ObjectID(entity, key: $0)) } ?? .null,
                            "i64": .int(Int64(-index)),
                        ])
                }
                for (index, parent) in ([nil, 1, 2, 2, 1] as [Int64?]).enumerated() {
                    try changes.insert(
                        ObjectID("Node", key: Int64(index + 1)),
                        values: [
                            "name": .string(["root", "left", "x", "y", "right"][index]),
                            "parent": parent.map { .objectID(ObjectID("Node", key: $0)) } ?? .null,
                        ])
                }
            }
            try store.view { snapshot in
                func keys(_ entity: EntityName, _ order: FetchRequest.SortDescriptor..., window: Range<Int>? = nil)
                    throws -> [Int64]
                {
                    try snapshot.keys(
                        FetchRequest(
                            entity, sortedBy: order, limit: window.map(\.count), offset: window?.lowerBound ?? 0))
                }
                try expectEqual(try keys("Indexed", .init("owner.name")), [2, 4, 3, 6, 1, 5], "by the owner's name")
                try expectEqual(
                    try keys("Indexed", .init("owner.name", ascending: false)), [1, 5, 3, 6, 2, 4], "downwards")
                try expectEqual(
                    try keys("Indexed", .init("owner.age", ascending: false), .init("i64")), [6, 5, 3, 1, 4, 2],
                    "by two levels")
                for start in 0..<7 {
                    try expectEqual(
                        try keys("Indexed", .init("owner.name"), window: start..<start + 2),
                        Array([2, 4, 3, 6, 1, 5].dropFirst(start).prefix(2)), "the window from \(start)")
                }
                try expectEqual(
                    try keys("Node", .init("parent.parent.name"), .init("parent.name"), .init("name")),
                    [1, 2, 5, 3, 4], "through two relationships")
                try expectEqual(
                    try snapshot.count(FetchRequest("Indexed", sortedBy: [.init("owner.name")])), 6, "the count")
            }
        },
        ConformanceCheck(
            "fetch.sort.folded", "On request, a text sort ignores case and diacritics by the rules of Unicode."
        ) { bench in
            try texts(bench, texts: ["b", "É", "e", "E", "\u{1E}", "ẞ", "ss", "a", nil, "\u{C5}", "z"]) { keys in
                // É, e and E are equal after folding, so the key decides.
                try expectEqual(
                    try keys([.caseInsensitive, .diacriticInsensitive]), [9, 5, 8, 10, 1, 2, 3, 4, 6, 7, 11],
                    "without case and diacritics")
                try expectEqual(
                    try keys(.caseInsensitive), [9, 5, 8, 1, 3, 4, 6, 7, 11, 10, 2], "without case")
                try expectEqual(
                    try keys(.diacriticInsensitive), [9, 5, 10, 2, 4, 8, 1, 3, 7, 11, 6], "without diacritics")
                try expectEqual(try keys([]), [9, 5, 4, 8, 1, 3, 7, 11, 10, 2, 6], "by code point")
                try expectEqual(try keys(.normalized), try keys([]), "as normalized")
            }
        },
        ConformanceCheck(
            "fetch.sort.localized",
            "The localized standard order compares runs of digits as numbers, and diacritics and case last."
        ) { bench in
            let sorted: [String?] = [
                nil, "", "1", "01", "2a", "10", "10b", "file 2", "File 2", "file 010", "file 10", "résumé", "resumes",
                "x99999999999999999999999999999", "x100000000000000000000000000000",
            ]
            let order = sorted.indices.map { $0 * 4 % sorted.count }
            try texts(bench, texts: order.map { sorted[$0] }) { keys in
                let found = try keys(.localized).map { sorted[order[Int($0) - 1]] }
                let expected: [String?] = [
                    nil, "", "01", "1", "2a", "10", "10b", "File 2", "file 2", "file 010", "file 10", "résumé",
                    "resumes", "x99999999999999999999999999999", "x100000000000000000000000000000",
                ]
                try expectEqual(found, expected, "the localized standard order")
            }
        },
        ConformanceCheck(
            "fetch.sort.errors",
            "An order through a to-many relationship, or by a type without an order, is refused before the first record."
        ) { bench in
            let store = try bench.create()
            try store.view { snapshot in
                for (entity, key, code) in [
                    ("Album", "songs.title", .invalidRequest), ("Track", "tags", .invalidRequest),
                    ("Track", "album", .invalidRequest), ("Track", "album.shelf", .invalidRequest),
                    ("Track", "album.nothing", .unknownProperty), ("Track", "title.length", .invalidRequest),
                    ("Track", "album.", .unknownProperty), ("Track", "", .unknownProperty),
                    ("Indexed", "place", .invalidRequest), ("Indexed", "owner.legs", .unknownProperty),
                    ("Album", "songs.@count", .invalidRequest),
                ] as [(EntityName, String, StoreError.Code)] {
                    let request = FetchRequest(entity, sortedBy: [.init(key)])
                    try expectError(code, in: "fetch of \(entity) by '\(key)'") { _ = try snapshot.fetch(request) }
                    try expectError(code, in: "count of \(entity) by '\(key)'") { _ = try snapshot.count(request) }
                }
            }
        },
    ]

    /// Creates objects of `Everything` and `Indexed` with these texts, and runs `body` for each
    /// entity.
    ///
    /// The keys are 1, 2, 3 and so on. `body` receives a function that sorts the objects by text
    /// with given options and returns their keys.
    private static func texts(
        _ bench: Workbench, texts: [String?],
        _ body: ((FetchRequest.Comparison.Options) throws -> [Int64]) throws -> Void
    ) throws {
        let store = try bench.create()
        try store.change { changes in
            for (index, text) in texts.enumerated() {
                for entity in ["Everything", "Indexed"] as [EntityName] {
                    try changes.insert(
                        ObjectID(entity, key: Int64(index + 1)), values: ["str": text.map { .string($0) } ?? .null])
                }
            }
        }
        try store.view { snapshot in
            for entity in ["Everything", "Indexed"] as [EntityName] {
                try body { options in
                    try snapshot.keys(FetchRequest(entity, sortedBy: [.init("str", options: options)]))
                }
            }
        }
    }
}
