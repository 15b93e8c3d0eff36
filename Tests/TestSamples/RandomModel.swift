internal import Foundation
package import RoostCore

/// A generator of valid random models, which together use every feature of models.
package struct RandomModel {
    private var generator: SeededGenerator

    package init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    package mutating func model() throws -> ManagedObjectModel {
        let names = (0..<Int.random(in: 1...8, using: &generator)).map {
            "Entity\($0)" + pick(["", "É", " with space", "日本"])
        }
        var entities = names.enumerated().map { number, name in
            let parent = number > 0 && chance() ? names[Int.random(in: 0..<number, using: &generator)] : nil
            return entity(name, number: number, superentity: parent, among: names)
        }
        // Each pair of inverses connects two random entities.
        for pair in 0..<Int.random(in: 0...6, using: &generator) {
            let (a, b) = (
                Int.random(in: names.indices, using: &generator), Int.random(in: names.indices, using: &generator)
            )
            entities[a].relationships.append(relationship("to\(pair)", to: names[b], inverse: "from\(pair)"))
            entities[b].relationships.append(relationship("from\(pair)", to: names[a], inverse: "to\(pair)"))
        }
        entities.shuffle(using: &generator)
        return try ManagedObjectModel(
            entities: entities, configurations: chance() ? ["C": names, "D.e": []] : [:],
            fetchRequestTemplates: chance()
                ? [
                    FetchRequestTemplate(
                        "t", entity: names[0], predicateFormat: "a == $B", options: ["fetchLimit": "3"])
                ] : [],
            versionIdentifiers: chance() ? ["2", "1", "2"] : [], userInfo: info())
    }

    private mutating func chance() -> Bool { Bool.random(using: &generator) }
    private mutating func pick<Item>(_ items: [Item]) -> Item {
        items[Int.random(in: items.indices, using: &generator)]
    }
    private mutating func text() -> String? {
        chance() ? nil : pick(["", "x", "a\"b\\c", "\u{0}\n\t\u{7F}", "日本 😀", "e\u{301}"])
    }
    private mutating func info() -> [String: String] { chance() ? [:] : ["k": text() ?? "", "": "x", "a.b": "y"] }

    private mutating func entity(_ name: String, number: Int, superentity: String?, among names: [String])
        -> EntityDescription
    {
        let types = AttributeType.allCases.shuffled(using: &generator).prefix(Int.random(in: 1...8, using: &generator))
        let attributes = types.map { attribute("\($0.name)\(number)", type: $0, depth: 0) }
        let keys = attributes.filter { $0.isStored && $0.type != .composite }.map(\.name)
        return EntityDescription(
            name, superentity: superentity, attributes: attributes,
            relationships: chance() ? [relationship("single\(number)", to: pick(names), inverse: nil)] : [],
            uniquenessConstraints: keys.shuffled(using: &generator).prefix(2).map { [$0] }
        ).with {
            $0.isAbstract = chance()
            $0.fetchedProperties =
                chance()
                ? [
                    FetchedPropertyDescription(
                        "f\(number)", entity: pick(names), predicateFormat: text(), isOptional: chance(),
                        userInfo: info())
                ]
                : []
            $0.fetchIndexes =
                keys.isEmpty
                ? []
                : [
                    FetchIndexDescription(
                        "i\(number)",
                        elements: keys.shuffled(using: &generator).map { .init($0, isAscending: chance()) },
                        partialIndexPredicateFormat: text()),
                    FetchIndexDescription("e", elements: [.init("", expression: "uppercase:(a)")]),
                ]
            $0.managedObjectClassName = text()
            $0.coreSpotlightDisplayNameExpression = text()
            $0.renamingIdentifier = text()
            $0.versionHashModifier = text()
            $0.userInfo = info()
        }
    }

    private mutating func relationship(_ name: String, to destination: String, inverse: String?)
        -> RelationshipDescription
    {
        let maxCount = pick([nil, 1, 1, 5])
        return RelationshipDescription(
            name, destination: destination, inverse: inverse, minCount: Int.random(in: 0...1, using: &generator),
            maxCount: maxCount
        ).with {
            $0.isOrdered = maxCount != 1 && chance()
            $0.isOptional = chance()
            $0.isTransient = false
            $0.deleteRule = pick(DeleteRule.allCases)
            $0.isIndexedBySpotlight = chance()
            $0.renamingIdentifier = text()
            $0.versionHashModifier = text()
            $0.userInfo = info()
        }
    }

    private mutating func attribute(_ name: String, type: AttributeType, depth: Int) -> AttributeDescription {
        let elementTypes = AttributeType.allCases.filter {
            $0 != .undefined && $0 != .objectID && (depth < 2 || $0 != .composite)
        }
        let elements =
            type == .composite
            ? elementTypes.shuffled(using: &generator).prefix(4).map { attribute($0.name, type: $0, depth: depth + 1) }
            : []
        let isLimited: [AttributeType] = [.integer16, .integer32, .integer64, .double, .float, .decimal, .date]
        var validation = AttributeValidation()
        if isLimited.contains(type) {
            (validation.minimum, validation.maximum) = (
                value(of: type, elements: elements), value(of: type, elements: elements)
            )
        } else if type == .string {
            validation = AttributeValidation(minimumLength: 0, maximumLength: 7, regularExpression: text())
        }
        return AttributeDescription(
            name, type: type, isOptional: chance(),
            defaultValue: value(of: type, elements: elements), elements: elements
        ).with {
            $0.isTransient = depth == 0 && (type == .undefined || chance())
            $0.validation = validation
            $0.derivationExpression = depth == 0 && chance() ? "now()" : nil
            $0.valueTransformerName = text()
            $0.attributeValueClassName = text()
            $0.allowsExternalBinaryDataStorage = depth == 0 && chance()
            $0.preservesValueInHistoryOnDeletion = chance()
            $0.isIndexedBySpotlight = chance()
            $0.allowsCloudEncryption = chance()
            $0.renamingIdentifier = text()
            $0.versionHashModifier = text()
            $0.userInfo = info()
        }
    }

    private mutating func value(of type: AttributeType, elements: [AttributeDescription]) -> Value {
        if chance() { return .null }
        let bits = generator.next()
        switch type {
        case .undefined, .objectID: return .null
        case .integer16: return .int(Int64(Int16(truncatingIfNeeded: bits)))
        case .integer32: return .int(Int64(Int32(truncatingIfNeeded: bits)))
        case .integer64: return .int(Int64(bitPattern: bits))
        case .decimal:
            return .decimal(
                Decimal(bits) * pick([1, -1]) * Decimal(sign: .plus, exponent: Int(bits % 60) - 30, significand: 1))
        case .double: return .double(Double(bitPattern: bits))
        case .float: return .double(Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))))
        case .string: return .string(text() ?? "")
        case .boolean: return .bool(chance())
        case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)))
        case .binaryData, .transformable: return .data(Data(withUnsafeBytes(of: bits) { Array($0) }))
        case .uuid:
            return .uuid(
                UUID(uuid: (UInt8(truncatingIfNeeded: bits), 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))
        case .uri: return .uri("x:\(bits)")
        case .composite:
            return .composite(
                Dictionary(uniqueKeysWithValues: elements.map { ($0.name, value(of: $0.type, elements: $0.elements)) }))
        }
    }
}
