import Foundation
import Roost
import RoostCore
import Testing

@Suite("Lists of related objects in upserts")
struct MemberListTests {
    private typealias Node = NodeSample.Node

    private let folder = Result { try Folder() }

    private func sample(_ type: String, isOrdered: Bool = true) throws -> (NodeSample, [ObjectID]) {
        let sample = try NodeSample(type, in: try folder.get(), isOrdered: isOrdered)
        return (sample, sample.nodes)
    }

    private func parent(_ number: Int, in sample: NodeSample) throws -> Value? {
        try sample.store.record(sample.nodes[number])?["parent"]
    }

    // MARK: Owners

    @Test(
        "an object that a list leaves out gets the owner that its own row names", arguments: Sample.types,
        [false, true])
    func ownRow(type: String, isOrdered: Bool) throws {
        let (sample, n) = try sample(type, isOrdered: isOrdered)
        try sample.store.update("Node", set: ["parent": .objectID(n[0])], where: "code == 2")
        try sample.verify()
        try sample.save(Node(code: 0, children: []), Node(code: 2, parent: n[1], children: []))
        #expect(try parent(2, in: sample) == .objectID(n[1]))
        try sample.verify()
        // This time, the object's own row comes before the row with the list.
        try sample.save(Node(code: 2, parent: n[0], children: []), Node(code: 1, children: []))
        #expect(try parent(2, in: sample) == .objectID(n[0]))
        try sample.verify()
    }

    @Test("an object that an upsert's list leaves out loses its owner", arguments: Sample.types, [false, true])
    func leftOut(type: String, isOrdered: Bool) throws {
        let (sample, n) = try sample(type, isOrdered: isOrdered)
        try sample.save(Node(code: 0, children: [n[1], n[2]]))
        try sample.save(Node(code: 0, children: [n[2]]))
        #expect(try parent(1, in: sample) == .null)
        #expect(try parent(2, in: sample) == .objectID(n[0]))
        try sample.verify()
    }

    @Test("an upsert can put an object into its own list of children", arguments: Sample.types, [false, true])
    func ownList(type: String, isOrdered: Bool) throws {
        let (sample, n) = try sample(type, isOrdered: isOrdered)
        try sample.save(Node(code: 3, children: [n[3], n[4]]))
        #expect(try parent(3, in: sample) == .objectID(n[3]))
        #expect(try sample.order("children", of: 3) == [3, 4])
        try sample.verify()
    }

    @Test(
        "an object in several lists of an upsert gets the last list's owner", arguments: Sample.types, [false, true])
    func lastList(type: String, isOrdered: Bool) throws {
        let (sample, n) = try sample(type, isOrdered: isOrdered)
        for (first, last) in [(0, 1), (1, 0)] {
            try sample.save(Node(code: first, children: [n[5], n[4]]), Node(code: last, children: [n[4], n[5]]))
            #expect(try sample.order("children", of: first) == [])
            #expect(try sample.order("children", of: last) == [4, 5])
            try sample.verify()
        }
    }

    @Test(
        "a new object takes over an object that another list of the upsert leaves out", arguments: Sample.types,
        [false, true])
    func newOwner(type: String, isOrdered: Bool) throws {
        let (sample, n) = try sample(type, isOrdered: isOrdered)
        try sample.save(Node(code: 1, children: [n[4], n[5]]))
        let new = try sample.save(Node(code: 9, children: [n[4]]), Node(code: 1, children: [n[5]])).objectIDs?.first
        #expect(try parent(4, in: sample) == .objectID(try #require(new)))
        #expect(try sample.order("children", of: 1) == [5])
        try sample.verify()
        try sample.store.delete("Node", where: "code == 9")
        #expect(try parent(4, in: sample) == .null)
        try sample.verify()
    }

    // MARK: Links

