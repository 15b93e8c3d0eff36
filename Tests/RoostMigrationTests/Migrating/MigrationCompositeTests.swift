import Foundation
import Roost
import RoostConformance
import RoostMigration
import Testing

@Suite("Nulls, defaults and composites in migrations")
struct MigrationCompositeTests {
    /// Migrates objects of entity `P` in one pass or three, and returns the new values.
    private func migrate(
        _ old: [AttributeDescription], objects: [[String: Value]], to new: [AttributeDescription],
        attributes: [PropertyMapping], passes: Int
    ) throws -> [[String: Value]] {
        let (note, names) = (AttributeDescription("note", type: .string), passes == 3 ? "$entityMapping" : "'P'")
        let directory = try TemporaryDirectory()
        let store = try Scenario.store(
            "memory", at: directory.file("old"),
            model: try ManagedObjectModel(entities: [EntityDescription("P", attributes: old)]),
            objects: objects.enumerated().map { .init("P", key: Int64($0.offset + 1), values: $0.element) })
        let model = try ManagedObjectModel(entities: [EntityDescription("P", attributes: new + [note])])
        let mapping = MappingModel([
            EntityMapping(
                "P", type: .transform, from: "P", to: "P",
                attributes: attributes + [
                    PropertyMapping("note", expression: try FetchRequest.Expression(format: names))
                ])
        ])
        let location = StoreLocation(type: "memory", path: directory.file("new"))
        let options = MigrationOptions(mapping: mapping, allowsLoss: true)
        let manager = MigrationManager(registry: .standard)
        let plan = try manager.planMigration(
            from: .store(store), to: .location(location), model: model, options: options)
        let report: MigrationReport
        do throws(StoreError) {
            report = try manager.migrate(from: .store(store), to: .location(location), model: model, options: options)
        } catch {
            #expect(plan.refusals.contains { $0.contains("is mandatory") }, "\(plan.refusals) for \(error)")
            throw error
        }
        #expect(report.path == (passes == 3 ? .threePasses : .onePass))
        #expect(plan.refusals == [])
        let made = try StoreRegistry.standard.open(location)
        #expect(try checkStore(made) == [])
        return try Scenario.objects("P", in: made).map { object in object.values.filter { $0.key != "note" } }
    }

    private func address(isOptional: Bool = true, _ elements: AttributeDescription...) -> AttributeDescription {
        AttributeDescription("address", type: .composite, isOptional: isOptional, elements: elements)
    }

    private let mandatory = AttributeDescription("street", type: .string, isOptional: false)
    private let standard = AttributeDescription("street", type: .string, isOptional: false, defaultValue: "DEF")
    private let objects: [[String: Value]] = [["address": .composite(["street": "x"])], [:]]

    @Test("an element of a missing composite reads as null", arguments: [1, 3])
    func elementOfAbsentComposite(passes: Int) throws {
        let mapped = [PropertyMapping("street", expression: .source("address.street"))]
        #expect(
            try migrate([address(mandatory)], objects: objects, to: [standard], attributes: mapped, passes: passes) == [
                ["street": "x"], ["street": "DEF"],
            ])
        let error = #expect(throws: StoreError.self) {
            try migrate([address(mandatory)], objects: objects, to: [mandatory], attributes: mapped, passes: passes)
        }
        #expect(error?.code == .migrationFailed && error?.message.contains("'P.street'") == true, "\(error as Any)")
        // If the composite is mandatory too, the element always exists.
        #expect(
            try migrate(
                [address(isOptional: false, mandatory)], objects: [objects[0]], to: [mandatory], attributes: mapped,
                passes: passes) == [
                    ["street": "x"]
                ])
    }

    @Test("an explicit null becomes the default of a mandatory attribute", arguments: [1, 3])
    func explicitNull(passes: Int) throws {
        let null = [PropertyMapping("street", expression: .constant(.null))]
        #expect(
            try migrate([mandatory], objects: [["street": "x"]], to: [standard], attributes: null, passes: passes) == [
                ["street": "DEF"]
            ])
        let optional = AttributeDescription("street", type: .string, defaultValue: "DEF")
        #expect(
            try migrate([mandatory], objects: [["street": "x"]], to: [optional], attributes: null, passes: passes) == [
                [:]
            ])
    }

    @Test("an optional composite exists if one of its mapped elements has a value", arguments: [1, 3])
    func compositeOfElements(passes: Int) throws {
        let old: [AttributeDescription] = [.string("street"), .string("zip")]
        let objects: [[String: Value]] = [["street": "s", "zip": "z"], [:], ["zip": "z"]]
        let mapped = [
            PropertyMapping("address.street", expression: .source("street")),
            PropertyMapping("address.zip", expression: try FetchRequest.Expression(format: "uppercase($source.zip)")),
        ]
        let both: Value = .composite(["street": "s", "zip": "Z"])
        #expect(
            try migrate(
                old, objects: Array(objects.prefix(2)), to: [address(mandatory, .string("zip"))], attributes: mapped,
                passes: passes)
                == [["address": both], [:]])
        // An existing composite gets its elements' defaults, even for `country`, which comes first.
        let country = AttributeDescription("country", type: .string, isOptional: false, defaultValue: "CH")
        #expect(
            try migrate(
                old, objects: objects, to: [address(country, standard, .string("zip"))], attributes: mapped,
                passes: passes) == [
                    ["address": .composite(["country": "CH", "street": "s", "zip": "Z"])], [:],
                    ["address": .composite(["country": "CH", "street": "DEF", "zip": "Z"])],
                ])
        // Only an existing composite needs its mandatory elements.
        let unmapped = AttributeDescription("country", type: .string, isOptional: false)
        #expect(
            try migrate(
                old, objects: [[:]], to: [address(.string("street"), .string("zip"), unmapped)],
                attributes: Array(mapped.prefix(1)),
                passes: passes) == [[:]])
        let error = #expect(throws: StoreError.self) {
            try migrate(
                old, objects: objects, to: [address(.string("street"), .string("zip"), unmapped)],
                attributes: Array(mapped.prefix(1)),
                passes: passes)
        }
        #expect(error?.message.contains("'P.address.country'") == true, "\(error as Any)")
    }

    @Test("a copied composite that is null stays null despite a mapped element")
    func absentComposite() throws {
        let source: [AttributeDescription] = [.string("other"), address(.string("street"), .string("zip"))]
        let found = try migrate(
            source, objects: [["other": "o", "address": .composite(["zip": "z"])], ["other": "o"]],
            to: [address(.string("street"), .string("zip"))],
            attributes: [
                PropertyMapping("address", expression: .source("address")),
                PropertyMapping("address.street", expression: .source("other")),
            ],
            passes: 1)
        #expect(found == [["address": .composite(["street": "o", "zip": "z"])], [:]])
    }
}
