internal import RoostCore
internal import RoostGraph
internal import RoostPredicates
internal import RoostQuery

extension GraphCheck {
    /// A saved person, named A with salary 10, that two contexts change.
    private struct Salary {
        let container: PersistentContainer
        let context: ManagedObjectContext
        let person: Person
        let bench: GraphBench

        init(_ bench: GraphBench, name: String = "store") throws {
            self.bench = bench
            container = try bench.makeContainer(name: name)
            var id = ObjectID("Person", key: 1)
            try bench.change(container) { context in
                let person: Person = try context.insert()
                (person.name, person.salary) = ("A", 10)
                id = person.objectID
            }
            context = container.makeContext("this")
            person = try require(try context.existingObject(with: id) as? Person, "a person")
        }

        /// Lets another context save changes.
        func changeThere(_ body: (Person, ManagedObjectContext) throws -> Void) throws {
            try bench.change(container) { other in try body(try other.existingObject(person.id), other) }
        }

        func stored() throws -> [Value?] {
            let values = try bench.storedValues(person.objectID, in: container)
            return [values?["name"], values?["salary"]]
        }

        /// Fails unless the context and the store have this name and this salary, and nothing is
        /// pending.
        func expectBoth(_ name: Value, salary: Value) throws {
            try expectEqual([person["name"], person["salary"]], [name, salary], "the values in the context")
            try expectEqual(try stored(), [name, salary], "the stored values")
            try expect(!context.hasChanges && !person.hasChanges, "no changes are pending")
            try expectEqual(
                person.version, try bench.storedVersion(person.objectID, in: container), "the version in the context")
        }
    }