    @Test("a relationship that is its own inverse can be set from both objects at once", arguments: Sample.types)
    func bothSides(type: String) throws {
        let (sample, n) = try sample(type)
        try sample.save(
            Node(code: 0, friends: [n[1], n[2], n[0]]), Node(code: 1, friends: [n[0]]), Node(code: 2, friends: [n[0]]))
        #expect(try (0...3).map { try sample.numbers("friends", of: $0) } == [[0, 1, 2], [0], [0], []])
        try sample.verify()
        try sample.save(Node(code: 0, friends: []), Node(code: 1, friends: []))
        #expect(try (0...3).map { try sample.numbers("friends", of: $0) } == [[], [], [], []])
        try sample.verify()
    }

    @Test(
        "links can be set from both ends of a many-to-many relationship in one upsert", arguments: Sample.types,
        [false, true])
    func bothEnds(type: String, isOrdered: Bool) throws {
        let (sample, n) = try sample(type, isOrdered: isOrdered)
        try sample.save(
            Node(code: 0, follows: [n[1], n[2]]), Node(code: 1, followers: [n[0]]),
            Node(code: 2, followers: [n[0], n[3]]))
        #expect(try (0...3).map { try sample.numbers("follows", of: $0) } == [[1, 2], [], [], [2]])
        #expect(try (0...3).map { try sample.numbers("followers", of: $0) } == [[], [0], [0, 3], []])
        try sample.verify()
        try sample.save(Node(code: 0, follows: []), Node(code: 1, followers: []))
        #expect(try (0...3).map { try sample.numbers("followers", of: $0) } == [[], [], [3], []])
        try sample.verify()
    }

