extension ModelValidator {
    mutating func checkAttribute(_ attribute: AttributeDescription, of number: Int) {
        let entity = entities[number].name
        if attribute.type == .undefined, !attribute.isTransient {
            add(
                entity, property: attribute.name,
                message: "An attribute that is stored needs a type; without one it must be transient.")
        }
        for message in Self.valueProblems(attribute) { add(entity, property: attribute.name, message: message) }
        checkElements(of: attribute, entity: entity, path: attribute.name, depth: 1)
        if let text = attribute.derivationExpression { checkDerivation(text, name: attribute.name, of: number) }
    }

    // MARK: Values

    private static func valueProblems(_ attribute: AttributeDescription) -> [String] {
        var problems: [String] = []
        let type = attribute.type
        if let problem = valueProblem(attribute.defaultValue, of: attribute, isLimit: false) {
            problems.append("The default value \(problem)")
        }
        for (limit, name) in [(attribute.validation.minimum, "minimum"), (attribute.validation.maximum, "maximum")]
        where !limit.isNull {
            if !type.isNumberOrDate {
                problems.append("A \(name) has no meaning for the type \(type.name).")
            } else if let problem = valueProblem(limit, of: attribute, isLimit: true) {
                problems.append("The \(name) \(problem)")
            }
        }
        let lengths = [
            (attribute.validation.minimumLength, "minimum length"),
            (attribute.validation.maximumLength, "maximum length"),
        ]
        for (length, name) in lengths {
            guard let length else { continue }
            if type != .string { problems.append("A \(name) has no meaning for the type \(type.name).") }
            if length < 0 { problems.append("The \(name) is negative.") }
        }
        if attribute.validation.regularExpression != nil, type != .string {
            problems.append("A regular expression has no meaning for the type \(type.name).")
        }
        return problems
    }

    /// Returns the end of a sentence about an invalid value, or nil.
    private static func valueProblem(
        _ value: Value, of attribute: AttributeDescription, isLimit: Bool
    ) -> String? {
        let type = attribute.type
        switch (type, value) {
        case (_, .null): return nil
        case (.integer16, .int(let number)):
            return isLimit || Int16(exactly: number) != nil ? nil : "is out of the range of 16 bits."
        case (.integer32, .int(let number)):
            return isLimit || Int32(exactly: number) != nil ? nil : "is out of the range of 32 bits."
        case (.float, .double(let number)):
            return isLimit || !number.isFinite || Float(number).isFinite ? nil : "is out of the range of a float."
        case (.decimal, .decimal(let number)):
            return DecimalNumber(number) != nil ? nil : "has more than 38 digits or too large an exponent."
        case (.integer64, .int), (.double, .double), (.date, .date), (.string, .string), (.boolean, .bool),
            (.binaryData, .data), (.transformable, .data), (.uuid, .uuid), (.uri, .uri):
            return nil
        case (.composite, .composite(let values)):
            let elements = Dictionary(attribute.elements.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
            for (name, value) in values.sorted(by: { ModelResolver.precedes($0.key, $1.key) }) {
                guard let element = elements[name] else {
                    return "names '\(name)', which is not an element of the composite."
                }
                if let problem = valueProblem(value, of: element, isLimit: false) {
                    return "of the element '\(name)' \(problem)"
                }
            }
            return nil
        case (.undefined, _), (.objectID, _): return "must be null for the type \(type.name)."
        default: return "is \(value.kindDescription); the type is \(type.name)."
        }
    }

    // MARK: Composites

    private mutating func checkElements(of attribute: AttributeDescription, entity: String, path: String, depth: Int) {
        guard attribute.type == .composite else {
            if !attribute.elements.isEmpty {
                add(entity, property: path, message: "Only an attribute of type composite has elements.")
            }
            return
        }
        guard depth <= Self.maximumCompositeDepth else {
            add(entity, property: path, message: "Composites nest at most \(Self.maximumCompositeDepth) deep.")
            return
        }
        if attribute.elements.isEmpty {
            add(entity, property: path, message: "A composite needs at least one element.")
        }
        var seen: Set<String> = []
        for element in attribute.elements {
            let place = path + "." + element.name
            for problem in Self.nameProblems(element.name) {
                add(entity, property: place, message: "The element's \(problem)")
            }
            if !seen.insert(element.name).inserted {
                add(entity, property: place, message: "Another element of the composite has this name too.")
            }
            if element.type == .undefined || element.type == .objectID {
                add(
                    entity, property: place,
                    message: "An element of a composite cannot be of type \(element.type.name).")
            }
            if element.isTransient {
                add(entity, property: place, message: "An element of a composite cannot be transient.")
            }
            if element.derivationExpression != nil {
                add(entity, property: place, message: "An element of a composite cannot be derived.")
            }
            if element.allowsExternalBinaryDataStorage {
                add(entity, property: place, message: "An element of a composite cannot allow external storage.")
            }
            for message in Self.valueProblems(element) { add(entity, property: place, message: message) }
            checkElements(of: element, entity: entity, path: place, depth: depth + 1)
        }
    }

    // MARK: Derived attributes

    private mutating func checkDerivation(_ text: String, name: String, of number: Int) {
        let path: [String]
        var toManyCount = 0
        switch DerivationExpression(text) {
        case nil:
            add(
                entities[number].name, property: name,
                message:
                    "The derivation expression must have one of these forms: a key path over to-one relationships, "
                    + "canonical:(path), uppercase:(path), lowercase:(path), path.@count (or @sum, @min, @max, @avg), "
                    + "now().")
            return
        case .now: return
        case .path(let parts), .function(_, let parts): path = parts
        case .aggregate(let parts, _):
            path = parts
            toManyCount = 1
        }
        var current: Int? = number
        var elements: [AttributeDescription]?
        var found = 0
        for part in path {
            if let element = elements?.first(where: { $0.name == part }) {
                elements = element.elements
                continue
            }
            guard elements == nil, let entity = current, let (_, property) = property(part, of: entity) else {
                let hint = self.hint(part, among: current.map { propertyNames(of: $0) } ?? elements?.map(\.name) ?? [])
                add(
                    entities[number].name, property: name,
                    message: "The derivation expression refers to '\(part)', which does not exist\(hint)")
                return
            }
            switch property {
            case .attribute(let attribute):
                elements = attribute.elements
                current = nil
            case .relationship(let relationship):
                if relationship.isToMany { found += 1 }
                // If the destination is missing, `checkRelationship` reports this.
                guard let destination = numbers[relationship.destinationEntityName] else { return }
                current = destination
            case .fetched:
                add(
                    entities[number].name, property: name,
                    message: "The derivation expression refers to a fetched property.")
                return
            }
        }
        if found != toManyCount {
            add(
                entities[number].name, property: name,
                message: toManyCount == 0
                    ? "The derivation expression leads through a to-many relationship; end it with an aggregate such as @count."
                    : "An aggregate needs exactly one to-many relationship in its path.")
        }
    }
}

extension AttributeType {
    var isNumberOrDate: Bool { self == .date || isNumber }

    var isNumber: Bool {
        switch self {
        case .integer16, .integer32, .integer64, .decimal, .double, .float: true
        default: false
        }
    }
}