    static let conflicts: [GraphCheck] = [
        GraphCheck(
            "merge.error",
            "If another context changed the object, the save throws conflict with the stored record, and writes nothing. After a refresh with merging, the save succeeds.",
            .apple
        ) { bench in
            let salary = try Salary(bench)
            let (context, person) = (salary.context, salary.person)
            try salary.changeThere { person, _ in (person.name, person.salary) = ("B", 50) }
            person.name = "C"
            let genre: Genre = try context.insert()
            let before = try bench.generation(of: salary.container)
            for _ in 0..<2 {
                let error = try expectError(.conflict, in: "the save") { try context.save() }
                let conflict = try require(error.conflicts.first, "a conflict")
                try expectEqual(error.conflicts.count, 1, "the number of conflicts")
                try expectEqual(conflict.id, person.objectID, "the object in conflict")
                try expectEqual(conflict.expectedVersion, 1, "the version as read")
                let theirs = try require(conflict.current, "the record in the store").values()
                try expectEqual([theirs["name"], theirs["salary"]], ["B", 50], "theirs")
                try expectEqual(
                    try person.committedValues(["name", "salary"]), ["name": "A", "salary": 10], "the base")
                try expectEqual([person["name"], person["salary"]], ["C", 10], "mine")
            }
            try expectEqual(try bench.generation(of: salary.container), before, "the generation")
            try expect(person.isUpdated && genre.isInserted, "everything is pending")
            try context.refresh(person, mergingChanges: true)
            try expectEqual([person["name"], person["salary"]], ["C", 50], "the values after the refresh")
            try context.save()
            try salary.expectBoth("C", salary: 50)
        },
        GraphCheck(
            "merge.store-trump",
            "With mergeByPropertyStoreTrump, properties that the other context changed keep their stored values. This context's changes of other properties are saved.",
            .apple
        ) { bench in
            let salary = try Salary(bench)
            salary.context.mergePolicy = .mergeByPropertyStoreTrump
            try salary.changeThere { person, _ in person.name = "B" }
            (salary.person.name, salary.person.salary) = ("C", 99)
            try salary.context.save()
            try salary.expectBoth("B", salary: 99)
        },
        GraphCheck(
            "merge.object-trump",
            "With mergeByPropertyObjectTrump, the properties that this context changed are saved. Other properties get the stored values.",
            .apple
        ) {
            bench in
            let salary = try Salary(bench)
            salary.context.mergePolicy = .mergeByPropertyObjectTrump
            try salary.changeThere { person, _ in (person.name, person.salary) = ("B", 50) }
            salary.person.name = "C"
            try salary.context.save()
            try salary.expectBoth("C", salary: 50)
        },
        GraphCheck(
            "merge.overwrite",
            "With overwrite, the store gets the whole object of this context, and the other context's changes are lost.",
            .apple
        ) { bench in
            let salary = try Salary(bench)
            salary.context.mergePolicy = .overwrite
            try salary.changeThere { person, _ in (person.name, person.salary) = ("B", 50) }
            salary.person.name = "C"
            try salary.context.save()
            try salary.expectBoth("C", salary: 10)
        },
        GraphCheck(
            "merge.rollback", "With rollback, the context gets the stored object, and no changes are pending.", .apple
        ) { bench in
            let salary = try Salary(bench)
            salary.context.mergePolicy = .rollback
            try salary.changeThere { person, _ in (person.name, person.salary) = ("B", 50) }
            salary.person.name = "C"
            try salary.context.save()
            try salary.expectBoth("B", salary: 50)
            try expectEqual(salary.person.changedValues(), [:], "the changed values")
        },
        GraphCheck(
            "merge.references",
            "The policies resolve a conflict of to-one references on both sides of the relationship, in the context and in the store.",
            .roost
        ) { bench in
            let policies: [(MergePolicy, String)] = [
                (.mergeByPropertyStoreTrump, "theirs"), (.mergeByPropertyObjectTrump, "mine"), (.overwrite, "mine"),
                (.rollback, "theirs"),
            ]
            for (policy, winner) in policies {
                let salary = try Salary(bench, name: "store-\(policy.name)")
                var ids: [String: ObjectID] = [:]
                try bench.change(salary.container) { other in
                    for name in ["base", "mine", "theirs"] {
                        let team = try other.insert("Team")
                        (team["name"], ids[name]) = (.string(name), team.objectID)
                    }
                    try other.existingObject(salary.person.id).team = other.object(
                        with: try require(ids["base"], "an ID"))
                }
                try salary.context.refresh(salary.person, mergingChanges: true)
                salary.context.mergePolicy = policy
                let teams = try ids.mapValues { try salary.context.existingObject(with: $0) }
                for team in teams.values { _ = try team.objects("members").count }
                try salary.changeThere { person, other in
                    person.team = other.object(with: try require(ids["theirs"], "an ID"))
                }
                salary.person.team = teams["mine"]
                try salary.context.save()
                let context = "with \(policy.name)"
                try expectEqual(salary.person.team?["name"], .string(winner), "the team \(context)")
                try expectEqual(
                    try bench.storedValues(salary.person.objectID, in: salary.container)?["team"],
                    ids[winner].map { .objectID($0) }, "the stored team \(context)")
                for (name, team) in teams {
                    try expectEqual(
                        try team.objects("members").count, name == winner ? 1 : 0,
                        "the members of team '\(name)' \(context)")
                }
                try expect(
                    !salary.context.hasChanges, "no changes \(context)", otherwise: "\(salary.context.updatedObjects)")
            }
        },
        GraphCheck(
            "merge.deleted-there",
            "If another context deleted an object that this context changed, policy error fails. Object trump and overwrite save the object. Store trump and rollback accept the delete.",
            .roost
        ) { bench in
            for policy in policies {
                let salary = try Salary(bench, name: "store-\(policy.name)")
                let (context, person, id) = (salary.context, salary.person, salary.person.objectID)
                context.mergePolicy = policy
                try salary.changeThere { person, other in other.delete(person) }
                person.name = "C"
                let text = "with \(policy.name)"
                switch policy.name {
                case "error":
                    let error = try expectError(.conflict, in: "the save") { try context.save() }
                    try expectEqual(error.conflicts.map(\.id), [id], "the objects in conflict")
                    try expect(error.conflicts.first?.current == nil, "no record in the store")
                    try expect(person.isUpdated, "the change is pending")
                case "mergeByPropertyObjectTrump", "overwrite":
                    try context.save()
                    try expectEqual(try salary.stored(), ["C", 10], "the stored values \(text)")
                    try expect(!context.hasChanges && !person.isInserted, "no changes \(text)")
                    try expectEqual(person.objectID, id, "the ID \(text)")
                    person.name = "D"
                    try context.save()
                    try expectEqual(try salary.stored(), ["D", 10], "the stored values of another save \(text)")
                default:
                    try context.save()
                    try expectEqual(
                        try bench.storedCount("Person", in: salary.container), 0, "the stored persons \(text)")
                    try expect(!context.hasChanges && person.context == nil, "the object left the context \(text)")
                }
            }
        },
        GraphCheck(
            "merge.deleted-here",
            "If another context changed an object that this context deleted, policy error fails. Object trump and overwrite delete it. Store trump and rollback restore it with the stored values.",
            .roost
        ) { bench in
            for policy in policies {
                let salary = try Salary(bench, name: "store-\(policy.name)")
                let (context, person) = (salary.context, salary.person)
                context.mergePolicy = policy
                try salary.changeThere { person, _ in person.name = "B" }
                context.delete(person)
                let text = "with \(policy.name)"
                switch policy.name {
                case "error":
                    let error = try expectError(.conflict, in: "the save") { try context.save() }
                    try expectEqual(error.conflicts.map(\.id), [person.objectID], "the objects in conflict")
                    try expect(person.isDeleted && context.hasChanges, "the delete is pending")
                case "mergeByPropertyObjectTrump", "overwrite":
                    try context.save()
                    try expectEqual(
                        try bench.storedCount("Person", in: salary.container), 0, "the stored persons \(text)")
                    try expect(person.context == nil && !context.hasChanges, "the object left the context \(text)")
                default:
                    try context.save()
                    try expect(!person.isDeleted && person.context === context, "the object is restored \(text)")
                    try salary.expectBoth("B", salary: 10)
                    try expectEqual(try context.fetch(Fetch<Person>()), [person], "a fetch \(text)")
                }
            }
        },
        GraphCheck(
            "merge.custom",
            "A custom policy can apply both changes of a number, fail, accept the stored object or delete it.", .roost
        ) {
            bench in
            let salary = try Salary(bench)
            salary.context.mergePolicy = MergePolicy("sum") { (conflict: MergeConflict) throws(StoreError) in
                guard var mine = conflict.mine, let theirs = conflict.theirs,
                    case .int(let old)? = conflict.base["salary"],
                    case .int(let here)? = mine["salary"], case .int(let there)? = theirs["salary"]
                else { return .fail }
                mine["salary"] = .int(here + there - old)
                return .keep(mine)
            }
            try salary.changeThere { person, _ in person.salary = 15 }
            salary.person.salary = 12
            try salary.context.save()
            try salary.expectBoth("A", salary: 17)
            salary.context.mergePolicy = MergePolicy("fail") { _ in .fail }
            try salary.changeThere { person, _ in person.salary = 1 }
            salary.person.salary = 2
            try expectError(.conflict, in: "a save that the policy lets fail") { try salary.context.save() }
            salary.context.mergePolicy = MergePolicy("theirs") { _ in .acceptTheirs }
            try salary.context.save()
            try salary.expectBoth("A", salary: 1)
            salary.context.mergePolicy = MergePolicy("delete") { _ in .delete }
            try salary.changeThere { person, _ in person.salary = 3 }
            salary.person.salary = 4
            try salary.context.save()
            try expectEqual(try bench.storedCount("Person", in: salary.container), 0, "the stored persons")
        },
        GraphCheck(
            "merge.detect",
            "After detectConflicts(for:), the save fails if another context changed the object, even if this context did not change it.",
            .apple
        ) { bench in
            let salary = try Salary(bench)
            salary.context.detectConflicts(for: salary.person)
            let genre: Genre = try salary.context.insert()
            try salary.changeThere { person, _ in person.name = "B" }
            for policy in [.error, .mergeByPropertyObjectTrump] as [MergePolicy] {
                salary.context.mergePolicy = policy
                let error = try expectError(.conflict, in: "the save with \(policy.name)") { try salary.context.save() }
                try expectEqual(error.conflicts.map(\.id), [salary.person.objectID], "the objects in conflict")
                try expect(genre.isInserted, "the insert is pending")
            }
            try salary.context.refresh(salary.person, mergingChanges: false)
            try salary.context.save()
            try expectEqual(salary.person.name, "B", "the name after a refresh")
            salary.context.detectConflicts(for: salary.person)
            genre.name = "new"
            try salary.context.save()
            try expectEqual(salary.person.version, 2, "the version of an unchanged object")
        },
        GraphCheck(
            "merge.without-conflict",
            "A save of an object that another context did not change needs no policy, whatever else that context changed.",
            .apple
        ) { bench in
            let salary = try Salary(bench)
            var other = ObjectID("Person", key: 1)
            try bench.change(salary.container) { context in
                let person: Person = try context.insert()
                other = person.objectID
            }
            try bench.change(salary.container) { try $0.existingObject(with: other)["name"] = "Z" }
            salary.person.name = "C"
            try salary.context.save()
            try salary.expectBoth("C", salary: 10)
        },
    ]

