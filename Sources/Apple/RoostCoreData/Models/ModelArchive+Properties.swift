internal import Foundation
internal import RoostCore
internal import RoostSystem

extension ModelArchive {
    /// The fields that any property description may have.
    private static let common: Set<String> = [
        "NSPropertyName", "NSEntity", "NSIsOptional", "NSIsTransient", "NSIsReadOnly", "NSIsIndexed", "NSIsOrdered",
        "NSRenamingIdentifier", "NSVersionHashModifier", "NSUserInfo", "NSValidationPredicates", "NSValidationWarnings",
        "NSIsIndexedBySpotlight", "NSIndexedBySpotlight", "NSAllowsCloudEncryption", "_P",
    ]

    /// Returns whether Spotlight indexes a property.
    ///
    /// Newer systems write the field's name without `Is`.
    private static func isIndexedBySpotlight(_ object: ArchivedObject) throws(StoreError) -> Bool {
        if try object.flag("NSIndexedBySpotlight") { return true }
        return try object.flag("NSIsIndexedBySpotlight")
    }

    mutating func read(
        _ object: ArchivedObject, named key: String, into entity: inout EntityDescription
    ) throws(StoreError) {
        let name = try self.name(try object.string("NSPropertyName") ?? key, of: "a property of '\(entity.name)'")
        let className = try object.className
        switch className {
        case "NSRelationshipDescription":
            entity.relationships.append(try relationship(object, name: name, entity: entity.name))
        case "NSFetchedPropertyDescription":
            entity.fetchedProperties.append(try fetchedProperty(object, name: name, entity: entity.name))
        case "NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription":
            entity.attributes.append(try attribute(object, name: name, entity: entity.name, depth: 0))
        default:
            warn(
                "property '\(entity.name).\(name)'",
                message: "properties of class \(className) cannot be read; this property is left out")
        }
    }

    // MARK: Attributes

    private mutating func attribute(
        _ object: ArchivedObject, name: String, entity: String, depth: Int
    ) throws(StoreError) -> AttributeDescription {
        let place = "attribute '\(entity).\(name)'"
        let number = try object.integer("NSAttributeType") ?? 0
        guard let type = Int(exactly: number).flatMap({ AttributeType(rawValue: $0) }) else {
            throw StoreError(.invalidModel, "In '\(file)', \(place) has type \(number), which is unknown.")
        }
        var attribute = AttributeDescription(name, type: type, isOptional: try object.flag("NSIsOptional"))
        attribute.isTransient = try object.flag("NSIsTransient")
        attribute.renamingIdentifier = try renamingIdentifier(object, name: name)
        attribute.versionHashModifier = try object.string("NSVersionHashModifier").flatMap { $0.isEmpty ? nil : $0 }
        attribute.userInfo = try userInfo(object, of: place)
        attribute.valueTransformerName = try object.string("NSValueTransformerName").flatMap { $0.isEmpty ? nil : $0 }
        // Every other type implies its class.
        if type == .transformable || type == .undefined || type == .composite {
            attribute.attributeValueClassName = try object.string("NSAttributeValueClassName").flatMap {
                $0.isEmpty ? nil : $0
            }
        }
        let flags = try object.integer("NSFlagsKey") ?? 0
        // Bits of the flags: 4 means external storage, 16 preservation in history after deletion.
        attribute.allowsExternalBinaryDataStorage = flags & 4 != 0
        attribute.preservesValueInHistoryOnDeletion = flags & 16 != 0
        attribute.isIndexedBySpotlight = try Self.isIndexedBySpotlight(object)
        attribute.allowsCloudEncryption = try object.flag("NSAllowsCloudEncryption")
        if let expression = try object.object("NSDerivationExpression") {
            attribute.derivationExpression = try PredicateText.expression(expression)
            if attribute.derivationExpression == nil {
                warn(place, message: "its derivation has no text form; it is read as an ordinary attribute")
            }
        }
        let node = try object.node("NSDefaultValue")
        if let value = try value(node, type: type) {
            attribute.defaultValue = value
        } else if !node.isNull {
            warn(place, message: "its default value has a class that is not read; the attribute has no default")
        }
        if type == .composite { try readElements(object, into: &attribute, entity: entity, depth: depth) }
        try readValidation(object, into: &attribute, place: place)
        warnUnknown(
            object, element: place,
            known: Self.common.union([
                "NSAttributeType", "NSAttributeValueClassName", "NSDefaultValue", "NSValueTransformerName",
                "NSFlagsKey",
                "NSDerivationExpression", "NSFilteringPredicate", "NSElements", "NSCompositeElements",
                "NSCompositeName",
                "NSAttributeElements",
            ]))
        return attribute
    }

