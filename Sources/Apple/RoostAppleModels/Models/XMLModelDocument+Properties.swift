internal import Foundation
internal import RoostCore

extension XMLModelDocument {
    /// The XML attributes that only the editor and its code generator need, and `indexed`, which is
    /// read with the entity.
    private static let editorOnly = [
        "usesScalarValueType", "syncable", "storedInTruthFile", "indexed", "customCodeGenerationType",
    ]

    private static let types: [String: AttributeType] = [
        "Integer 16": .integer16, "Integer 32": .integer32, "Integer 64": .integer64, "Decimal": .decimal,
        "Double": .double, "Float": .float, "String": .string, "Boolean": .boolean, "Date": .date,
        "Binary": .binaryData, "Binary Data": .binaryData, "UUID": .uuid, "URI": .uri,
        "Transformable": .transformable, "Object ID": .objectID, "ObjectID": .objectID, "Composite": .composite,
        "Undefined": .undefined,
    ]

    /// Reads an attribute that is inside `depth` composites.
    mutating func attribute(
        _ element: XMLElement, of entity: String, depth: Int = 0
    ) throws(StoreError) -> AttributeDescription {
        check(
            element, ignoring: Self.editorOnly,
            importing: [
                "name", "attributeType", "optional", "transient", "defaultValueString", "defaultDateTimeInterval",
                "minValueString", "maxValueString", "minDateTimeInterval", "maxDateTimeInterval",
                "regularExpressionString", "allowsExternalBinaryDataStorage", "valueTransformerName", "customClassName",
                "derived", "derivationExpression", "preserveAfterDeletion", "spotlightIndexingEnabled",
                "allowsCloudEncryption", "versionHashModifier", "elementID",
            ] + Self.compositeReferences)
        let name = try name(of: element)
        let typeName = element["attributeType"] ?? "Undefined"
        guard let type = Self.types[typeName] else {
            throw error(element, message: "attribute '\(entity).\(name)' has type '\(typeName)', which is unknown")
        }
        var attribute = AttributeDescription(name, type: type, isOptional: flag(element, name: "optional"))
        attribute.isTransient = flag(element, name: "transient")
        attribute.allowsExternalBinaryDataStorage = flag(element, name: "allowsExternalBinaryDataStorage")
        attribute.preservesValueInHistoryOnDeletion = flag(element, name: "preserveAfterDeletion")
        attribute.isIndexedBySpotlight = flag(element, name: "spotlightIndexingEnabled")
        attribute.allowsCloudEncryption = flag(element, name: "allowsCloudEncryption")
        attribute.valueTransformerName = nonEmpty(element["valueTransformerName"])
        attribute.attributeValueClassName = nonEmpty(element["customClassName"])
        attribute.renamingIdentifier = renamingIdentifier(element, name: name)
        attribute.versionHashModifier = nonEmpty(element["versionHashModifier"])
        let expression = nonEmpty(element["derivationExpression"])
        if flag(element, name: "derived"), expression == nil {
            warn(element, message: "it is derived but has no expression; it is read as an ordinary attribute")
        }
        if flag(element, name: "derived") || element["derived"] == nil { attribute.derivationExpression = expression }
        readDefault(element, into: &attribute)
        readValidation(element, into: &attribute)
        if type == .composite { try readElements(element, into: &attribute, entity: entity, depth: depth) }
        for child in element.children {
            if child.name == "userInfo" {
                attribute.userInfo = try userInfo(child)
            } else if child.name != "attribute" {
                warnUnknown(child, in: "attribute '\(entity).\(name)'")
            }
        }
        return attribute
    }

    // MARK: Values

    private mutating func readDefault(_ element: XMLElement, into attribute: inout AttributeDescription) {
        if let text = element["defaultDateTimeInterval"] {
            if attribute.type == .date {
                if let seconds = Double(text), seconds.isFinite {
                    attribute.defaultValue = .date(Date(timeIntervalSinceReferenceDate: seconds))
                } else {
                    warn(
                        element,
                        message: "defaultDateTimeInterval is not a number of seconds; the attribute has no default")
                }
                return
            }
            // The default remains from when the attribute was a date.
            warn(
                element,
                message: "defaultDateTimeInterval has no meaning for type \(attribute.type.name); it is left out")
        }
        // The editor leaves an empty text when a default number or date is deleted. Only strings
        // can have an empty default.
        guard let text = element["defaultValueString"], !text.isEmpty || attribute.type == .string else { return }
        guard let (value, isWhole) = DefaultValueText.value(text, type: attribute.type) else {
            warn(
                element,
                message: "defaultValueString cannot be read as \(attribute.type.name); the attribute has no default")
            return
        }
        attribute.defaultValue = value
        guard !isWhole else { return }
        let rule =
            attribute.type == .boolean
            ? "YES where it begins with Y, T or a number other than 0, else NO"
            : "the number that it begins with, else 0"
        warn(
            element,
            message:
                "defaultValueString is not valid for type \(attribute.type.name); as in Core Data, it is read as \(rule)"
        )
    }

