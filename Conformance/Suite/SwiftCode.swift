internal import Foundation
internal import RoostCore

/// Values, names and requests as Swift code that can be pasted into a test.
enum SwiftCode {
    static func list(_ parts: [String]) -> String { "[\(parts.joined(separator: ", "))]" }

    /// Returns a string literal in ASCII, which editors and normalization cannot change.
    static func code(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case " "..."~": result.unicodeScalars.append(scalar)
            default: result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            }
        }
        return result + "\""
    }

    static func code(_ name: EntityName) -> String { code(name.text) }
    static func code(_ id: ObjectID) -> String { "ObjectID(\(code(id.entity)), key: \(id.key))" }
    static func code(_ name: RelationshipName) -> String {
        "RelationshipName(\(code(name.entity)), name: \(code(name.name)))"
    }

    static func code(_ link: Link) -> String {
        let order = link.order == 0 ? "" : ", order: \(link.order)"
        let inverseOrder = link.inverseOrder == 0 ? "" : ", inverseOrder: \(link.inverseOrder)"
        return "Link(\(link.source), \(link.target)\(order)\(inverseOrder))"
    }

    static func code(_ values: [String: Value]) -> String {
        guard !values.isEmpty else { return "[:]" }
        return list(values.sorted { $0.key < $1.key }.map { "\(code($0.key)): \(code($0.value))" })
    }

    static func code(_ number: Double) -> String {
        if number.isNaN { return "Double(bitPattern: 0x\(String(number.bitPattern, radix: 16)))" }
        if number.isInfinite { return number > 0 ? ".infinity" : "-.infinity" }
        return "\(number)"
    }

    static func code(_ data: Data) -> String {
        data.isEmpty ? "Data()" : "Data(\([UInt8](data)))"
    }

    static func code(_ value: Value) -> String {
        switch value {
        case .null: return ".null"
        case .bool(let flag): return ".bool(\(flag))"
        case .int(let number): return ".int(\(number))"
        case .double(let number): return ".double(\(code(number)))"
        case .decimal(let decimal):
            guard let number = DecimalNumber(decimal), !number.isNaN else { return ".decimal(.nan)" }
            if number.exponent == 0, number.mantissa < 1 << 53 {
                return ".decimal(\(number.isNegative ? "-" : "")\(number.mantissa))"
            }
            return
                ".decimal((DecimalNumber(isNegative: \(number.isNegative), mantissa: \(number.mantissa), exponent: \(number.exponent)) ?? .nan).decimal)"
        case .string(let text): return ".string(\(code(text)))"
        case .uri(let text): return ".uri(\(code(text)))"
        case .data(let data): return ".data(\(code(data)))"
        case .date(let date):
            return ".date(Date(timeIntervalSinceReferenceDate: \(code(date.timeIntervalSinceReferenceDate))))"
        case .uuid(let uuid):
            let u = uuid.uuid
            let bytes = [u.0, u.1, u.2, u.3, u.4, u.5, u.6, u.7, u.8, u.9, u.10, u.11, u.12, u.13, u.14, u.15]
            return ".uuid(UUID(uuid: (\(bytes.map { "\($0)" }.joined(separator: ", ")))))"
        case .objectID(let id): return ".objectID(\(code(id)))"
        case .composite(let elements): return ".composite(\(code(elements)))"
        }
    }

    static func code(_ value: MetadataValue) -> String {
        switch value {
        case .string(let text): ".string(\(code(text)))"
        case .int(let number): ".int(\(number))"
        case .double(let number): ".double(\(code(number)))"
        case .bool(let flag): ".bool(\(flag))"
        case .date(let date):
            ".date(Date(timeIntervalSinceReferenceDate: \(code(date.timeIntervalSinceReferenceDate))))"
        case .data(let data): ".data(\(code(data)))"
        case .array(let values): ".array(\(list(values.map { code($0) })))"
        case .dictionary(let values):
            values.isEmpty
                ? ".dictionary([:])"
                : ".dictionary(\(list(values.sorted { $0.key < $1.key }.map { "\(code($0.key)): \(code($0.value))" })))"
        }
    }

    static func code(_ request: FetchRequest) -> String {
        var parts = [code(request.entity)]
        if let predicate = request.predicate { parts.append("where: \(code(predicate))") }
        if !request.sortDescriptors.isEmpty {
            let order = request.sortDescriptors.map { descriptor in
                let direction = descriptor.isAscending ? "" : ", ascending: false"
                let options = descriptor.options.rawValue
                return
                    ".init(\(code(descriptor.key))\(direction)\(options == 0 ? "" : ", options: .init(rawValue: \(options))"))"
            }
            parts.append("sortedBy: \(list(order))")
        }
        if let limit = request.fetchLimit { parts.append("limit: \(limit)") }
        if let offset = request.fetchOffset { parts.append("offset: \(offset)") }
        if !request.includesSubentities { parts.append("includesSubentities: false") }
        return "FetchRequest(\(parts.joined(separator: ", ")))"
    }

    static func code(_ predicate: FetchRequest.Predicate) -> String {
        switch predicate {
        case .constant(let truth): return ".constant(\(truth))"
        case .and(let members): return ".and(\(list(members.map { code($0) })))"
        case .or(let members): return ".or(\(list(members.map { code($0) })))"
        case .not(let member): return ".not(\(code(member)))"
        case .comparison(let comparison):
            let modifier = comparison.modifier == .direct ? "" : ", modifier: .\(comparison.modifier.rawValue)"
            let options = comparison.options.isEmpty ? "" : ", options: .init(rawValue: \(comparison.options.rawValue))"
            return
                ".comparison(.init(left: \(code(comparison.left)), operator: .\(comparison.operator.rawValue), right: \(code(comparison.right))\(modifier)\(options)))"
        }
    }

    static func code(_ expression: FetchRequest.Expression) -> String {
        switch expression {
        case .constant(let value): return ".constant(\(code(value)))"
        case .keyPath(let path): return ".keyPath(\(list(path.map { code($0) })))"
        case .path(let start, let path): return ".path(of: \(code(start)), \(list(path.map { code($0) })))"
        case .evaluatedObject: return ".evaluatedObject"
        case .variable(let name): return ".variable(\(code(name)))"
        case .aggregate(let members): return ".aggregate(\(list(members.map { code($0) })))"
        case .function(let function, let arguments):
            return ".function(.\(function), \(list(arguments.map { code($0) })))"
        case .registered(let name, let arguments):
            return ".registered(\(code(name)), \(list(arguments.map { code($0) })))"
        case .cast(let source, let type): return ".cast(\(code(source)), .\(type))"
        case .subquery(let collection, let variable, let predicate):
            return ".subquery(\(code(collection)), variable: \(code(variable)), \(code(predicate)))"
        case .conditional(let condition, let first, let second):
            return ".conditional(\(code(condition)), \(code(first)), \(code(second)))"
        case .element(let list, let index):
            let index =
                switch index {
                case .first: ".first"
                case .last: ".last"
                case .size: ".size"
                case .position(let place): ".position(\(code(place)))"
                }
            return ".element(of: \(code(list)), \(index))"
        case .setOperation(let operation, let left, let right):
            return ".setOperation(.\(operation), \(code(left)), \(code(right)))"
        }
    }
}