    /// Reads a composite's elements, which any field of the archived attribute may contain.
    private mutating func readElements(
        _ object: ArchivedObject, into attribute: inout AttributeDescription, entity: String, depth: Int
    ) throws(StoreError) {
        guard depth < 8 else {
            throw StoreError(
                .invalidModel, "In '\(file)', composite '\(entity).\(attribute.name)' is nested too deeply.")
        }
        for field in object.fields.keys.sorted() {
            for node in try object.list(field) {
                guard let element = node.object, try element.className.hasSuffix("AttributeDescription"),
                    let name = try element.string("NSPropertyName")
                else { continue }
                let elementName = try self.name(name, of: "an element of '\(entity).\(attribute.name)'")
                attribute.elements.append(
                    try self.attribute(element, name: elementName, entity: entity, depth: depth + 1))
            }
        }
    }

    /// Returns a default value or a limit, or nil if it is missing or does not fit the type.
    func value(_ node: KeyedArchive.Node, type: AttributeType) throws(StoreError) -> Value? {
        switch (type, node) {
        case (_, .null): return nil
        case (.boolean, _): return node.integer.map { .bool($0 != 0) }
        case (.integer16, _): return node.integer.flatMap { Int16(exactly: $0) }.map { .int(Int64($0)) }
        case (.integer32, _): return node.integer.flatMap { Int32(exactly: $0) }.map { .int(Int64($0)) }
        case (.integer64, _): return node.integer.map { .int($0) }
        case (.double, .real(let value)): return .double(value)
        case (.float, .real(let value)): return .double(Double(Float(value)))
        case (.double, _), (.float, _): return node.integer.map { .double(Double($0)) }
        case (.decimal, .real(let value)): return DecimalNumber(utf8: String(value).utf8).map { .decimal($0.decimal) }
        case (.decimal, .object(let object)): return try Self.decimal(object).map { .decimal($0.decimal) }
        case (.decimal, _):
            return node.integer.flatMap { DecimalNumber(utf8: String($0).utf8) }.map { .decimal($0.decimal) }
        case (.string, .string(let text)): return .string(text)
        case (.date, .date(let seconds)), (.date, .real(let seconds)):
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case (.binaryData, .data(let bytes)): return .data(Data(bytes))
        case (.uuid, .object(let object)):
            guard case .data(let bytes) = try object.node("NS.uuidbytes") else { return nil }
            return StoreUUID(bytes: bytes).map { .uuid($0.uuid) }
        case (.uri, .object(let object)): return try object.string("NS.relative").map { .uri($0) }
        default: return nil
        }
    }

    /// Returns an archived `NSDecimalNumber`, or nil if it is incomplete or has 39 digits, which
    /// only Apple's type supports.
    ///
    /// The mantissa consists of 16-bit groups, least significant first.
    static func decimal(_ object: ArchivedObject) throws(StoreError) -> DecimalNumber? {
        guard case .data(let bytes) = try object.node("NS.mantissa"), let exponent = try object.integer("NS.exponent"),
            let length = try object.integer("NS.length"), (0...8).contains(length), bytes.count >= Int(length) * 2
        else { return nil }
        let isNegative = try object.flag("NS.negative")
        // Apple writes "not a number" as a negative number without a mantissa.
        if length == 0 { return isNegative ? .nan : .zero }
        let isLittleEndian = try object.integer("NS.mantissa.bo") != 2
        var mantissa: UInt128 = 0
        for group in stride(from: Int(length) - 1, through: 0, by: -1) {
            let (first, second) = (UInt128(bytes[group * 2]), UInt128(bytes[group * 2 + 1]))
            mantissa = mantissa << 16 | (isLittleEndian ? second << 8 | first : first << 8 | second)
        }
        guard (-128...127).contains(exponent) else {
            throw StoreError(
                .corrupted,
                "\(object.archive.file) is damaged: it holds a decimal number whose exponent is out of range.")
        }
        return DecimalNumber(isNegative: isNegative, mantissa: mantissa, exponent: Int(exponent))
    }

