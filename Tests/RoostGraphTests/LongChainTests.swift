import Foundation
import Roost
import RoostGraph
import Synchronization
import Testing

/// Long chains of one-to-one relationships, merged on a thread with a small stack.
@Suite("Long chains")
struct LongChainTests {
    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Link", attributes: [.integer64("here"), .integer64("there")],
                relationships: [
                    .toOne("next", to: "Link", inverse: "previous"), .toOne("previous", to: "Link", inverse: "next"),
                ])
        ])
    }

    /// Runs `body` on a thread with a stack of 256 KiB.
    private static func onSmallStack(_ body: @escaping @Sendable () throws -> Void) throws {
        let result = LockedResult()
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            result.set(Result { try body() })
            done.signal()
        }
        thread.stackSize = 256 * 1024
        thread.start()
        done.wait()
        try result.get()
    }

    /// Returns two contexts with all objects of a chain, in order.
    private static func chain(
        of length: Int, policy: MergePolicy
    ) throws -> (PersistentContainer, [(context: ManagedObjectContext, links: [ManagedObject])]) {
        let container = try PersistentContainer(.memory, model: try model())
        let first = container.makeContext("first")
        var links: [ManagedObject] = []
        for _ in 0..<length {
            let link = try first.insert("Link")
            if let last = links.last { link["previous"] = .objectID(last.objectID) }
            links.append(link)
        }
        try first.save()
        let second = container.makeContext("second")
        second.mergePolicy = policy
        let copies = try second.fetch(FetchRequest("Link"))
        for (link, copy) in zip(links, copies) { try #require(link.objectID == copy.objectID) }
        return (container, [(first, links), (second, copies)])
    }

    private static func expectAgreement(_ container: PersistentContainer, count: Int) throws {
        let context = container.makeContext()
        defer { withExtendedLifetime(context) {} }
        let links = try context.fetch(FetchRequest("Link"))
        #expect(links.count == count)
        var wrong = 0
        for link in links {
            if let next = try link.object("next"), try next.object("previous") !== link { wrong += 1 }
            if let previous = try link.object("previous"), try previous.object("next") !== link { wrong += 1 }
        }
        #expect(wrong == 0)
    }

    @Test("changes by two contexts to a chain of 20,000 links merge on a small stack")
    func merging() throws {
        try Self.onSmallStack {
            let length = 20_000
            let (container, sides) = try Self.chain(of: length, policy: .mergeByPropertyObjectTrump)
            for link in sides[0].links { link["there"] = .int(1) }
            for link in sides[1].links { link["here"] = .int(2) }
            try sides[0].context.save()
            try sides[1].context.mergeChanges(updated: sides[0].links.map(\.objectID))
            try sides[1].context.save()
            let fetched = try container.makeContext().fetch(FetchRequest("Link", where: "here == 2 AND there == 1"))
            #expect(fetched.count == length)
            try Self.expectAgreement(container, count: length)
        }
    }

    @Test(
        "a chain that two contexts relinked is consistent after a save on a small stack",
        arguments: [MergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump])
    func conflicts(_ policy: MergePolicy) throws {
        try Self.onSmallStack {
            let length = 3_000
            let (container, sides) = try Self.chain(of: length, policy: policy)
            // Each side removes different links, and closes the gaps.
            for (side, start) in zip(sides, [1, 2]) {
                for position in stride(from: start, to: length - 1, by: 3) {
                    side.links[position - 1]["next"] = .objectID(side.links[position + 1].objectID)
                    side.links[position]["there"] = .int(3)
                }
            }
            try sides[0].context.save()
            try sides[1].context.save()
            #expect(!sides[1].context.hasChanges)
            try Self.expectAgreement(container, count: length)
        }
    }
}

private final class LockedResult: Sendable {
    private let result = Mutex<Result<Void, any Error>>(.success(()))

    func set(_ new: Result<Void, any Error>) { result.withLock { $0 = new } }
    func get() throws { try result.withLock { $0 }.get() }
}