    @Test("an insert creates the links that a new object's lists name", arguments: Sample.types, [false, true])
    func newLinks(type: String, isOrdered: Bool) throws {
        let (sample, n) = try sample(type, isOrdered: isOrdered)
        try sample.store.insert([Node(code: 9, friends: [n[1]], follows: [n[0], n[1]])])
        #expect(
            try sample.store.members("friends", of: n[1]) == sample.store.fetch("Node", where: "code == 9").map(\.id))
        #expect(try (0...1).map { try sample.store.members("followers", of: n[$0]).count } == [1, 1])
        try sample.verify()
    }

    @Test(
        "derived attributes follow updates and deletes of the objects in a list", arguments: Sample.types,
        [false, true])
    func changedMembers(type: String, isOrdered: Bool) throws {
        let (sample, n) = try sample(type, isOrdered: isOrdered)
        try sample.save(
            Node(code: 0, children: [n[1], n[2]], friends: [n[0], n[1], n[5]], follows: [n[3], n[4]]),
            Node(code: 1, children: [n[3]], friends: [n[0], n[5]], followers: [n[4]]))
        try sample.verify()
        try sample.store.update("Node", set: "code = code + 100")
        try sample.verify()
        try sample.store.delete("Node", where: "code == 101")
        try sample.verify()
        try sample.store.delete("Node", where: "code > 102")
        #expect(try sample.store.count("Node") == 2)
        try sample.verify()
    }

    // MARK: Results

    @Test(
        "an upsert of values just read changes nothing", arguments: Sample.types, [false, true])
    func roundTrip(type: String, isOrdered: Bool) throws {
        let (sample, n) = try sample(type, isOrdered: isOrdered)
        try sample.save(
            Node(code: 0, children: [n[2], n[1]], friends: [n[1], n[0]], follows: [n[4], n[2], n[0]]),
            Node(code: 3, children: [n[3], n[5]], friends: [n[4]], followers: [n[5], n[1]], next: n[3]))
        let digest = try sample.store.digest()
        let all = try sample.store.fetch(Node.self)
        #expect(all.count == 6)
        #expect(try sample.store.insert(all, onConflict: .update).count == 0)
        #expect(try sample.store.digest() == digest)
        try sample.verify()
    }

    @Test("an upsert's list sets the order of an ordered relationship", arguments: Sample.types)
    func listOrder(type: String) throws {
        let (sample, n) = try sample(type)
        try sample.save(Node(code: 0, children: [n[2], n[1]], follows: [n[4], n[3]]))
        #expect(try sample.order("children", of: 0) == [2, 1])
        #expect(try sample.order("follows", of: 0) == [4, 3])
        try sample.save(Node(code: 0, children: [n[1], n[2], n[3]], follows: [n[3], n[5], n[4]]))
        #expect(try sample.order("children", of: 0) == [1, 2, 3])
        #expect(try sample.order("follows", of: 0) == [3, 5, 4])
        try sample.verify()
    }

    @Test("an object added by its own row comes after the objects of the owner's list", arguments: Sample.types)
    func joins(type: String) throws {
        let (sample, n) = try sample(type)
        try sample.save(Node(code: 0, children: [n[1], n[2], n[3]]))
        try sample.save(Node(code: 0, children: [n[3], n[1], n[2], n[4]]), Node(code: 5, parent: n[0]))
        #expect(try sample.order("children", of: 0) == [3, 1, 2, 4, 5])
        try sample.verify()
    }

    @Test("an upsert's result counts the owner and names the objects in the owner's lists", arguments: Sample.types)
    func resultNamesRelatedObjects(type: String) throws {
        let (sample, n) = try sample(type)
        let result = try sample.save(Node(code: 0, children: [n[2], n[1]], follows: [n[4], n[3]]))
        #expect(result.count == 1)
        #expect(result.objectIDs == [n[0]])
        #expect(Set(result.relatedObjectIDs ?? []) == Set(n[1...4]))
        #expect(try sample.save(Node(code: 0, follows: [n[4]])).count == 1)
        #expect(try sample.save(Node(code: 0, follows: [n[4]])).count == 0)
        #expect(try sample.save(Node(code: 0, children: [n[1], n[2]])).count == 1)
    }

    // MARK: Lists of both ends

    private func members(_ name: String, of number: Int, in sample: NodeSample) throws -> [ObjectID] {
        try sample.store.read { try $0.objectIDs(name, of: sample.nodes[number]) }
    }

    @Test("a link that both ends name keeps its place in the first list", arguments: Sample.types)
    func placeInFirstList(type: String) throws {
        let (sample, n) = try sample(type)
        try sample.save(Node(code: 0, follows: [n[4], n[3]]), Node(code: 3, followers: [n[0]]))
        #expect(try members("follows", of: 0, in: sample) == [n[4], n[3]])
        #expect(try members("followers", of: 3, in: sample) == [n[0]])
        try sample.verify()
    }

    @Test(
        "if two lists contradict each other, the later list decides whether the link exists", arguments: Sample.types,
        [false, true])
    func contradiction(type: String, isOrdered: Bool) throws {
        let (sample, n) = try sample(type, isOrdered: isOrdered)
        try sample.save(Node(code: 0, friends: [n[1]], follows: [n[1]]), Node(code: 1, friends: [], followers: []))
        for list in ["follows", "friends"] { #expect(try members(list, of: 0, in: sample).isEmpty) }
        try sample.save(Node(code: 0, friends: [n[1]], follows: [n[1]]))
        try sample.save(
            Node(code: 0, friends: [], follows: []), Node(code: 1, friends: [n[0]], followers: [n[0]]))
        for list in ["follows", "friends"] { #expect(try members(list, of: 0, in: sample) == [n[1]]) }
        try sample.verify()
    }

    @Test("an object can be linked to itself and unlinked again", arguments: Sample.types, [false, true])
    func selfLink(type: String, isOrdered: Bool) throws {
        let (sample, n) = try sample(type, isOrdered: isOrdered)
        try sample.save(Node(code: 0, friends: [n[0], n[1]], followers: [n[2], n[0]]))
        #expect(Set(try members("friends", of: 0, in: sample)) == [n[0], n[1]])
        #expect(try members("follows", of: 0, in: sample) == [n[0]])
        #expect(Set(try members("followers", of: 0, in: sample)) == [n[0], n[2]])
        try sample.verify()
        try sample.save(Node(code: 0, friends: [n[1]], follows: []))
        #expect(try members("friends", of: 0, in: sample) == [n[1]])
        #expect(try members("followers", of: 0, in: sample) == [n[2]])
        try sample.verify()
    }
}
