internal import Roost
internal import RoostCore
internal import RoostQuery

/// The request for rows from `--select`, `--group-by`, `--having`, `--distinct` and `--sort`.
///
/// In expressions, `id` means the object and `album.id` its album, unless a property is named `id`.
/// `--having` and `--group-by` can refer to columns.
struct RowOptions {
    private(set) var request: RowRequest
    private let entity: ManagedObjectModel.Entity
    private let model: ManagedObjectModel
    /// The expressions of columns by column name, before types are resolved.
    private var written: [String: FetchRequest.Expression] = [:]

    /// Returns whether the result is rows of values instead of objects.
    static func isNeeded(
        _ arguments: ParsedArguments, columns: [ListOption.Part], entity: ManagedObjectModel.Entity
    ) -> Bool {
        if arguments.has("distinct") || arguments.value("group-by") != nil || arguments.value("having") != nil {
            return true
        }
        return columns.contains { $0.name != nil || !isPlain($0.text, entity: entity) }
    }

    /// Returns whether a text is the name of a property, perhaps misspelled.
    private static func isPlain(_ text: String, entity: ManagedObjectModel.Entity) -> Bool {
        if entity.layout.field(text) != nil { return true }
        if let expression = try? FetchRequest.Expression(format: text) {
            guard case .keyPath = expression else { return false }
        }
        return text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "#" } && !text.hasPrefix("#")
    }

    /// Reads the options; `columns` is nil without `--select`.
    ///
    /// - Throws: `UsageError`; errors of an expression, with the option in the message.
    init(
        _ arguments: ParsedArguments, columns: [ListOption.Part]?, fetch: FetchRequest,
        entity: ManagedObjectModel.Entity, model: ManagedObjectModel
    ) throws {
        (self.entity, self.model) = (entity, model)
        request = RowRequest(fetch, returnsDistinctResults: arguments.has("distinct"))
        for part in columns ?? [] {
            let name = part.name ?? part.text
            if ["entity", "version"].contains(part.text), entity.layout.field(part.text) == nil {
                throw UsageError(
                    "option '--select' shows '\(part.text)' only beside properties, not beside expressions, groups or distinct rows"
                )
            }
            written[name] = try? FetchRequest.Expression(format: Self.countingObjects(part.text))
            request.propertiesToFetch.append(
                FetchRequest.FetchedProperty(name, expression: try expression(part, of: "select", names: [:])))
        }
        if let text = arguments.value("group-by") {
            for part in try ListOption(text, option: "group-by").parts {
                // The name of a column is not resolved here, because the store resolves it.
                let isColumn = request.propertiesToFetch.contains { $0.name == part.text }
                request.propertiesToGroupBy.append(
                    isColumn ? .keyPath([part.text]) : try expression(part, of: "group-by", names: written))
            }
        }
        if let text = arguments.value("having") { request.havingPredicate = try condition(text) }
    }

    private func expression(
        _ part: ListOption.Part, of option: String, names: [String: FetchRequest.Expression]
    ) throws(StoreError) -> FetchRequest.Expression {
        // The name of a property may be a keyword of predicates, so it is not parsed.
        if entity.layout.field(part.text) != nil { return .keyPath([part.text]) }
        var isRewritten = false
        do throws(StoreError) {
            let text = Self.countingObjects(part.inPlace)
            let loose = try FetchRequest.Expression(format: text)
            let meant = loose.replacing { replacement($0, names: names) }
            isRewritten = meant != loose
            return try FetchRequest.Expression(
                isRewritten ? try meant.format() : text, for: entity.name, model: model,
                ofGroups: option != "group-by")
        } catch {
            throw Self.naming(option, error: error, hasPlace: !isRewritten)
        }
    }

    private func condition(_ text: String) throws(StoreError) -> FetchRequest.Predicate {
        var isRewritten = false
        do throws(StoreError) {
            let text = Self.countingObjects(text)
            let loose = try FetchRequest.Predicate(format: text)
            let meant = loose.replacing { replacement($0, names: written) }
            isRewritten = meant != loose
            return try FetchRequest.Predicate(
                isRewritten ? try meant.format() : text, for: entity.name, model: model, ofGroups: true)
        } catch {
            throw Self.naming("having", error: error, hasPlace: !isRewritten)
        }
    }

    /// Returns the text with `@count` instead of each `count(*)` of SQL.
    ///
    /// Blanks after `@count` keep the length, so that error messages name correct text positions.
    private static func countingObjects(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let match = rest.firstMatch(of: /["']|\bcount\s*\(\s*\*\s*\)/.ignoresCase()) {
            var end = match.range.upperBound
            if match.output.count == 1 {
                end = BracketNesting.endOfString(rest[match.range.lowerBound...]) ?? rest.endIndex
                result += rest[..<end]
            } else {
                let blanks = String(repeating: " ", count: match.output.count - "@count".count)
                result += rest[..<match.range.lowerBound] + "@count" + blanks
            }
            rest = rest[end...]
        }
        return result + rest
    }

    /// Returns the error with the option's name in its message.
    ///
    /// If `hasPlace` is false, the message's position refers to a rewritten text and is removed.
    static func naming(_ option: String, error: StoreError, hasPlace: Bool) -> StoreError {
        var message = error.message
        if !hasPlace, message.hasPrefix("At column "), let colon = message.firstIndex(of: ":") {
            message = String(message[message.index(after: colon)...].drop(while: \.isWhitespace))
            return error.withMessage("In '--\(option)': \(message)")
        }
        for (place, named) in [
            (" of the predicate:", " of '--\(option)':"),
            ("The predicate cannot be read at", "'--\(option)' cannot be read at"),
        ] {
            if let range = message.firstRange(of: place) { message.replaceSubrange(range, with: named) }
        }
        return error.withMessage(message)
    }

    /// Returns the replacement of a key path that names a column or an object's ID, else nil.
    private func replacement(
        _ path: [String], names: [String: FetchRequest.Expression]
    ) -> FetchRequest.Expression? {
        if let column = names[path.joined(separator: ".")] { return column.replacing { replacement($0, names: [:]) } }
        guard path.last == "id", (try? ResolvedPath(path, from: entity.number, model: model)) == nil else { return nil }
        return path.count == 1 ? .evaluatedObject : .keyPath(path.dropLast())
    }
}

