internal import Foundation
internal import RoostCore
internal import RoostMigration
internal import RoostQuery

/// The rules that concern a single record, compiled for each entity.
///
/// One byte of a record's bitmap shows whether any of up to eight mandatory properties is null.
/// Every other rule is checked separately.
package struct RecordRules: Sendable {
    private enum Limit: Sendable {
        case mandatory
        case minimumInteger(Int64)
        case maximumInteger(Int64)
        case minimumDouble(Double)
        case maximumDouble(Double)
        case minimumDecimal(DecimalNumber)
        case maximumDecimal(DecimalNumber)
        case minimumLength(Int)
        case maximumLength(Int)
        case pattern(StringMatcher)
    }

    /// A rule for a field; a class, because a structure would be copied for each record.
    private final class FieldRule: Sendable {
        let rule: StoreFinding.Rule
        let field: RecordLayout.Field
        /// The field of the composite that contains the field, or nil.
        ///
        /// The rule applies only if the composite is not null.
        let composite: RecordLayout.Field?
        let limit: Limit
        /// The index of the regular expression in ``RecordRules/isSlow``.
        let pattern: Int

        init(
            _ rule: StoreFinding.Rule, field: RecordLayout.Field, composite: RecordLayout.Field?, limit: Limit,
            pattern: Int
        ) {
            self.rule = rule
            self.field = field
            self.composite = composite
            self.limit = limit
            self.pattern = pattern
        }
    }

    private struct EntityRules: Sendable {
        /// The offset of each bitmap byte that has bits of mandatory properties, with these bits.
        var mandatoryBits: [(offset: Int, bits: UInt8)] = []
        /// The mandatory properties that are not elements of composites.
        var mandatoryFields: [RecordLayout.Field] = []
        /// All other rules.
        var rules: [FieldRule] = []

        var isEmpty: Bool { mandatoryFields.isEmpty && rules.isEmpty }

        mutating func addMandatory(_ field: RecordLayout.Field) {
            mandatoryFields.append(field)
            let (offset, bit) = (RecordLayout.Header.bitmap + field.index / 8, UInt8(1) << UInt8(field.index % 8))
            if let index = mandatoryBits.firstIndex(where: { $0.offset == offset }) {
                mandatoryBits[index].bits |= bit
            } else {
                mandatoryBits.append((offset, bit))
            }
        }
    }

    private let entities: [EntityRules]
    /// For each regular expression, whether it took too long for a value and is no longer used.
    private var isSlow: [Bool] = []
    /// The properties with a rule that cannot be applied, each with a message.
    private(set) var problems: [(property: String, message: String)] = []

    init(_ model: ManagedObjectModel) {
        var compiler = Compiler(model)
        entities = model.entities.map { $0.isAbstract ? EntityRules() : compiler.rules(of: $0) }
        isSlow = Array(repeating: false, count: compiler.patterns.count)
        problems = compiler.problems
    }

    var hasPatterns: Bool { !isSlow.isEmpty }

    package func isEmpty(forEntity number: Int) -> Bool { entities[number].isEmpty }

    /// Returns the bytes of a record's bitmap that can show a broken rule, and the relevant bits.
    ///
    /// The result is nil if other rules must be checked too.
    package func decidingBits(forEntity number: Int) -> [(offset: Int, bits: UInt8)]? {
        entities[number].rules.isEmpty ? entities[number].mandatoryBits : nil
    }

    /// Calls `body` for each rule that an undamaged record breaks.
    ///
    /// - Returns: A property whose regular expression took too long in this call, or nil.
    mutating func check(
        _ record: RecordReader, _ body: (StoreFinding.Rule, RecordLayout.Field) -> Void
    ) -> RecordLayout.Field? {
        let number = record.entityNumber
        guard !entities[number].isEmpty else { return nil }
        for index in entities[number].mandatoryBits.indices {
            let (offset, bits) = entities[number].mandatoryBits[index]
            guard record.bytes[offset] & bits != 0 else { continue }
            for field in entities[number].mandatoryFields where record.isNull(field) { body(.mandatory, field) }
            break
        }
        var slow: RecordLayout.Field?
        for index in entities[number].rules.indices {
            let rule = entities[number].rules[index]
            if let composite = rule.composite, record.isNull(composite) { continue }
            guard !record.isNull(rule.field) else {
                if case .mandatory = rule.limit { body(rule.rule, rule.field) }
                continue
            }
            if case .pattern(let matcher) = rule.limit {
                guard !isSlow[rule.pattern] else { continue }
                do throws(StoreError) {
                    if try !matcher.matches(record.bytes(rule.field)) { body(rule.rule, rule.field) }
                } catch {
                    isSlow[rule.pattern] = true
                    slow = rule.field
                }
            } else if !Self.isMet(rule.limit, by: record, field: rule.field) {
                body(rule.rule, rule.field)
            }
        }
        return slow
    }

    private static func isMet(_ limit: Limit, by record: RecordReader, field: RecordLayout.Field) -> Bool {
        switch limit {
        case .mandatory, .pattern: true
        case .minimumInteger(let limit): record.integer(field) >= limit
        case .maximumInteger(let limit): record.integer(field) <= limit
        // NaN is neither less nor greater, and so breaks every limit.
        case .minimumDouble(let limit): record.double(field) >= limit
        case .maximumDouble(let limit): record.double(field) <= limit
        case .minimumDecimal(let limit): record.decimal(field).map { !$0.isNaN && $0 >= limit } ?? true
        case .maximumDecimal(let limit): record.decimal(field).map { !$0.isNaN && $0 <= limit } ?? true
        case .minimumLength(let limit): record.codePointCount(field) >= limit
        case .maximumLength(let limit): record.codePointCount(field) <= limit
        }
    }

    private struct Compiler {
        let model: ManagedObjectModel
        var problems: [(property: String, message: String)] = []
        /// For each regular expression, its index, and its matcher if it is valid.
        var patterns: [String: (position: Int, matcher: StringMatcher?)] = [:]

        init(_ model: ManagedObjectModel) { self.model = model }

        mutating func rules(of entity: ManagedObjectModel.Entity) -> EntityRules {
            var result = EntityRules()
            for attribute in entity.attributes where attribute.isStored && attribute.derivationExpression == nil {
                append(attribute, path: attribute.name, composite: nil, entity: entity, result: &result)
            }
            for relationship in entity.relationships
            where relationship.storage == .field && relationship.mustLeadSomewhere {
                guard let field = entity.layout.field(relationship.name.name) else { continue }
                result.addMandatory(field)
            }
            return result
        }

        private mutating func append(
            _ attribute: AttributeDescription, path: String, composite: RecordLayout.Field?,
            entity: ManagedObjectModel.Entity, result: inout EntityRules
        ) {
            guard let field = entity.layout.field(path) else { return }
            func add(_ rule: StoreFinding.Rule, limit: Limit?, pattern: Int = 0) {
                guard let limit else { return }
                result.rules.append(
                    FieldRule(rule, field: field, composite: composite, limit: limit, pattern: pattern))
            }
            if !attribute.isOptional {
                if composite == nil { result.addMandatory(field) } else { add(.mandatory, limit: .mandatory) }
            }
            let validation = attribute.validation
            add(.minimum, limit: Self.limit(validation.minimum, kind: field.kind, isMinimum: true))
            add(.maximum, limit: Self.limit(validation.maximum, kind: field.kind, isMinimum: false))
            if field.kind == .string {
                add(.minimumLength, limit: validation.minimumLength.map { .minimumLength($0) })
                add(.maximumLength, limit: validation.maximumLength.map { .maximumLength($0) })
                if let text = validation.regularExpression {
                    let pattern = matcher(text, of: "\(entity.name).\(path)")
                    add(.pattern, limit: pattern.matcher.map { .pattern($0) }, pattern: pattern.position)
                }
            }
            for element in attribute.elements {
                append(element, path: "\(path).\(element.name)", composite: field, entity: entity, result: &result)
            }
        }

        private static func limit(_ value: Value, kind: RecordLayout.Field.Kind, isMinimum: Bool) -> Limit? {
            switch (kind, value) {
            case (.integer16, .int(let number)), (.integer32, .int(let number)), (.integer64, .int(let number)):
                return isMinimum ? .minimumInteger(number) : .maximumInteger(number)
            case (.double, .double(let number)):
                return isMinimum ? .minimumDouble(number) : .maximumDouble(number)
            case (.float, .double(let number)):
                // The limit is rounded like the values of the attribute.
                let rounded = Double(Float(number))
                return isMinimum ? .minimumDouble(rounded) : .maximumDouble(rounded)
            case (.date, .date(let date)):
                let seconds = date.timeIntervalSinceReferenceDate
                return isMinimum ? .minimumDouble(seconds) : .maximumDouble(seconds)
            case (.decimal, .decimal(let decimal)):
                guard let number = DecimalNumber(decimal) else { return nil }
                return isMinimum ? .minimumDecimal(number) : .maximumDecimal(number)
            default: return nil
            }
        }

        private mutating func matcher(_ text: String, of property: String) -> (position: Int, matcher: StringMatcher?) {
            if let known = patterns[text] { return known }
            var made: StringMatcher?
            do throws(StoreError) {
                made = try StringMatcher(.matches, pattern: text)
            } catch {
                problems.append(
                    (
                        property,
                        "The values of '\(property)' were not compared with their regular expression: \(error.message)"
                    ))
            }
            let pattern = (patterns.count, made)
            patterns[text] = pattern
            return pattern
        }
    }
}