    private static let policies: [MergePolicy] = [
        .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ]

    static let constraintConflicts: [GraphCheck] = [
        GraphCheck(
            "merge.unique",
            "On an insert with a unique value in use, policy error throws constraintViolation with the IDs of both objects. Object trump: the stored object keeps its identity and gets the new values, the duplicate is removed, and references to the duplicate point to the stored object. Store trump: the stored object keeps its values.",
            .both, needs: [.uniquenessConstraints]
        ) { bench in
            for policy in policies {
                let container = try bench.makeContainer(try GraphModel.accounts.get(), name: "store-\(policy.name)")
                var stored = ObjectID("Account", key: 1)
                try bench.change(container) { context in
                    let account = try context.insert("Account")
                    (account["email"], account["note"], account["count"]) = ("a@b", "stored", 1)
                    stored = account.objectID
                }
                let context = container.makeContext()
                context.mergePolicy = policy
                let mine = try context.insert("Account")
                (mine["email"], mine["note"]) = ("a@b", "mine")
                let entry = try context.insert("Entry")
                try entry.setObject(mine, for: "account")
                try entry.setObject(mine, for: "seenBy")
                let text = "with \(policy.name)"
                guard policy.name != "error" else {
                    let error = try expectError(.constraintViolation, in: "the save") { try context.save() }
                    let violation = try require(error.violations.first, "a violation")
                    try expectEqual(error.violations.count, 1, "the number of violations")
                    try expectEqual([violation.rejected, violation.existing], [mine.objectID, stored], "both sides")
                    try expectEqual(violation.attributes, ["email"], "the attributes")
                    try expect(mine.isInserted && entry.isInserted, "the inserts are pending")
                    mine["email"] = "c@d"
                    try context.save()
                    try expectEqual(try bench.storedCount("Account", in: container), 2, "the accounts after a repair")
                    continue
                }
                try context.save()
                try expect(!context.hasChanges, "no changes \(text)", otherwise: "\(context.registeredObjects)")
                try expectEqual(try bench.storedCount("Account", in: container), 1, "the stored accounts \(text)")
                let isMine = policy.name == "mergeByPropertyObjectTrump" || policy.name == "overwrite"
                let values = try bench.storedValues(stored, in: container)
                try expectEqual(values?["note"], isMine ? "mine" : "stored", "the stored note \(text)")
                try expectEqual(values?["email"], "a@b", "the stored unique value \(text)")
                let survivor = try context.existingObject(with: stored)
                try expectEqual(survivor["note"], isMine ? "mine" : "stored", "the note in the context \(text)")
                try expect(mine.context == nil, "the duplicate left the context \(text)")
                try expect(try entry.object("account") === survivor, "the reference in the context \(text)")
                try expect(try entry.object("seenBy") === survivor, "the one-way reference in the context \(text)")
                try expectEqual(Array(try survivor.objects("entries")), [entry], "the entries in the context \(text)")
                let entryValues = try bench.storedValues(entry.objectID, in: container)
                try expectEqual(
                    [entryValues?["account"], entryValues?["seenBy"]], [.objectID(stored), .objectID(stored)],
                    "the stored references \(text)")
            }
        },
        GraphCheck(
            "merge.unique-update",
            "An update to a unique value in use fails with the IDs of both objects, and writes nothing. Exchanging two unique values in one save succeeds.",
            .roost, needs: [.uniquenessConstraints]
        ) { bench in
            let container = try bench.makeContainer(try GraphModel.accounts.get())
            let context = container.makeContext()
            let accounts = try ["a", "b"].map { email in
                let account = try context.insert("Account")
                account["email"] = .string(email)
                return account
            }
            try context.save()
            accounts[1]["email"] = "a"
            let error = try expectError(.constraintViolation, in: "the save") { try context.save() }
            try expectEqual(error.violations.map(\.rejected), [accounts[1].objectID], "the rejected object")
            try expectEqual(error.violations.map(\.existing), [accounts[0].objectID], "the object that has the value")
            accounts[0]["email"] = "b"
            try context.save()
            try expectEqual(
                try bench.storedValues(accounts[0].objectID, in: container)?["email"], "b", "one stored value")
            try expectEqual(try bench.storedValues(accounts[1].objectID, in: container)?["email"], "a", "the other one")
            let twins = try (0..<2).map { _ in
                let account = try context.insert("Account")
                account["email"] = "twin"
                return account
            }
            try expectError(.constraintViolation, in: "a save of two new objects with one value") { try context.save() }
            context.delete(twins[0])
            try context.save()
            // A save may use a unique value of an object that it deletes.
            context.delete(accounts[0])
            accounts[1]["email"] = "b"
            try context.save()
            try expectEqual(try bench.storedCount("Account", in: container), 2, "the stored accounts")
        },
    ]
}
