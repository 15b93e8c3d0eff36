internal import Foundation
internal import RoostCore
internal import RoostStores

private let tags = RelationshipName("Team", name: "tags")

extension ConformanceCheck {
    /// Histories: the content of transactions.
    static let history: [ConformanceCheck] = [
        ConformanceCheck(
            "history.off",
            "A store records no history by default. Reading or removing its history fails with `invalidRequest`.",
            needs: [.history]
        ) { bench in
            let store = try bench.create(try HistoryModel.model.get())
            try store.addPeople(1...2)
            try store.view { snapshot in
                try expectError(.invalidRequest, in: "the token of a store that records no history") {
                    _ = try snapshot.historyToken()
                }
                try expectError(.invalidRequest, in: "reading a history that is not recorded") {
                    _ = try snapshot.historyCursor(HistoryRequest())
                }
            }
            try expectError(.invalidRequest, in: "removing a history that is not recorded") {
                try store.removeHistory(.everything)
            }
        },
        ConformanceCheck("history.insert", "An insert is recorded with the object's ID.", needs: [.history]) { bench in
            let store = try bench.createRecording()
            try store.addPeople(3...5)
            let transactions = try store.transactions()
            try expectEqual(transactions.count, 1, "the number of transactions")
            try expectEqual(transactions.element(0).kind, .commit, "the kind")
            try expectEqual(
                transactions.element(0).changes.map(brief), ["+Person/p3", "+Person/p4", "+Person/p5"], "the changes")
        },
        ConformanceCheck(
            "history.update.names", "An update is recorded with the names of the properties that changed.",
            needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            let id = ObjectID("Person", key: 1)
            try store.change { try $0.insert(id, values: ["name": "a", "email": "e", "age": .int(1)]) }
            try store.change {
                try $0.update(id, version: 1, values: ["name": "b", "email": "e", "age": .int(2)])
            }
            try store.change { try $0.update(id, version: 2, values: ["name": "b", "age": .int(2)]) }
            try expectEqual(
                try store.transactions().dropFirst().map { $0.changes.map(brief) },
                [["~Person/p1 age,name"], ["~Person/p1 email"]], "the changes")
        },
        ConformanceCheck(
            "history.update.same", "An update to the same values is recorded without a property.", needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            let id = ObjectID("Person", key: 1)
            try store.change { try $0.insert(id, values: ["name": "a"]) }
            try store.change { try $0.update(id, version: 1, values: ["name": "a"]) }
            try expectEqual(
                try store.transactions().last?.changes.map(brief), ["~Person/p1 "], "the changes of the update")
        },
        ConformanceCheck(
            "history.update.reference",
            "A changed reference, or its changed place in an ordered relationship, is recorded with the relationship's name.",
            needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            let (person, team) = (ObjectID("Person", key: 1), ObjectID("Team", key: 1))
            try store.change {
                try $0.insert(person, values: ["name": "a"])
                try $0.insert(team, values: ["title": "t"])
            }
            try store.change {
                try $0.update(
                    person, version: 1, values: ["name": "a", "team": .objectID(team), "team#order": .int(1)])
            }
            try store.change {
                try $0.update(
                    person, version: 2, values: ["name": "a", "team": .objectID(team), "team#order": .int(7)])
            }
            try expectEqual(
                try store.transactions().dropFirst().map { $0.changes.map(brief) },
                [["~Person/p1 team"], ["~Person/p1 team"]], "the changes")
        },
        ConformanceCheck(
            "history.update.composite", "A changed element of a composite is recorded with the composite's name.",
            needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            let id = ObjectID("Person", key: 1)
            try store.change {
                try $0.insert(id, values: ["place": .composite(["street": "s", "number": .int(1)])])
            }
            try store.change {
                try $0.update(id, version: 1, values: ["place": .composite(["street": "s", "number": .int(2)])])
            }
            try expectEqual(
                try store.transactions().last?.changes.map(brief), ["~Person/p1 place"], "the changes of the update")
        },
        ConformanceCheck(
            "history.delete.values",
            "A deletion is recorded with the values of the attributes that the model marks as preserved, and with no other values.",
            needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            let id = ObjectID("Person", key: 1)
            let code = UUID()
            let place = Value.composite(["street": "s", "number": .int(3)])
            try store.change {
                try $0.insert(
                    id, values: ["name": "n", "age": .int(5), "email": "a@b", "code": .uuid(code), "place": place])
                try $0.insert(ObjectID("Person", key: 2), values: ["name": "n"])
            }
            try store.change {
                $0.delete(id, version: 1)
                $0.delete(ObjectID("Person", key: 2), version: 1)
            }
            let changes = try require(try bench.reopen(store).transactions().last, "a transaction").changes
            try expectEqual(changes.map(brief), ["-Person/p1", "-Person/p2"], "the changes")
            try expectEqual(
                changes.element(0).preservedValues, ["email": "a@b", "code": .uuid(code), "place": place], "the values")
            try expectEqual(changes.element(1).preservedValues, [:], "the values of an object without marked values")
        },
        ConformanceCheck(
            "history.delete.exact-values",
            "Preserved values are stored exactly, also empty texts and large texts.",
            needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            let id = ObjectID("Person", key: 1)
            let text = String(repeating: "ä\u{0}\u{1F600}", count: 40_000)
            try store.change {
                try $0.insert(id, values: ["email": .string(text)])
                try $0.insert(ObjectID("Person", key: 2), values: ["email": ""])
            }
            try store.change {
                $0.delete(id, version: 1)
                $0.delete(ObjectID("Person", key: 2), version: 1)
            }
            let changes = try require(try bench.reopen(store).transactions().last, "a transaction").changes
            try expect(changes.element(0).preservedValues == ["email": .string(text)], "the long text")
            try expectEqual(changes.element(1).preservedValues, ["email": ""], "the empty text")
        },
        ConformanceCheck(
            "history.inheritance",
            "Objects of subentities are recorded with their own entity and all their properties.",
            needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            let id = ObjectID("Manager", key: 1)
            try store.change { try $0.insert(id, values: ["name": "a", "rank": .int(1), "email": "m"]) }
            try store.change {
                try $0.update(id, version: 1, values: ["name": "b", "rank": .int(2), "email": "m"])
            }
            try store.change { $0.delete(id, version: 2) }
            let transactions = try store.transactions()
            try expectEqual(
                transactions.map { $0.changes.map(brief) },
                [["+Manager/p1"], ["~Manager/p1 name,rank"], ["-Manager/p1"]], "the changes")
            try expectEqual(
                transactions.element(2).changes.element(0).preservedValues, ["email": "m"], "the inherited value")
        },
        ConformanceCheck(
            "history.mixed",
            "The updates, deletes and inserts of one commit are one transaction, each kind in the order of keys.",
            needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            try store.addPeople(1...4)
            try store.change { changes in
                try changes.insert(ObjectID("Person", key: 9), values: [:])
                try changes.insert(ObjectID("Manager", key: 8), values: [:])
                changes.delete(ObjectID("Person", key: 4), version: 1)
                changes.delete(ObjectID("Person", key: 2), version: 1)
                try changes.update(ObjectID("Person", key: 3), version: 1, values: [:])
                try changes.update(ObjectID("Person", key: 1), version: 1, values: [:])
            }
            try expectEqual(
                try store.transactions().last?.changes.map(brief),
                [
                    "~Person/p1 email,name", "~Person/p3 email,name", "-Person/p2", "-Person/p4", "+Manager/p8",
                    "+Person/p9",
                ], "the changes")
        },
        ConformanceCheck(
            "history.links", "Links that a commit adds, moves and removes are recorded.", needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            try store.change { changes in
                try changes.insert(ObjectID("Team", key: 1), values: [:])
                for key in 1...3 { try changes.insert(ObjectID("Tag", key: Int64(key)), values: [:]) }
                try changes.add(Link(1, 1, order: 1), to: tags)
                try changes.add(Link(1, 2, order: 2), to: tags)
            }
            try store.change { changes in
                try changes.remove(Link(1, 1), from: tags)
                try changes.add(Link(1, 2, order: 9), to: tags)
                // This link is added from the other end.
                try changes.add(Link(3, 1), to: RelationshipName("Tag", name: "teams"))
            }
            let transactions = try store.transactions()
            let owner = try transactions.element(0).linkChanges.element(0).relationship
            try expectEqual(
                transactions.map { $0.linkChanges.map(brief).sorted() },
                owner == tags
                    ? [["+Team.tags 1-1", "+Team.tags 1-2"], ["+Team.tags 1-2", "+Team.tags 1-3", "-Team.tags 1-1"]]
                    : [["+Tag.teams 1-1", "+Tag.teams 2-1"], ["+Tag.teams 2-1", "+Tag.teams 3-1", "-Tag.teams 1-1"]],
                "the links")
        },
        ConformanceCheck(
            "history.links.no-effect", "Links that a commit does not change are not recorded.", needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            try store.change { changes in
                try changes.insert(ObjectID("Team", key: 1), values: [:])
                try changes.insert(ObjectID("Tag", key: 1), values: [:])
                try changes.add(Link(1, 1, order: 1), to: tags)
            }
            try store.change { changes in
                try changes.add(Link(1, 1, order: 1), to: tags)
                try changes.remove(Link(1, 5), from: tags)
            }
            try store.change { changes in
                changes.userMetadata["a"] = .int(1)
                try changes.add(Link(1, 1, order: 1), to: tags)
            }
            let transactions = try store.transactions()
            try expectEqual(transactions.map(\.linkChanges.count), [1, 0], "the numbers of links")
        },
        ConformanceCheck(
            "history.links.deleted",
            "A deletion implies the removal of the object's links. The removed links are not recorded.",
            needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            try store.change { changes in
                try changes.insert(ObjectID("Team", key: 1), values: [:])
                try changes.insert(ObjectID("Tag", key: 1), values: [:])
                try changes.add(Link(1, 1, order: 1), to: tags)
            }
            try store.change { $0.delete(ObjectID("Tag", key: 1), version: 1) }
            let last = try require(try store.transactions().last, "a transaction")
            try expectEqual(last.changes.map(brief), ["-Tag/p1"], "the changes")
            try expectEqual(last.linkChanges.map(brief), [], "the links")
        },
        ConformanceCheck(
            "history.author",
            "A transaction has the author and the context name of its commit, or nil if the commit has none.",
            needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            try store.addPeople(1...1)
            try store.change { changes in
                changes.author = "Ünal"
                changes.contextName = "import"
                try changes.insert(ObjectID("Tag", key: 1), values: [:])
            }
            try store.change { changes in
                changes.author = ""
                try changes.insert(ObjectID("Tag", key: 2), values: [:])
            }
            let transactions = try bench.reopen(store).transactions()
            try expectEqual(transactions.map(\.author), [nil, "Ünal", ""], "the authors")
            try expectEqual(transactions.map(\.contextName), [nil, "import", nil], "the contexts")
        },
        ConformanceCheck(
            "history.author.batch", "Batch requests record their author and every object.", needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            var insert = BatchInsertRequest("Person", rows: [["name": "a"], ["name": "b"]])
            insert.author = "inserter"
            _ = try store.execute(insert)
            var update = BatchUpdateRequest("Person", set: ["age": .constant(5)])
            update.author = "updater"
            _ = try store.execute(update)
            var delete = BatchDeleteRequest(FetchRequest("Person"))
            delete.author = "deleter"
            _ = try store.execute(delete)
            let transactions = try store.transactions()
            try expectEqual(transactions.map(\.author), ["inserter", "updater", "deleter"], "the authors")
            try expectEqual(transactions.map(\.changes.count), [2, 2, 2], "the numbers of changes")
            try expectEqual(
                transactions.element(1).changes.element(0).changedProperties, ["age"], "the changed properties")
        },
        ConformanceCheck(
            "history.empty", "A refused commit, and a commit that changes nothing, record nothing.",
            needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            try store.addPeople(1...1)
            let token = try store.historyToken()
            try store.change { _ in }
            try expectError(.conflict, in: "a stale update") {
                try store.change {
                    try $0.update(ObjectID("Person", key: 1), version: 5, values: [:])
                    try $0.insert(ObjectID("Person", key: 2), values: [:])
                }
            }
            _ = try store.reserveKeys(5, for: "Person")
            try expectEqual(try store.historyToken(), token, "the token")
            try expectEqual(try store.transactions().count, 1, "the number of transactions")
        },
        ConformanceCheck(
            "history.metadata", "A commit of user metadata alone is a transaction without changes.", needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            try store.change { $0.userMetadata["a"] = .int(1) }
            let transactions = try store.transactions()
            try expectEqual(transactions.map(\.changes.count), [0], "the numbers of changes")
        },
        ConformanceCheck(
            "history.whole-load", "A load into an empty store is one transaction that lists no objects.",
            needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            let token = try store.historyToken()
            var options = BulkLoadOptions()
            options.author = "loader"
            let loader = try store.bulkLoader(options)
            var batch = RecordBatch(model: store.model)
            for key in 1...2000 {
                try batch.append(ObjectID("Person", key: Int64(key)), version: 1, values: ["name": "n"])
            }
            try loader.append(batch)
            _ = try loader.finish()
            let transactions = try bench.reopen(store).transactions(after: token)
            try expectEqual(transactions.map(\.kind), [.wholeLoad], "the kinds")
            try expectEqual(transactions.element(0).author, "loader", "the author")
            try expectEqual(transactions.element(0).changes.count, 0, "the number of changes")
        },
        ConformanceCheck(
            "history.load", "A load into a store with objects records each new object and link.", needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            try store.change { changes in
                try changes.insert(ObjectID("Team", key: 1), values: [:])
                try changes.insert(ObjectID("Tag", key: 1), values: [:])
            }
            let token = try store.historyToken()
            let loader = try store.bulkLoader(BulkLoadOptions())
            var batch = RecordBatch(model: store.model)
            for key in [5, 3, 4] as [Int64] { try batch.append(ObjectID("Person", key: key), version: 1, values: [:]) }
            try loader.append(batch)
            let relationship = try store.model.requireLinkRelationship(tags)
            try loader.append(
                LinkBatch(
                    relationship: relationship.owner,
                    links: [relationship.isFlipped ? Link(1, 1, inverseOrder: 1) : Link(1, 1, order: 1)]))
            _ = try loader.finish()
            let transactions = try store.transactions(after: token)
            try expectEqual(transactions.map(\.kind), [.load], "the kinds")
            try expectEqual(
                transactions.element(0).changes.map(brief).sorted(), ["+Person/p3", "+Person/p4", "+Person/p5"],
                "the changes")
            try expectEqual(transactions.element(0).linkChanges.count, 1, "the number of links")
        },
        ConformanceCheck(
            "history.load.abandoned", "An abandoned load and an empty load record nothing.", needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            try store.addPeople(1...1)
            let token = try store.historyToken()
            let loader = try store.bulkLoader(BulkLoadOptions())
            var batch = RecordBatch(model: store.model)
            for key in 2...40_000 {
                try batch.append(ObjectID("Tag", key: Int64(key) * 1_000_000), version: 1, values: [:])
            }
            try loader.append(batch)
            loader.abandon()
            _ = try store.bulkLoader(BulkLoadOptions()).finish()
            try expectEqual(try store.historyToken(), token, "the token")
            try store.addPeople(2...2)
            try expectEqual(try store.transactions().count, 2, "the number of transactions")
        },
        ConformanceCheck(
            "history.large", "A transaction of many changes is read in several parts, and no change is lost.",
            needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            let token = try store.historyToken()
            let count: Int64 = 30_000
            try store.change { changes in
                for key in 1...count {
                    try changes.insert(ObjectID("Tag", key: key * 1_000_000), values: [:])
                }
            }
            try store.addPeople(1...1)
            try bench.reopen(store).view { snapshot in
                let cursor = try snapshot.historyCursor(HistoryRequest(after: token))
                var (keys, isComplete, first) = ([Int64](), [Bool](), [HistoryToken]())
                while let transaction = try cursor.next() {
                    guard transaction.changes.first?.id.entity != "Person" else { break }
                    keys += transaction.changes.map(\.id.key)
                    isComplete.append(transaction.isComplete)
                    first.append(transaction.token)
                }
                try expect(isComplete.count > 1, "more than one part", otherwise: "\(isComplete.count)")
                try expectEqual(
                    isComplete, isComplete.indices.map { $0 == isComplete.count - 1 }, "which parts are complete")
                try expectEqual(keys, (1...count).map { $0 * 1_000_000 }, "the keys")
                try expect(
                    first.dropLast().allSatisfy { $0 == token } && first.last != token,
                    "only the last token is after the transaction")
                let rest = try snapshot.transactions(HistoryRequest(after: try require(first.last, "a token")))
                try expectEqual(rest.map { $0.changes.count }, [1], "the changes after the token")
            }
        },
        ConformanceCheck(
            "history.replay", "Applying a history to the earlier content gives the current content.", needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            var random = SeededGenerator(seed: 91)
            var versions: [ObjectID: UInt32] = [:]
            var replayed: Set<ObjectID> = []
            var token = try store.historyToken()
            for round in 0..<60 {
                try store.change { changes in
                    for id in versions.keys.sorted(by: { $0.key < $1.key })
                    where Int.random(in: 0..<4, using: &random) == 0 {
                        let version = versions[id] ?? 1
                        if Bool.random(using: &random) {
                            changes.delete(id, version: version)
                            versions[id] = nil
                        } else {
                            try changes.update(id, version: version, values: ["age": .int(Int64(round))])
                            versions[id] = version + 1
                        }
                    }
                    for number in 0..<Int.random(in: 0..<5, using: &random) {
                        let name: EntityName = Bool.random(using: &random) ? "Person" : "Manager"
                        let id = ObjectID(name, key: Int64(round * 10 + number + 1))
                        try changes.insert(id, values: ["age": .int(0)])
                        versions[id] = 1
                    }
                }
                guard round % 7 == 0 || round == 59 else { continue }
                for transaction in try store.transactions(after: token) {
                    for change in transaction.changes {
                        switch change.kind {
                        case .insert:
                            try expect(replayed.insert(change.id).inserted, "an insert of a new object")
                        case .update: try expect(replayed.contains(change.id), "an update of an object that exists")
                        case .delete:
                            try expect(replayed.remove(change.id) != nil, "a deletion of an object that exists")
                        }
                    }
                    token = transaction.token
                }
                try expectEqual(replayed, Set(versions.keys), "the objects after replaying")
            }
        },
        ConformanceCheck(
            "history.digest", "A history changes neither contents nor digest of its store.", needs: [.history, .digest]
        ) { bench in
            let recording = try bench.createRecording()
            let plain = try bench.create(try HistoryModel.model.get(), name: "plain")
            for store in [recording, plain] {
                try store.addPeople(1...9)
                try store.change { $0.delete(ObjectID("Person", key: 3), version: 1) }
            }
            try expectEqual(try recording.recordedTally().digest, try plain.recordedTally().digest, "the digest")
            try expectEqual(try recording.contents(), try plain.contents(), "the contents")
            try expectEqual(try checkStore(recording).map(\.message), [], "the findings")
        },
    ]
}
