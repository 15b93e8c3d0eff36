import Foundation
import Roost
import RoostCore
import Testing

@Suite("Derived attributes")
struct DerivedAttributeTests {
    private let folder = Result { try Folder() }

    /// Opens a store with one A, whose derived attributes read its Bs.
    private func numbers(
        _ type: String, number: AttributeDescription, _ derived: AttributeDescription...
    ) throws -> (Store, ObjectID) {
        let store = try folder.get().store(
            type,
            entities: [
                EntityDescription(
                    "A", attributes: derived, relationships: [.toMany("bs", to: "B", inverse: "a")]),
                EntityDescription(
                    "B", attributes: [number], relationships: [.toOne("a", to: "A", inverse: "bs")]),
            ])
        return (store, try store.ids("A", rows: [[:]])[0])
    }

    private func insert(_ values: Value..., of owner: ObjectID, in store: Store) throws(StoreError) {
        try store.insert("B", rows: values.map { ["x": $0, "a": .objectID(owner)] })
    }

    @Test(
        "derived attributes that depend on each other are computed in order, whatever their names",
        arguments: Sample.types, [false, true])
    func chain(type: String, isDescending: Bool) throws {
        let count = 14
        func name(_ number: Int) -> String { "d\(10 + (isDescending ? count - number : number))" }
        let derived = (0..<count).map { number -> AttributeDescription in
            .derived(
                name(number), type: .string, from: number == 0 ? "uppercase:(title)" : "lowercase:(\(name(number - 1)))"
            )
        }
        let store = try folder.get().store(
            type, entities: [EntityDescription("E", attributes: [.string("title")] + derived)])
        try store.insert("E", rows: [["title": "Ab"]])
        let expected: [Value] = ["AB"] + Array(repeating: "ab", count: count - 1)
        #expect(try store.fetch("E").map { record in (0..<count).map { record[name($0)] } } == [expected])
        try store.update("E", set: ["title": "Cd"])
        #expect(try store.fetch("E").map { [$0[name(0)], $0[name(count - 1)]] } == [["CD", "cd"]])
    }

    @Test("a derived sum can be infinite or NaN, and can become finite again", arguments: Sample.types)
    func notANumber(type: String) throws {
        let (store, id) = try numbers(
            type, number: .double("x"), .derived("sum", type: .double, from: "bs.x.@sum"),
            .derived("copy", type: .double, from: "sum"))
        func values() throws -> [Value] {
            let record = try #require(try store.record(id))
            return [record["sum"], record["copy"]]
        }
        try insert(.double(.infinity), of: id, in: store)
        #expect(try values() == [.double(.infinity), .double(.infinity)])
        try insert(.double(.nan), 1, of: id, in: store)
        for value in try values() {
            guard case .double(let number) = value else {
                Issue.record("\(value) is not a double")
                continue
            }
            #expect(number.isNaN)
        }
        try store.update("B", set: ["x": 1.5])
        #expect(try values() == [4.5, 4.5])
    }

    @Test(
        "an insert is refused if a derived sum exceeds its attribute's type", arguments: Sample.types,
        [1, 40_000, .int(.max)] as [Value])
    func sumOverflow(type: String, value: Value) throws {
        let (store, id) = try numbers(
            type, number: .integer64("x"), .derived("sum", type: .integer16, from: "bs.x.@sum"))
        try insert(.int(32_767), of: id, in: store)
        let error = #expect(throws: StoreError.self) { try insert(value, of: id, in: store) }
        #expect(error?.code == .invalidValue)
        #expect(try store.record(id)?["sum"] == 32_767)
        #expect(try store.count("B") == 1)
    }

    @Test("an insert is refused if a derived sum exceeds 64 bits", arguments: Sample.types)
    func largeSum(type: String) throws {
        let (store, id) = try numbers(
            type, number: .integer64("x"), .derived("sum", type: .integer64, from: "bs.x.@sum"))
        try insert(.int(.max), of: id, in: store)
        let error = #expect(throws: StoreError.self) { try insert(1, of: id, in: store) }
        #expect(error?.code == .invalidValue)
        try insert(.int(.min), of: id, in: store)
        #expect(try store.record(id)?["sum"] == -1)
    }

    @Test(
        "an insert is refused if a derived average does not fit its attribute", arguments: Sample.types,
        [3, .int(.max)] as [Value])
    func averages(type: String, value: Value) throws {
        let (store, id) = try numbers(
            type, number: .integer64("x"), .derived("mean", type: .integer32, from: "bs.x.@avg"))
        try insert(1, 3, of: id, in: store)
        #expect(try store.record(id)?["mean"] == 2)
        let error = #expect(throws: StoreError.self) { try insert(value, of: id, in: store) }
        #expect(error?.code == .invalidValue)
        #expect(try store.record(id)?["mean"] == 2)
        #expect(try store.count("B") == 2)
    }

    @Test(
        "derived attributes of subentities and of their owner follow updates, moves and deletes",
        arguments: Sample.types)
    func subentities(type: String) throws {
        let store = try folder.get().store(type, entities: Sample.animals)
        let owners = try store.ids("Owner", rows: [["name": "o"], ["name": "p"]])
        func names() throws -> [Value] { try store.fetch("Dog").map { $0["ownerName"] } }
        func counts() throws -> [Value?] { try owners.map { try store.record($0)?["petCount"] } }
        try store.insert("Dog", rows: [["code": "d", "owner": .objectID(owners[0])]])
        try store.insert("Cat", rows: [["code": "c", "owner": .objectID(owners[0])]])
        #expect(try names() == ["o"])
        #expect(try counts() == [2, 0])
        try store.update("Owner", set: ["name": "q"], where: "name == 'o'")
        #expect(try names() == ["q"])
        try store.update("Animal", set: ["owner": .objectID(owners[1])])
        #expect(try names() == ["p"])
        #expect(try counts() == [0, 2])
        try store.delete("Cat")
        #expect(try counts() == [0, 1])
        try store.delete("Owner", where: "name == 'p'")
        #expect(try names() == [.null])
        #expect(try store.check().isEmpty)
    }

    @Test("an upsert by a superentity recomputes the derived attributes of a subentity", arguments: Sample.types)
    func upsert(type: String) throws {
        let store = try folder.get().store(type, entities: Sample.animals)
        let owners = try store.ids("Owner", rows: [["name": "o"], ["name": "p"]])
        try store.insert("Dog", rows: [["code": "d", "owner": .objectID(owners[0])]])
        try store.insert(
            "Animal", rows: [["code": "d", "owner": .objectID(owners[1])]], onConflict: .update)
        #expect(try store.fetch("Dog").map { $0["ownerName"] } == ["p"])
        #expect(try owners.map { try store.record($0)?["petCount"] } == [0, 1])
    }
}
