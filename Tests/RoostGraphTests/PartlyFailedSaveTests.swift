import Roost
import RoostCore
import RoostGraph
import RoostStores
import Testing

@testable import RoostConformance

/// Contexts after a save that failed in one of several stores or for one of several objects.
@Suite("Partly failed saves")
struct PartlyFailedSaveTests {
    /// A saved object in each of two stores.
    private struct TwoStores {
        /// The meter of the second store.
        let meter = StoreMeter()
        let container: PersistentContainer
        let context: ManagedObjectContext
        let left: ManagedObject
        let right: ManagedObject

        init() throws {
            let model = try ManagedObjectModel(
                entities: [
                    EntityDescription("Left", attributes: [.string("name")]),
                    EntityDescription("Right", attributes: [.string("name")]),
                ], configurations: ["left": ["Left"], "right": ["Right"]])
            let first = try PersistentContainer(.memory, model: model).stores[0]
            let base = try PersistentContainer(.memory, model: model).stores[0].persistentStore
            container = try PersistentContainer(
                [first, try Store(MeteredStore(base, meter: meter), registry: StoreRegistry([base.type]))],
                configurations: ["left", "right"])
            context = container.makeContext()
            (left, right) = (try context.insert("Left"), try context.insert("Right"))
            try context.save()
        }

        func expectEditable() throws {
            #expect(context.updatedObjects == [right])
            left["name"] = "edited"
            #expect(try context.fetch(FetchRequest("Left")) == [left])
            try context.save()
            #expect(!context.hasChanges)
            let other = container.makeContext()
            #expect(try other.existingObject(with: left.objectID)["name"] == .string("edited"))
            #expect(try other.existingObject(with: right.objectID)["name"] == .string("r"))
        }
    }

    @Test("after the second of two stores refuses a save, an object of the first store can be edited and saved")
    func editAfterFailure() throws {
        let stores = try TwoStores()
        (stores.left["name"], stores.right["name"]) = ("l", "r")
        stores.meter.failNextCommit()
        #expect(throws: StoreError.self) { try stores.context.save() }
        try stores.expectEditable()
    }

    @Test("after the second of two stores refuses a background save, an object of the first store can be saved")
    func editAfterFailureInBackground() async throws {
        let stores = try TwoStores()
        let context = stores.context
        (stores.left["name"], stores.right["name"]) = ("l", "r")
        stores.meter.failNextCommit()
        await #expect(throws: StoreError.self) { try await context.saveInBackground() }
        try stores.expectEditable()
    }

    @Test("after the second of two stores refuses a save, nothing is left of an object deleted in the first store")
    func deleteBeforeFailure() throws {
        let stores = try TwoStores()
        let context = stores.context
        stores.left["name"] = "edited"
        context.delete(stores.left)
        stores.right["name"] = "r"
        stores.meter.failNextCommit()
        #expect(throws: StoreError.self) { try context.save() }
        #expect(stores.left.context == nil)
        #expect(try context.fetch(FetchRequest("Left")).isEmpty)
        try context.save()
        #expect(!context.hasChanges)
        #expect(try stores.container.makeContext().count(FetchRequest("Left")) == 0)
    }

