import Foundation
import Roost
import RoostCore
import Testing

@Suite("References to deleted objects")
struct DeletedReferenceTests {
    private let folder = Result { try Folder() }

    private struct A: Codable, Sendable {
        var n: Int
        var bs: [ObjectID]
        var plain: [ObjectID]
        var one: ObjectID?
        var left: ObjectID?
    }

    /// Six objects of each of two entities, with relationships of each kind between them.
    private struct Objects {
        let store: Store
        let a: [ObjectID]
        let b: [ObjectID]

        func values(_ name: String) throws -> [Value] { try store.fetch("A").map { $0[name] } }

        func counts(_ name: String) throws -> [Int] {
            try store.fetch("A").map { try store.members(name, of: $0.id).count }
        }
    }

    private func objects(_ type: String) throws -> Objects {
        let store = try folder.get().store(
            type,
            entities: [
                EntityDescription(
                    "A", attributes: [.integer32("n")],
                    relationships: [
                        .toMany("bs", to: "B", inverse: "as"), .toMany("plain", to: "B"), .toOne("one", to: "B"),
                        .toOne("me", to: "A"), .toOne("twin", to: "A", inverse: "twin"),
                        RelationshipDescription("left", destination: "B", inverse: nil, maxCount: 1).with {
                            $0.deleteRule = .noAction
                        },
                    ]),
                EntityDescription(
                    "B", attributes: [.integer32("n")], relationships: [.toMany("as", to: "A", inverse: "bs")]),
            ])
        let b = try store.ids("B", rows: (1...6).map { ["n": .int($0)] })
        try store.insert((1...6).map { A(n: $0, bs: b, plain: b, one: b[$0 - 1], left: b[0]) })
        let a = try store.fetch("A").map(\.id)
        try store.update("A", set: ["me": .objectID(a[0])])
        try store.update("A", set: ["twin": .objectID(a[1])], where: "n == 1")
        return Objects(store: store, a: a, b: b)
    }

    @Test("deleting an object clears every kind of reference to it", arguments: Sample.types)
    func destination(type: String) throws {
        let objects = try objects(type)
        #expect(try objects.store.delete([objects.b[0]]).count == 1)
        #expect(try objects.values("one") == [.null] + objects.b[1...].map { .objectID($0) })
        #expect(try objects.values("left") == Array(repeating: .null, count: 6))
        #expect(try objects.counts("bs") == Array(repeating: 5, count: 6))
        #expect(try objects.counts("plain") == Array(repeating: 5, count: 6))
        #expect(try objects.store.check().isEmpty)
    }

    @Test("deleting an owner clears the inverse references and deletes its links", arguments: Sample.types)
    func owner(type: String) throws {
        let objects = try objects(type)
        #expect(try objects.values("twin").prefix(2) == [.objectID(objects.a[1]), .objectID(objects.a[0])])
        #expect(try objects.store.delete([objects.a[0]]).count == 1)
        #expect(try objects.values("twin") == Array(repeating: .null, count: 5))
        #expect(try objects.values("me") == Array(repeating: .null, count: 5))
        #expect(try objects.store.members("as", of: objects.b[0]).count == 5)
        #expect(try objects.store.count("A", where: "one == nil") == 0)
        #expect(try objects.store.check().isEmpty)
    }

    @Test("deleting many objects at once leaves no reference or link to them", arguments: Sample.types)
    func manyObjects(type: String) throws {
        let objects = try objects(type)
        try objects.store.delete("B", where: "n > 3")
        #expect(try objects.values("one") == objects.b[..<3].map { .objectID($0) } + Array(repeating: .null, count: 3))
        #expect(try objects.counts("bs") == Array(repeating: 3, count: 6))
        #expect(try objects.store.check().isEmpty)
        try objects.store.delete("B")
        #expect(try objects.values("left") == Array(repeating: .null, count: 6))
        #expect(try objects.counts("plain") == Array(repeating: 0, count: 6))
        #expect(try objects.store.check().isEmpty)
        try objects.store.delete("A")
        let empty = try Store.open(try folder.get().location(type, name: "empty"), model: objects.store.model)
        #expect(try objects.store.digest() == empty.digest())
    }

    @Test(
        "an ID with a superentity finds its object, and an ID with a sibling entity finds nothing",
        arguments: Sample.types)
    func wrongEntity(type: String) throws {
        let store = try folder.get().store(type, entities: Sample.animals)
        let cat = try store.ids("Cat", rows: [["code": "c"]])[0]
        let wrong = ObjectID("Dog", key: cat.key)
        #expect(try store.record(wrong) == nil)
        #expect(try store.delete([wrong]).count == 0)
        #expect(try store.record(ObjectID("Animal", key: cat.key))?.id == cat)
        #expect(try store.delete([ObjectID("Animal", key: cat.key)]).count == 1)
        #expect(try store.count("Animal") == 0)
    }
}