    private mutating func readValidation(_ element: XMLElement, into attribute: inout AttributeDescription) {
        let type = attribute.type
        if type != .string, nonEmpty(element["regularExpressionString"]) != nil {
            warn(element, message: "regularExpressionString has no meaning for type \(type.name); it is left out")
        }
        switch type {
        case .string:
            attribute.validation.regularExpression = nonEmpty(element["regularExpressionString"])
            attribute.validation.minimumLength = length(element, name: "minValueString")
            attribute.validation.maximumLength = length(element, name: "maxValueString")
        case .date:
            attribute.validation.minimum = date(element, name: "minDateTimeInterval", legacy: "minValueString")
            attribute.validation.maximum = date(element, name: "maxDateTimeInterval", legacy: "maxValueString")
        case .integer16, .integer32, .integer64, .decimal, .double, .float:
            attribute.validation.minimum = limit(element, name: "minValueString", type: type)
            attribute.validation.maximum = limit(element, name: "maxValueString", type: type)
        default:
            for name in ["minValueString", "maxValueString", "minDateTimeInterval", "maxDateTimeInterval"]
            where nonEmpty(element[name]) != nil {
                warn(element, message: "\(name) has no meaning for type \(type.name); it is left out")
            }
        }
    }

    private mutating func length(_ element: XMLElement, name: String) -> Int? {
        guard let text = nonEmpty(element[name]) else { return nil }
        guard let length = Int(text), length >= 0 else {
            warn(element, message: "\(name) is not a length; it is left out")
            return nil
        }
        return length
    }

    private mutating func limit(_ element: XMLElement, name: String, type: AttributeType) -> Value {
        guard let text = nonEmpty(element[name]) else { return .null }
        if let value = Self.value(text, type: type) { return value }
        warn(element, message: "\(name) cannot be read as \(type.name); it is left out")
        return .null
    }

    private mutating func date(_ element: XMLElement, name: String, legacy: String) -> Value {
        if let text = nonEmpty(element[name]) {
            if let seconds = Double(text), seconds.isFinite {
                return .date(Date(timeIntervalSinceReferenceDate: seconds))
            }
            warn(element, message: "\(name) is not a number of seconds; it is left out")
            return .null
        }
        guard let text = nonEmpty(element[legacy]) else { return .null }
        if let seconds = ISODate.monthDayYear(text) {
            warn(element, message: "\(legacy) is a date without time zone; it is read as month/day/year, midnight UTC")
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        }
        warn(element, message: "\(legacy) is not a date like 12/31/2013; it is left out")
        return .null
    }

    static func value(_ text: String, type: AttributeType) -> Value? {
        switch type {
        case .integer16: return integer(text).flatMap { Int16(exactly: $0) }.map { .int(Int64($0)) }
        case .integer32: return integer(text).flatMap { Int32(exactly: $0) }.map { .int(Int64($0)) }
        case .integer64: return integer(text).map { .int($0) }
        case .double: return Double(text).map { .double($0) }
        case .float: return Float(text).map { .double(Double($0)) }
        case .decimal: return DecimalNumber(utf8: text.utf8).map { .decimal($0.decimal) }
        case .string: return .string(text)
        case .boolean: return boolean(text).map { .bool($0) }
        case .uuid: return UUID(uuidString: text).map { .uuid($0) }
        case .uri: return .uri(text)
        case .date:
            return (Double(text).flatMap { $0.isFinite ? $0 : nil } ?? ISODate.monthDayYear(text))
                .map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case .undefined, .binaryData, .transformable, .objectID, .composite: return nil
        }
    }

    /// Returns a text's whole number; accepts `5.0`, which older editors wrote.
    private static func integer(_ text: String) -> Int64? {
        Int64(text) ?? Double(text).flatMap { Int64(exactly: $0) }
    }

    // MARK: Composites

    /// The XML attributes that may name the composite type.
    ///
    /// No public sample shows which one Xcode writes.
    private static let compositeReferences = [
        "compositeAttributeName", "compositeName", "composite", "compositeType", "compositeAttribute", "elementName",
    ]

    /// Reads a composite's elements from the XML element, or else from a composite type.
    ///
    /// The XML element names this type, or the type has the attribute's name. Without such a type,
    /// the model's only composite type is used, with a warning.
    private mutating func readElements(
        _ element: XMLElement, into attribute: inout AttributeDescription, entity: String, depth: Int
    ) throws(StoreError) {
        guard depth < 8 else {
            throw error(element, message: "composite '\(attribute.name)' is nested too deeply or contains itself")
        }
        let inline = element.children("attribute")
        let typeName =
            Self.compositeReferences.compactMap { nonEmpty(element[$0]) }.first
            ?? attribute.attributeValueClassName ?? attribute.name
        let type = composites[typeName] ?? composites.first { $0.key.lowercased() == typeName.lowercased() }?.value
        let parts = inline.isEmpty ? type?.children("attribute") ?? [] : inline
        if parts.isEmpty, composites.count == 1, let only = composites.first?.value {
            warn(
                element,
                message: "it does not name a composite type of the model; the model's only composite type is used")
            for child in only.children("attribute") {
                attribute.elements.append(try self.attribute(child, of: entity, depth: depth + 1))
            }
            return
        }
        guard !parts.isEmpty else {
            throw error(
                element,
                message:
                    "composite attribute '\(entity).\(attribute.name)' has no elements, and no composite type '\(typeName)' is defined"
            )
        }
        for child in parts { attribute.elements.append(try self.attribute(child, of: entity, depth: depth + 1)) }
    }
}