extension FetchRequest.Expression {
    /// Returns a copy with each key path replaced by the result of `body`; nil keeps the key path.
    ///
    /// The parser bounds the depth of the recursion.
    fileprivate func replacing(_ body: ([String]) -> Self?) -> Self {
        func all(_ members: [Self]) -> [Self] { members.map { $0.replacing(body) } }
        switch self {
        case .constant, .evaluatedObject, .variable: return self
        case .keyPath(let names): return body(names) ?? self
        case .path(of: let start, let names): return .path(of: start.replacing(body), names)
        case .aggregate(let members): return .aggregate(all(members))
        case .function(let function, let arguments): return .function(function, all(arguments))
        case .registered(let name, let arguments): return .registered(name, all(arguments))
        case .cast(let value, let type): return .cast(value.replacing(body), type)
        case .subquery(let collection, let variable, let predicate):
            return .subquery(collection.replacing(body), variable: variable, predicate.replacing(body))
        case .conditional(let condition, let whenTrue, let whenFalse):
            return .conditional(condition.replacing(body), whenTrue.replacing(body), whenFalse.replacing(body))
        case .element(of: let values, .position(let position)):
            return .element(of: values.replacing(body), .position(position.replacing(body)))
        case .element(of: let values, let index): return .element(of: values.replacing(body), index)
        case .setOperation(let operation, let left, let right):
            return .setOperation(operation, left.replacing(body), right.replacing(body))
        }
    }
}

extension FetchRequest.Predicate {
    /// Returns a copy with each key path replaced by the result of `body`; nil keeps the key path.
    fileprivate func replacing(_ body: ([String]) -> FetchRequest.Expression?) -> Self {
        switch self {
        case .constant: return self
        case .comparison(var comparison):
            comparison.left = comparison.left.replacing(body)
            comparison.right = comparison.right.replacing(body)
            return .comparison(comparison)
        case .and(let members): return .and(members.map { $0.replacing(body) })
        case .or(let members): return .or(members.map { $0.replacing(body) })
        case .not(let member): return .not(member.replacing(body))
        }
    }
}
