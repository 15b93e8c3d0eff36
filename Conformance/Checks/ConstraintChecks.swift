internal import Foundation
internal import RoostCore

extension ConformanceCheck {
    static let constraints: [ConformanceCheck] = [
        unique(
            "single", behavior: "Two objects cannot have the same value of a unique attribute; the error names both."
        ) {
            store in
            try store.change { try $0.insert(ObjectID("Account", key: 1), values: ["email": "a@b"]) }
            try expectViolations([
                .init(
                    entity: "Account", attributes: ["email"], rejected: ObjectID("Account", key: 2),
                    existing: ObjectID("Account", key: 1))
            ]) {
                try store.change { changes in
                    try changes.insert(ObjectID("Account", key: 2), values: ["email": "a@b"])
                    try changes.insert(ObjectID("Account", key: 3), values: ["email": "c@d"])
                }
            }
            try expectEqual(try store.view { try $0.objects(of: "Account").map(\.id.key) }, [1], "the accounts")
        },
        unique("update", behavior: "An update to a unique value in use is refused like an insert.") { store in
            try store.change { changes in
                try changes.insert(ObjectID("Account", key: 1), values: ["number": 1])
                try changes.insert(ObjectID("Account", key: 2), values: ["number": 2])
            }
            try expectViolations([
                .init(
                    entity: "Account", attributes: ["number"], rejected: ObjectID("Account", key: 2),
                    existing: ObjectID("Account", key: 1))
            ]) {
                try store.change { try $0.update(ObjectID("Account", key: 2), version: 1, values: ["number": 1]) }
            }
            try expectEqual(
                try store.view { try $0.objects(of: "Account").map(\.values) }, [["number": 1], ["number": 2]],
                "the accounts")
        },
        unique(
            "every-pair",
            behavior:
                "Every rejected object is listed for each constraint that it violates, with the object that has the values."
        ) { store in
            try store.change { changes in
                try changes.insert(ObjectID("Account", key: 1), values: ["email": "a", "number": 1])
                try changes.insert(ObjectID("Account", key: 2), values: ["email": "b", "first": "x", "last": "y"])
            }
            try expectViolations([
                .init(
                    entity: "Account", attributes: ["email"], rejected: ObjectID("Account", key: 3),
                    existing: ObjectID("Account", key: 1)),
                .init(
                    entity: "Account", attributes: ["number"], rejected: ObjectID("Account", key: 4),
                    existing: ObjectID("Account", key: 1)),
                .init(
                    entity: "Account", attributes: ["first", "last"], rejected: ObjectID("Account", key: 4),
                    existing: ObjectID("Account", key: 2)),
            ]) {
                try store.change { changes in
                    try changes.insert(ObjectID("Account", key: 3), values: ["email": "a", "number": 3])
                    try changes.insert(
                        ObjectID("Account", key: 4), values: ["email": "d", "number": 1, "first": "x", "last": "y"])
                }
            }
        },
        unique(
            "three-of-one",
            behavior:
                "If several objects claim one value, each rejected one is listed once, with the object that keeps the value or claimed it first."
        ) { store in
            try store.change { changes in
                try changes.insert(ObjectID("Account", key: 1), values: ["email": "a"])
                try changes.insert(ObjectID("Account", key: 2), values: ["email": "b"])
            }
            func pairs(_ pairs: [(Int64, Int64)]) -> Set<ConstraintViolation> {
                Set(
                    pairs.map {
                        ConstraintViolation(
                            entity: "Account", attributes: ["email"], rejected: ObjectID("Account", key: $0.0),
                            existing: ObjectID("Account", key: $0.1))
                    })
            }
            try expectViolations(pairs([(3, 1), (4, 1), (5, 1), (7, 6), (8, 6)])) {
                try store.change { changes in
                    for (key, email) in [(3, "a"), (4, "a"), (5, "a"), (6, "c"), (7, "c"), (8, "c")]
                        as [(Int64, String)]
                    {
                        try changes.insert(ObjectID("Account", key: key), values: ["email": .string(email)])
                    }
                }
            }
            try expectViolations(pairs([(2, 1), (3, 1)])) {
                try store.change { changes in
                    try changes.insert(ObjectID("Account", key: 3), values: ["email": "a"])
                    try changes.update(ObjectID("Account", key: 2), version: 1, values: ["email": "a"])
                    try changes.update(ObjectID("Account", key: 1), version: 1, values: ["email": "a", "number": 7])
                }
            }
            try expectViolations(pairs([(3, 2)])) {
                try store.change { changes in
                    try changes.insert(ObjectID("Account", key: 3), values: ["email": "a"])
                    try changes.update(ObjectID("Account", key: 2), version: 1, values: ["email": "a"])
                    changes.delete(ObjectID("Account", key: 1), version: 1)
                }
            }
        },
        unique("nulls", behavior: "Nulls never collide, not even in one attribute of a compound constraint.") { store in
            try store.change { changes in
                for key in 1...3 { try changes.insert(ObjectID("Account", key: Int64(key)), values: [:]) }
                for key in 4...6 { try changes.insert(ObjectID("Account", key: Int64(key)), values: ["first": "x"]) }
                for key in 7...9 { try changes.insert(ObjectID("Account", key: Int64(key)), values: ["last": "y"]) }
            }
            try expectEqual(try store.view { try $0.count(FetchRequest("Account")) }, 9, "the number of accounts")
        },
        unique(
            "compound", behavior: "A compound constraint compares each of its attributes, and not their concatenation."
        ) {
            store in
            try store.change { changes in
                try changes.insert(ObjectID("Account", key: 1), values: ["first": "a", "last": "bc"])
                try changes.insert(ObjectID("Account", key: 2), values: ["first": "ab", "last": "c"])
                try changes.insert(ObjectID("Account", key: 3), values: ["first": "a", "last": ""])
                try changes.insert(ObjectID("Account", key: 4), values: ["first": "", "last": "a"])
                try changes.insert(ObjectID("Account", key: 5), values: ["first": "a\u{0}", "last": "x"])
                try changes.insert(ObjectID("Account", key: 6), values: ["first": "a", "last": "\u{0}x"])
            }
            try expectViolations([
                .init(
                    entity: "Account", attributes: ["first", "last"], rejected: ObjectID("Account", key: 7),
                    existing: ObjectID("Account", key: 6))
            ]) {
                try store.change {
                    try $0.insert(ObjectID("Account", key: 7), values: ["first": "a", "last": "\u{0}x"])
                }
            }
        },
        unique("in-one-change-set", behavior: "Two objects of one change set collide with each other.") { store in
            let error = try expectError(.constraintViolation, in: "two equal inserts") {
                try store.change { changes in
                    try changes.insert(ObjectID("Account", key: 1), values: ["email": "same"])
                    try changes.insert(ObjectID("Account", key: 2), values: ["email": "same"])
                }
            }
            try expectEqual(error.violations.count, 1, "the number of violations")
            try expectEqual(
                error.violations.map { Set([$0.rejected, $0.existing]) },
                [[ObjectID("Account", key: 1), ObjectID("Account", key: 2)]], "the pair")
            try expectEqual(try store.view { try $0.count(FetchRequest("Account")) }, 0, "the number of accounts")
        },
        unique("freed-by-delete", behavior: "A unique value that a delete frees can be used in the same change set.") {
            store in
            try store.change { try $0.insert(ObjectID("Account", key: 1), values: ["email": "a", "number": 1]) }
            try store.change { changes in
                try changes.insert(ObjectID("Account", key: 2), values: ["email": "a", "number": 1])
                changes.delete(ObjectID("Account", key: 1), version: 1)
            }
            try expectEqual(try store.view { try $0.objects(of: "Account").map(\.id.key) }, [2], "the accounts")
        },
        unique("freed-by-update", behavior: "A unique value that an update frees can be used in the same change set.") {
            store in
            try store.change { try $0.insert(ObjectID("Account", key: 1), values: ["email": "a"]) }
            try store.change { changes in
                try changes.insert(ObjectID("Account", key: 2), values: ["email": "a"])
                try changes.update(ObjectID("Account", key: 1), version: 1, values: ["email": "b"])
            }
            try expectEqual(
                try store.view { try $0.objects(of: "Account").map { $0.values["email"] } }, ["b", "a"], "the emails")
        },
        unique("swap", behavior: "Two objects can swap their unique values in one change set; three can rotate theirs.")
        {
            store in
            try store.change { changes in
                for key in 1...3 {
                    try changes.insert(ObjectID("Account", key: Int64(key)), values: ["email": .string("\(key)")])
                }
            }
            try store.change { changes in
                try changes.update(ObjectID("Account", key: 1), version: 1, values: ["email": "2"])
                try changes.update(ObjectID("Account", key: 2), version: 1, values: ["email": "1"])
            }
            try expectEqual(
                try store.view { try $0.objects(of: "Account").map { $0.values["email"] } }, ["2", "1", "3"],
                "the emails, swapped")
            try store.change { changes in
                try changes.update(ObjectID("Account", key: 1), version: 2, values: ["email": "1"])
                try changes.update(ObjectID("Account", key: 2), version: 2, values: ["email": "3"])
                try changes.update(ObjectID("Account", key: 3), version: 1, values: ["email": "2"])
            }
            try expectEqual(
                try store.view { try $0.objects(of: "Account").map { $0.values["email"] } }, ["1", "3", "2"],
                "the emails, rotated")
        },
        unique("freed-later", behavior: "A unique value can be used again after its object was deleted or changed.") {
            store in
            try store.change { changes in
                try changes.insert(ObjectID("Account", key: 1), values: ["email": "a"])
                try changes.insert(ObjectID("Account", key: 2), values: ["email": "b"])
            }
            try store.change { changes in
                changes.delete(ObjectID("Account", key: 1), version: 1)
                try changes.update(ObjectID("Account", key: 2), version: 1, values: [:])
            }
            try store.change { changes in
                try changes.insert(ObjectID("Account", key: 3), values: ["email": "a"])
                try changes.insert(ObjectID("Account", key: 4), values: ["email": "b"])
            }
        },
        unique(
            "inherited",
            behavior: "A constraint applies to the objects of its entity and of all subentities together."
        ) { store in
            try store.change { try $0.insert(ObjectID("Admin", key: 1), values: ["email": "a", "badge": 7]) }
            try expectViolations([
                .init(
                    entity: "Account", attributes: ["email"], rejected: ObjectID("Account", key: 2),
                    existing: ObjectID("Admin", key: 1))
            ]) {
                try store.change { try $0.insert(ObjectID("Account", key: 2), values: ["email": "a"]) }
            }
            try expectViolations([
                .init(
                    entity: "Admin", attributes: ["badge"], rejected: ObjectID("Admin", key: 3),
                    existing: ObjectID("Admin", key: 1))
            ]) {
                try store.change { try $0.insert(ObjectID("Admin", key: 3), values: ["badge": 7]) }
            }
            try store.change { try $0.insert(ObjectID("Account", key: 2), values: ["email": "b"]) }
        },
        unique("unchanged-values", behavior: "An update that keeps its own unique values does not collide with itself.")
        {
            store in
            try store.change {
                try $0.insert(ObjectID("Account", key: 1), values: ["email": "a", "first": "x", "last": "y"])
            }
            try store.change {
                try $0.update(
                    ObjectID("Account", key: 1), version: 1,
                    values: ["email": "a", "first": "x", "last": "y", "number": 4])
            }
            try expectEqual(try store.view { try $0.objects(of: "Account").map(\.version) }, [2], "the version")
        },
        unique("by-code-point", behavior: "Unique strings compare by code point: case, composition and length matter.")
        { store in
            let emails = [
                "a", "A", "a ", "\u{E9}", "e\u{301}", "", "a\u{0}", String(repeating: "x", count: 3000),
                String(repeating: "x", count: 3001),
            ]
            try store.change { changes in
                for (index, email) in emails.enumerated() {
                    try changes.insert(ObjectID("Account", key: Int64(index + 1)), values: ["email": .string(email)])
                }
            }
            for (index, email) in emails.enumerated() {
                try expectViolations([
                    .init(
                        entity: "Account", attributes: ["email"], rejected: ObjectID("Account", key: 50),
                        existing: ObjectID("Account", key: Int64(index + 1)))
                ]) {
                    try store.change { try $0.insert(ObjectID("Account", key: 50), values: ["email": .string(email)]) }
                }
            }
        },
        unique("uuid", behavior: "Unique UUIDs collide if all their bytes are equal.") { store in
            let uuid = UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
            let near = UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16))
            try store.change { changes in
                try changes.insert(ObjectID("Account", key: 1), values: ["token": .uuid(uuid)])
                try changes.insert(ObjectID("Account", key: 2), values: ["token": .uuid(near)])
            }
            try expectViolations([
                .init(
                    entity: "Account", attributes: ["token"], rejected: ObjectID("Account", key: 3),
                    existing: ObjectID("Account", key: 1))
            ]) {
                try store.change { try $0.insert(ObjectID("Account", key: 3), values: ["token": .uuid(uuid)]) }
            }
        },
    ]

    private static func unique(
        _ name: String, behavior: String, _ body: @escaping @Sendable (any PersistentStore) throws -> Void
    ) -> ConformanceCheck {
        ConformanceCheck("constraints.\(name)", behavior, needs: [.uniquenessConstraints]) { bench in
            try body(try bench.create())
        }
    }

    private static func expectViolations(_ violations: Set<ConstraintViolation>, _ body: () throws -> Void) throws {
        let error = try expectError(.constraintViolation, in: "the commit", body)
        try expectEqual(error.violations.count, violations.count, "the number of violations, each once")
        try expectEqual(Set(error.violations), violations, "the violations")
    }
}