    @Test("a save that a policy refuses for one duplicate keeps all duplicates pending", arguments: ["a", "b"])
    func refusedDuplicate(_ refused: String) throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Tag", attributes: [.string("name")], uniquenessConstraints: [["name"]])
        ])
        let container = try PersistentContainer(.memory, model: model)
        func insertTags(into context: ManagedObjectContext) throws -> Set<ManagedObject> {
            let tags = (try context.insert("Tag"), try context.insert("Tag"))
            (tags.0["name"], tags.1["name"]) = ("a", "b")
            return [tags.0, tags.1]
        }
        let first = container.makeContext()
        _ = try insertTags(into: first)
        try first.save()
        let context = container.makeContext()
        let tags = try insertTags(into: context)
        context.mergePolicy = MergePolicy(
            "keepsOneTag", resolve: { _ in .fail },
            resolveConstraint: { $0.pending["name"] == .string(refused) ? .fail : .keepStored })
        let error = #expect(throws: StoreError.self) { try context.save() }
        #expect(error?.code == .constraintViolation)
        #expect(context.insertedObjects == tags)
        context.mergePolicy = .mergeByPropertyStoreTrump
        try context.save()
        #expect(try context.count(FetchRequest("Tag")) == 2 && !context.hasChanges)
    }

    @Test(
        "a save moves no members if a read fails while the save merges duplicates into stored objects",
        arguments: 0..<8)
    func readErrorOfMembers(countBefore: Int) throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Tag", attributes: [.string("name")], relationships: [.toMany("items", to: "Item")],
                uniquenessConstraints: [["name"]]),
            EntityDescription("Item", attributes: [.string("name")]),
            EntityDescription("Photo", superentity: "Item"),
        ])
        let meter = StoreMeter()
        let container = try meter.makeContainer(.memory, model: model)
        let (first, context) = (container.makeContext(), container.makeContext())
        let stored = try ["a", "b"].map { name in
            let (tag, item) = (try first.insert("Tag"), try first.insert("Item"))
            (tag["name"], item["name"]) = (.string(name), .string(name))
            return (tag: tag, item: item)
        }
        try first.save()
        // The context keeps the first item, and releases the second one.
        let kept = try context.existingObject(with: stored[0].item.objectID)
        let tags = try stored.map { pair in
            let tag = try context.insert("Tag")
            tag["name"] = pair.tag["name"]
            var items = try tag.objects("items")
            items.insert(try context.existingObject(with: pair.item.objectID))
            return tag
        }
        context.processPendingChanges()
        try #require(context.registeredObject(for: stored[1].item.objectID) == nil)
        context.mergePolicy = .mergeByPropertyStoreTrump
        meter.beforeNextCommit { meter.failNextRead(after: countBefore) }
        do throws(StoreError) { try context.save() } catch {
            #expect(context.insertedObjects == Set(tags))
            #expect(try tags[0].objects("items").map(\.objectID) == [kept.objectID])
            try context.save()
        }
        #expect(meter.endReadFailure() || countBefore > 1)
        let other = container.makeContext()
        for pair in stored {
            let items = try other.existingObject(with: pair.tag.objectID).objects("items")
            #expect(items.map(\.objectID) == [pair.item.objectID])
        }
    }

    @Test("a save that merges duplicates into stored objects redirects all references to and between the duplicates")
    func referencesToDuplicates() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Word", attributes: [.string("text")],
                relationships: [
                    .toOne("root", to: "Word", inverse: "branches"), .toMany("branches", to: "Word", inverse: "root"),
                    .toMany("similar", to: "Word"),
                ], uniquenessConstraints: [["text"]])
        ])
        let container = try PersistentContainer(.memory, model: model)
        func insert(_ text: String, into context: ManagedObjectContext) throws -> ManagedObject {
            let word = try context.insert("Word")
            word["text"] = .string(text)
            return word
        }
        let first = container.makeContext()
        let stored = (a: try insert("a", into: first), b: try insert("b", into: first))
        try first.save()
        let context = container.makeContext()
        context.mergePolicy = .mergeByPropertyObjectTrump
        let (a, b) = (try insert("a", into: context), try insert("b", into: context))
        let new = try insert("new", into: context)
        try a.setObject(b, for: "root")
        try new.setObject(a, for: "root")
        var similar = (b: try b.objects("similar"), new: try new.objects("similar"))
        similar.b.insert(a)
        similar.new.insert(a)
        similar.new.insert(b)
        try context.save()
        #expect(a.context == nil && b.context == nil && !context.hasChanges)
        let other = container.makeContext()
        #expect(try other.count(FetchRequest("Word")) == 3)
        let shown = try other.existingObject(with: new.objectID)
        #expect(shown["root"] == .objectID(stored.a.objectID))
        let ids = try shown.objects("similar").map(\.objectID)
        #expect(Set(ids) == [stored.a.objectID, stored.b.objectID])
        #expect(try other.existingObject(with: stored.a.objectID)["root"] == .objectID(stored.b.objectID))
        let last = try other.existingObject(with: stored.b.objectID)
        #expect(try last.objects("similar").map(\.objectID) == [stored.a.objectID])
    }
}
