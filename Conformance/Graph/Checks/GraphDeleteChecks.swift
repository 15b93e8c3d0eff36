internal import RoostCore
internal import RoostGraph
internal import RoostPredicates
internal import RoostQuery

extension GraphCheck {
    /// Delete rules.
    static let deletion: [GraphCheck] = [
        GraphCheck(
            "delete.nullify",
            "With nullify, deleting the owner sets the other side's reference to null at the end of the event.", .apple
        ) { bench in
            let container = try bench.makeContainer()
            let ids = try makeOwner(in: container, bench: bench, with: ["Part": "parts"])
            for atOnce in [false, true] {
                let context = container.makeContext()
                context.propagatesDeletesAtEndOfEvent = !atOnce
                let owner = try context.existingObject(with: ids[0])
                let part = try context.existingObject(with: ids[1])
                context.delete(owner)
                try expect(owner.isDeleted && context.deletedObjects == [owner], "the owner is deleted")
                if !atOnce {
                    try expect(try part.object("owner") === owner, "the reference before the end of the event")
                    context.processPendingChanges()
                }
                try expect(try part.object("owner") == nil, "the reference afterwards")
                try expect(part.isUpdated, "the other side is updated")
                if atOnce { try context.save() } else { context.rollback() }
                if !atOnce { try expect(try part.object("owner") === owner, "the reference after a rollback") }
            }
            try expectEqual(try bench.storedCount("Owner", in: container), 0, "the stored owners")
            try expectEqual(
                try bench.storedValues(ids[1], in: container)?["owner"] ?? .null, .null, "the stored reference")
        },
        GraphCheck(
            "delete.cascade-cycle", "Deleting one object in a cycle of cascades deletes all of them, each once.", .apple
        ) { bench in
            let container = try bench.makeContainer()
            var ids: [ObjectID] = []
            try bench.change(container) { context in
                let rings = try (0..<5).map { _ in try context.insert("Ring") }
                for (index, ring) in rings.enumerated() { try ring.setObject(rings[(index + 1) % 5], for: "next") }
                ids = rings.map(\.objectID)
            }
            let context = container.makeContext()
            var notices: [SaveNotice] = []
            let token = context.observeSaves { notices.append($0) }
            context.delete(context.object(with: ids[2]))
            context.processPendingChanges()
            try expectEqual(context.deletedObjects.count, 5, "the deleted objects")
            try context.save()
            try expectEqual(
                notices.flatMap(\.deleted).map(\.key).sorted(), ids.map(\.key).sorted(), "the deletes of the notice")
            try expectEqual(try bench.storedCount("Ring", in: container), 0, "the stored objects")
            withExtendedLifetime(token) {}
        },
        GraphCheck(
            "delete.deny-at-save",
            "With deny, deleting an owner that has a member fails only at the save. The error names both objects, and the context keeps its changes.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            let ids = try makeOwner(in: container, bench: bench, with: ["Guard": "guards"])
            let context = container.makeContext()
            let owner = try context.existingObject(with: ids[0])
            context.delete(owner)
            context.processPendingChanges()
            try expect(owner.isDeleted, "the delete itself succeeds")
            let error = try expectError(.validationFailed, .deleteDenied, in: "the save") { try context.save() }
            try expectEqual(error.failures.map(\.kind), [.deleteDenied(ids[1])], "the failures")
            try expectEqual(error.failures.map(\.subject), [.object(ids[0])], "the objects that fail")
            try expect(
                error.message.contains("\(ids[0])") && error.message.contains("\(ids[1])"),
                "both objects in the message",
                otherwise: error.message)
            try expect(owner.isDeleted && context.hasChanges, "the context keeps the delete")
            try expectEqual(try bench.storedCount("Owner", in: container), 1, "the stored owners")
            context.rollback()
            try expect(!owner.isDeleted, "not deleted after a rollback")
        },
        GraphCheck(
            "delete.deny-lifted",
            "With deny, deleting an owner succeeds if its members are removed, or deleted too, in either order.", .apple
        ) {
            bench in
            for order in [[0, 1], [1, 0]] {
                let container = try bench.makeContainer(name: "store\(order[0])")
                let ids = try makeOwner(in: container, bench: bench, with: ["Guard": "guards"])
                let context = container.makeContext()
                for index in order {
                    context.delete(try context.existingObject(with: ids[index]))
                    context.processPendingChanges()
                }
                try context.save()
                try expectEqual(try bench.storedCount("Owner", in: container), 0, "the stored owners")
                try expectEqual(try bench.storedCount("Guard", in: container), 0, "the stored members")
            }
            let container = try bench.makeContainer(name: "moved")
            let ids = try makeOwner(in: container, bench: bench, with: ["Guard": "guards"])
            let context = container.makeContext()
            context.delete(try context.existingObject(with: ids[0]))
            context.processPendingChanges()
            try context.existingObject(with: ids[1]).setObject(nil, for: "owner")
            try context.save()
            try expectEqual(try bench.storedCount("Guard", in: container), 1, "the member that was taken out")
        },
        GraphCheck(
            "delete.cascade-with-deny-back",
            "With cascade from parent to child and deny from child to parent, deleting the parent deletes both.", .apple
        ) { bench in
            let container = try bench.makeContainer()
            var ids: [ObjectID] = []
            try bench.change(container) { context in
                let (parent, child) = (try context.insert("Parent"), try context.insert("Child"))
                try child.setObject(parent, for: "parent")
                ids = [parent.objectID, child.objectID]
            }
            let context = container.makeContext()
            let child = try context.existingObject(with: ids[1])
            context.delete(child)
            try expectError(.validationFailed, .deleteDenied, in: "a save of the child's delete") { try context.save() }
            context.rollback()
            context.delete(try context.existingObject(with: ids[0]))
            try context.save()
            try expectEqual(try bench.storedCount("Parent", in: container), 0, "the stored parents")
            try expectEqual(try bench.storedCount("Child", in: container), 0, "the stored children")
        },
        GraphCheck(
            "delete.no-action",
            "With noAction, after the owner's delete is saved, the member's reference points to an inaccessible fault.",
            .apple
        ) { bench in
            let container = try bench.makeContainer(try GraphModel.noAction.get())
            var ids: [ObjectID] = []
            try bench.change(container) { context in
                let (host, guest) = (try context.insert("Host"), try context.insert("Guest"))
                try guest.setObject(host, for: "host")
                ids = [host.objectID, guest.objectID]
            }
            let context = container.makeContext()
            let guest = try context.existingObject(with: ids[1])
            context.delete(context.object(with: ids[0]))
            context.processPendingChanges()
            try expect(!guest.isUpdated, "the member is unchanged")
            try context.save()
            try expectEqual(
                try bench.storedValues(ids[1], in: container)?["host"], .objectID(ids[0]), "the stored reference")
            let other = container.makeContext()
            let host = try require(
                try other.existingObject(with: ids[1]).object("host"), "an object that the reference points to")
            try expect(host.isFault && !host.isDeleted, "a fault")
            try expectEqual(host["name"], .null, "its name")
            try expect(host.isDeleted, "the fault is inaccessible")
            try other.existingObject(with: ids[1]).setObject(nil, for: "host")
            try other.save()
        },
        GraphCheck(
            "delete.mandatory-inverse",
            "If nullify clears a mandatory reference of an object, the save reports `missing` for the object, unless it is deleted too.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            let ids = try makeOwner(in: container, bench: bench, with: ["Must": "musts"])
            let context = container.makeContext()
            context.delete(try context.existingObject(with: ids[0]))
            let error = try expectError(.validationFailed, in: "the save") { try context.save() }
            try expectEqual(error.failures.map(\.kind), [.missing], "the failures")
            try expectEqual(error.failures.map(\.subject), [.object(ids[1])], "the object that fails")
            try expectEqual(error.failures.map(\.property), ["owner"], "the property that fails")
            context.delete(try context.existingObject(with: ids[1]))
            try context.save()
            try expectEqual(try bench.storedCount("Must", in: container), 0, "the stored members")
        },
        GraphCheck(
            "delete.prepare", "Two calls of delete call prepareForDeletion twice, before propagation.", .apple
        ) { bench in
            let container = try bench.makeContainer()
            var id = ObjectID("Draft", key: 1)
            try bench.change(container) { context in
                let (first, second): (Draft, Draft) = (try context.insert(), try context.insert())
                first.next = second
                id = first.objectID
            }
            let context = container.makeContext()
            let draft = try require(try context.existingObject(with: id) as? Draft, "a draft")
            let next = try require(draft.next, "its next one")
            context.delete(draft)
            context.delete(draft)
            try expectEqual(
                draft.calls, ["prepareForDeletion true", "prepareForDeletion true"], "the calls, with the relationship")
            context.processPendingChanges()
            try expectEqual(draft.calls.count, 2, "the calls after propagation")
            try expect(next.before == nil, "the other side after propagation")
            try context.save()
            try expectEqual(try bench.storedCount("Draft", in: container), 1, "the stored objects")
        },
        GraphCheck(
            "delete.concurrent-reference",
            "If a context sets a reference to an object and another context deletes the object first, the save of the reference fails and names both objects. No dangling reference is stored.",
            .roost
        ) { bench in
            let container = try bench.makeContainer()
            let ids = try makeOwner(in: container, bench: bench, with: [:])
            var part = ObjectID("Part", key: 1)
            try bench.change(container) { part = try $0.insert("Part").objectID }
            let context = container.makeContext()
            let member = try context.existingObject(with: part)
            try member.setObject(try context.existingObject(with: ids[0]), for: "owner")
            try bench.change(container) { $0.delete(try $0.existingObject(with: ids[0])) }
            let error = try expectError(.objectNotFound, .conflict, in: "the save") { try context.save() }
            try expectEqual(error.missingObjects, [ids[0]], "the missing objects")
            try expect(
                error.message.contains("\(ids[0])") && error.message.contains("\(part)"), "both objects in the message",
                otherwise: error.message)
            try expectEqual(
                try bench.storedValues(part, in: container)?["owner"] ?? .null, .null, "the stored reference")
            try member.setObject(nil, for: "owner")
            member["name"] = "free"
            try context.save()
            try expectEqual(
                try bench.storedValues(part, in: container)?["name"], "free", "the stored name after a repair")
        },
        GraphCheck(
            "delete.concurrent-delete",
            "If a context deletes an object to which another context sets a reference first, no dangling reference is stored: the reference is cleared, or the save fails.",
            .roost
        ) { bench in
            for rule in [("Part", "parts"), ("Leaf", "leaves"), ("Must", "musts"), ("Guard", "guards")]
                as [(EntityName, String)]
            {
                let container = try bench.makeContainer(name: "store-\(rule.0)")
                let ids = try makeOwner(in: container, bench: bench, with: [:])
                let context = container.makeContext()
                context.delete(try context.existingObject(with: ids[0]))
                context.processPendingChanges()
                var member = ObjectID(rule.0, key: 1)
                try bench.change(container) { other in
                    let object = try other.insert(rule.0)
                    try object.setObject(try other.existingObject(with: ids[0]), for: "owner")
                    member = object.objectID
                }
                do {
                    try context.save()
                    let reference = try bench.storedValues(member, in: container)?["owner"] ?? .null
                    try expectEqual(reference, .null, "the stored reference of \(rule.0), since the delete was saved")
                } catch let error as StoreError {
                    try expect(
                        [.deleteDenied, .validationFailed, .conflict].contains(error.code), "an expected error code",
                        otherwise: "\(error)")
                    try expectEqual(try bench.storedCount("Owner", in: container), 1, "the stored owners")
                    context.rollback()
                    try expect(
                        try context.existingObject(with: ids[0]).isDeleted == false, "not deleted after a rollback")
                }
            }
        },
    ]

    /// Saves an owner and a member of each named entity, and returns their IDs, the owner's first.
    private static func makeOwner(
        in container: PersistentContainer, bench: GraphBench, with members: [EntityName: String]
    ) throws -> [ObjectID] {
        var ids: [ObjectID] = []
        try bench.change(container) { context in
            let owner = try context.insert("Owner")
            ids = [owner.objectID]
            for (entity, relationship) in members {
                let member = try context.insert(entity)
                var set = try owner.objects(relationship)
                set.insert(member)
                ids.append(member.objectID)
            }
        }
        return ids
    }
}
