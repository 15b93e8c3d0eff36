internal import Foundation
internal import RoostCore
internal import RoostSystem

extension PredicateBinding {
    /// Returns the value of a literal that is compared with a target.
    func value(
        _ literal: PredicateLiteral, meeting target: Target?, at place: String.Index
    ) throws(StoreError) -> Value {
        switch literal {
        case .null: return .null
        case .typed(let value): return value
        case .cast(let inner, let type):
            if let value = type.value(inner, model: scope?.model) { return value }
            throw located(
                .invalidRequest, message: "For a cast to \(type.rawValue), \(type.expectedLiteral) is expected.",
                at: place)
        case .bool, .number, .string: break
        }
        if let target {
            if target.kind == .composite, let property = target.property {
                throw located(
                    .invalidRequest,
                    message:
                        "\(property) is a composite, which can be compared only with NULL; compare one of its elements.",
                    at: place
                )
            }
            if let value = Self.value(literal, target: target, model: scope?.model) { return value }
            if let property = target.property { throw misfit(literal, target: target, property: property, at: place) }
        }
        if let value = literal.alone { return value }
        throw located(
            .invalidValue, message: "The number is outside the range of every type.", at: place)
    }

    /// Returns the value of a literal for a target; nil if the literal does not fit.
    private static func value(_ literal: PredicateLiteral, target: Target, model: ManagedObjectModel?) -> Value? {
        switch (target.kind, literal) {
        case (.integer64, _), (.integer32, _), (.integer16, _), (.order, _), (.boolean, _), (.double, _):
            return number(literal)
        case (.float, .number(let text)) where PredicateLiteral.isMeantAsFloat(text):
            return Float(text).flatMap { $0.isFinite ? .double(Double($0)) : nil } ?? number(literal)
        case (.float, _): return number(literal)
        case (.decimal, .bool(let flag)): return .bool(flag)
        case (.decimal, .number(let text)): return DecimalNumber(utf8: text.utf8).map { .decimal($0.decimal) }
        case (.string, .string(let text)): return .string(text)
        case (.uri, .string(let text)): return .uri(text)
        case (.date, .string(let text)):
            return DateText.seconds(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case (.uuid, .string(let text)): return UUID(uuidString: text).map { .uuid($0) }
        case (.data, .string(let text)), (.transformable, .string(let text)):
            return Base64.data(text).map { .data($0) }
        case (.reference, .string(let text)), (.polymorphicReference, .string(let text)),
            (.objectID, .string(let text)):
            return model?.objectID(text).map { .objectID($0) }
        case (.reference, .number(let text)), (.polymorphicReference, .number(let text)),
            (.objectID, .number(let text)):
            guard let key = Int64(text), key > 0, let destination = target.destination, let model else { return nil }
            return .objectID(ObjectID(model.entities[destination].name, key: key))
        default: return nil
        }
    }

    private static func number(_ literal: PredicateLiteral) -> Value? {
        switch literal {
        case .bool(let flag): .bool(flag)
        case .number(let text): PredicateLiteral.number(text)
        default: nil
        }
    }

    private func misfit(
        _ literal: PredicateLiteral, target: Target, property: String, at place: String.Index
    ) -> StoreError {
        let kind = target.isObject ? "" : " (\(target.kind))"
        // The user most likely meant an attribute of the object.
        var hint = "."
        if case .string = literal, let path = target.path, let name = textAttribute(ofObjectsIn: target) {
            hint = "; did you mean \(PredicatePrinter.path(path + [name]))?"
        }
        return located(
            .invalidValue,
            message:
                "\(property)\(kind) is compared with \(literal.kindDescription), but \(expected(target)) is needed\(hint)",
            at: place)
    }

    /// Returns the attribute that most likely contains the names of the target's objects.
    private func textAttribute(ofObjectsIn target: Target) -> String? {
        guard target.isObject, let scope, let number = target.destination else { return nil }
        let names = scope.model.entities[number].attributes.filter { $0.type == .string && $0.isStored }.map(\.name)
        return ["name", "title"].first(where: names.contains) ?? names.first
    }

    /// Describes the literals that a target allows.
    private func expected(_ target: Target) -> String {
        switch target.kind {
        case .string, .uri: return "a string in quotes"
        case .date:
            return
                "a date such as \"2024-05-01\" or \"2024-05-01T12:30:00Z\", or CAST(seconds since 2001, \"NSDate\"),"
        case .uuid: return "a UUID in quotes"
        case .data, .transformable: return "base64 in quotes"
        case .boolean: return "TRUE or FALSE"
        case .decimal: return "a number of at most 38 digits"
        case .reference, .polymorphicReference, .objectID:
            let entity = target.destination.flatMap { scope?.model.entities[$0].name } ?? scope?.entity.name
            let key = target.destination == nil ? " or " : ", its key, or "
            return "an object\(key)an ID such as \"\(entity?.text ?? "Entity")/5\""
        default: return "a number in range"
        }
    }

    func located(_ code: StoreError.Code, message: String, at place: String.Index) -> StoreError {
        let error = StoreError(code, message)
        return tokenizer?.locate(error, at: place) ?? error
    }
}
