import Testing

@testable import RoostCore

@Suite("The order of inherited properties")
struct InheritedOrderTests {
    @Test("inherited attributes and relationships are ordered by name, and fields by kind and name")
    func sortsInheritedProperties() throws {
        let types: [AttributeType] = [.string, .boolean, .double, .uuid, .integer16, .binaryData]
        let model = try ManagedObjectModel(
            entities: (0..<30).map { level in
                EntityDescription(
                    "E\(level)", superentity: level == 0 ? nil : "E\((level - 1) / 2)",
                    attributes: (0..<level % 5).map { number in
                        // Names that sort before, between and after those of the levels above.
                        AttributeDescription(
                            "\(["z", "a", "m", "é"][(level * 7 + number) % 4])\(level)x\(number)",
                            type: types[(level + number) % 6])
                    } + [
                        AttributeDescription(
                            "c\(level)", type: .composite,
                            elements: [
                                AttributeDescription("y", type: .string), AttributeDescription("b", type: .date),
                            ])
                    ],
                    relationships: [
                        .toOne("r\(29 - level)", to: "E\(level % 3)"), .toMany("a\(level)s", to: "E0"),
                    ])
            })
        for entity in model.entities {
            let names = entity.attributes.map(\.name)
            #expect(names == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
            let relationships = entity.relationships.map(\.name.name)
            #expect(relationships == relationships.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
            var line = [entity.number]
            while let parent = model.entities[line[line.count - 1]].superentity { line.append(parent) }
            let declared = line.flatMap { model.entities[$0].declaration.attributes.map(\.name) }
            #expect(Set(names) == Set(declared) && names.count == declared.count)
            let fields = entity.layout.fields
            for (left, right) in zip(fields, fields.dropFirst()) {
                #expect(
                    left.kind.rawValue < right.kind.rawValue
                        || (left.kind == right.kind && left.name.utf8.lexicographicallyPrecedes(right.name.utf8)))
            }
            #expect(fields.map(\.index) == Array(fields.indices))
            for field in fields { #expect(entity.layout.field(field.name) == field) }
        }
    }
}
