import RoostCore
import RoostQuery
import Testing

/// The order in which derived attributes are computed.
@Suite("Steps of derived attributes")
struct DerivedStepsTests {
    /// Returns the steps of the derived attributes of an entity with a stored text `title`.
    private func steps(_ sources: [(String, String)]) throws -> DerivedSteps {
        let derived = sources.map { AttributeDescription.derived($0.0, type: .string, from: $0.1) }
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Note", attributes: [.string("title")] + derived,
                relationships: [.toOne("parent", to: "Note", inverse: nil)])
        ])
        return DerivedSteps(try DerivedAttributes(model), of: model)
    }

    /// Returns the sorted names of attributes that are given by entity number.
    private func names(_ attributes: [[DerivedAttributes.Attribute]]) -> [String] {
        attributes.joined().map(\.field.name).sorted()
    }

    private static let chain = [
        ("a", "uppercase:(title)"), ("b", "a"), ("c", "parent.b"), ("d", "lowercase:(title)"), ("e", "c"),
    ]

    @Test("each derived attribute has a later step than its sources, in any order of the attributes")
    func chains() throws {
        for sources: [(String, String)] in [Self.chain, Self.chain.reversed()] {
            let found = try steps(sources)
            #expect(found.steps.map(names) == [["a", "d"], ["b"], ["c"], ["e"]])
            #expect(names(found.circular) == [])
        }
        #expect(try steps([]).steps.isEmpty)
    }

    @Test("derived attributes in a dependency cycle, and attributes that depend on the cycle, have no step")
    func circles() throws {
        let circle = [("a", "parent.b"), ("b", "parent.a"), ("c", "b"), ("d", "title")]
        for sources: [(String, String)] in [circle, circle.reversed()] {
            let found = try steps(sources)
            #expect(found.steps.map(names) == [["d"]])
            #expect(names(found.circular) == ["a", "b", "c"])
        }
        #expect(try names(steps([("a", "parent.a")]).circular) == ["a"])
    }

    @Test("attributes that read other objects, also through another attribute, can be removed from the steps")
    func removal() throws {
        var found = try steps(Self.chain)
        found.removeAttributesReadingOtherObjects()
        #expect(names(found.steps.flatMap { $0 }) == ["a", "b", "d"])
    }
}