    // MARK: Relationships and fetched properties

    private mutating func relationship(
        _ object: ArchivedObject, name: String, entity: String
    ) throws(StoreError) -> RelationshipDescription {
        let place = "relationship '\(entity).\(name)'"
        let destination = try object.string(
            "_NSDestinationEntityName", or: "NSDestinationEntity", inner: "NSEntityName")
        guard let destination else { throw StoreError(.invalidModel, "In '\(file)', \(place) has no destination.") }
        // 0 and −1 both mean no limit.
        let maxCount = try object.integer("NSMaxCount").flatMap { $0 > 0 ? Int(exactly: $0) : nil }
        let minCount = try object.integer("NSMinCount").flatMap { $0 > 0 ? Int(exactly: $0) : nil } ?? 0
        let inverse = try object.string(
            "_NSInverseRelationshipName", or: "NSInverseRelationship", inner: "NSPropertyName")
        var relationship = RelationshipDescription(
            name, destination: destination, inverse: inverse, minCount: minCount, maxCount: maxCount)
        relationship.isOptional = try object.flag("NSIsOptional")
        relationship.isTransient = try object.flag("NSIsTransient")
        let isOrdered = try object.flag("NSIsOrdered")
        relationship.isOrdered = relationship.isToMany && isOrdered
        relationship.isIndexedBySpotlight = try Self.isIndexedBySpotlight(object)
        relationship.renamingIdentifier = try renamingIdentifier(object, name: name)
        relationship.versionHashModifier = try object.string("NSVersionHashModifier").flatMap { $0.isEmpty ? nil : $0 }
        relationship.userInfo = try userInfo(object, of: place)
        switch try object.integer("NSDeleteRule") ?? 1 {
        case 0: relationship.deleteRule = .noAction
        case 1: relationship.deleteRule = .nullify
        case 2: relationship.deleteRule = .cascade
        case 3: relationship.deleteRule = .deny
        case let other: warn(place, message: "delete rule \(other) is unknown; it is read as nullify")
        }
        warnUnknown(
            object, element: place,
            known: Self.common.union([
                "NSDestinationEntity", "_NSDestinationEntityName", "NSInverseRelationship",
                "_NSInverseRelationshipName",
                "NSMinCount", "NSMaxCount", "NSDeleteRule",
            ]))
        return relationship
    }

    private mutating func fetchedProperty(
        _ object: ArchivedObject, name: String, entity: String
    ) throws(StoreError) -> FetchedPropertyDescription {
        let request = try object.object("NSFetchRequest")
        var target = try object.string("_NSFetchRequestEntityName")
        if target == nil { target = try request?.object("NSEntity")?.string("NSEntityName") }
        var property = FetchedPropertyDescription(name, entity: target ?? "")
        property.isOptional = try object.flag("NSIsOptional")
        property.userInfo = try userInfo(object, of: "fetched property '\(entity).\(name)'")
        if let predicate = try request?.object("NSPredicate") {
            property.predicateFormat = try PredicateText.predicate(predicate)
            if property.predicateFormat == nil {
                warn("fetched property '\(entity).\(name)'", message: "its predicate has no text form; it is left out")
            }
        }
        if try request?.list("NSSortDescriptors").isEmpty == false {
            warn("fetched property '\(entity).\(name)'", message: "the sort order of its fetch request is left out")
        }
        return property
    }

    mutating func template(_ object: ArchivedObject, named name: String) throws(StoreError) -> FetchRequestTemplate {
        let entity = try object.string("NSEntityName", or: "NSEntity", inner: "NSEntityName") ?? ""
        var template = FetchRequestTemplate(name, entity: entity)
        if let predicate = try object.object("NSPredicate") {
            template.predicateFormat = try PredicateText.predicate(predicate)
            if template.predicateFormat == nil {
                warn("fetch request '\(name)'", message: "its predicate has no text form; it is left out")
            }
        }
        for (field, option) in [
            ("NSFetchLimit", "fetchLimit"), ("NSBatchSize", "fetchBatchSize"), ("NSResultType", "resultType"),
        ] {
            if let number = try object.integer(field), number != 0 { template.options[option] = String(number) }
        }
        return template
    }
}

extension StoreUUID {
    /// Creates a UUID from sixteen bytes.
    init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        let digits = Hexadecimal.text(bytes)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        self.init(text)
    }
}
