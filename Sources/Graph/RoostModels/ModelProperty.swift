#if Macros
    internal import Foundation
    public import RoostCore
    public import RoostGraph

    /// A property of a `@Model` class, as the macro writes it down.
    public struct ModelProperty: Sendable {
        enum Content: Sendable {
            case attribute(AttributeDescription)
            /// The class is asked for its entity later: two classes may name each other.
            case relationship(RelationshipDescription, to: any ModelClass.Type)
        }

        private(set) var content: Content
        private(set) var isUnique = false
        private(set) var indexName: String?

        var name: String {
            switch content {
            case .attribute(let attribute): attribute.name
            case .relationship(let relationship, _): relationship.name
            }
        }

        private init(_ content: Content) { self.content = content }

        private init(_ attribute: AttributeDescription) { self.init(.attribute(attribute)) }

        // MARK: Attributes

        /// An attribute of a simple type.
        public static func attribute<T: AttributeValue>(
            _ name: String, as type: T.Type, isOptional: Bool, default value: T? = nil, limits: ModelLimits<T>? = nil
        ) -> Self {
            var attribute = AttributeDescription(
                name, type: attributeType(type), isOptional: isOptional, defaultValue: value?.attributeValue ?? .null)
            attribute.validation.minimum = limits?.minimum?.attributeValue ?? .null
            attribute.validation.maximum = limits?.maximum?.attributeValue ?? .null
            return Self(attribute)
        }

        /// An attribute that each save computes.
        public static func derived<T: AttributeValue>(
            _ name: String, as type: T.Type, from expression: String
        ) -> Self {
            Self(AttributeDescription.derived(name, type: attributeType(type), from: expression))
        }

        /// An attribute whose values are IDs of objects.
        public static func reference(_ name: String) -> Self { Self(AttributeDescription(name, type: .objectID)) }

        /// A composite attribute.
        public static func composite(_ name: String, elements: [AttributeDescription]) -> Self {
            Self(AttributeDescription.composite(name, elements: elements))
        }

        private static func attributeType(_ type: any AttributeValue.Type) -> AttributeType {
            switch type {
            case is Int16.Type: .integer16
            case is Int32.Type: .integer32
            case is Int64.Type, is Int.Type: .integer64
            case is Double.Type: .double
            case is Float.Type: .float
            case is Bool.Type: .boolean
            case is Date.Type: .date
            case is String.Type: .string
            case is Data.Type: .binaryData
            case is UUID.Type: .uuid
            case is Decimal.Type: .decimal
            case is ObjectID.Type: .objectID
            default: .undefined
            }
        }

        // MARK: Types that only the compiler knows

        /// A simple type under another name, which may be null.
        public static func optional<T: AttributeValue>(_ name: String, as type: T.Type, default value: T? = nil) -> Self
        {
            attribute(name, as: type, isOptional: true, default: value)
        }

        /// A simple type under another name.
        public static func mandatory<T: AttributeValue>(_ name: String, as type: T.Type, default value: T) -> Self {
            attribute(name, as: type, isOptional: false, default: value)
        }

        /// An enumeration that may be null, stored as its raw values.
        public static func optional<T: RawRepresentable>(
            _ name: String, as type: T.Type, default value: T? = nil
        ) -> Self where T.RawValue: AttributeValue {
            attribute(name, as: T.RawValue.self, isOptional: true, default: value?.rawValue)
        }

        /// An enumeration, stored as its raw values.
        public static func mandatory<T: RawRepresentable>(
            _ name: String, as type: T.Type, default value: T
        ) -> Self where T.RawValue: AttributeValue {
            attribute(name, as: T.RawValue.self, isOptional: false, default: value.rawValue)
        }

        /// A value that may be null, stored as JSON.
        @_disfavoredOverload
        public static func optional<T: Codable & Sendable>(
            _ name: String, as type: T.Type, default value: T? = nil
        ) -> Self { coded(name, type: type, isOptional: true, value: value) }

        /// A value, stored as JSON.
        @_disfavoredOverload
        public static func mandatory<T: Codable & Sendable>(
            _ name: String, as type: T.Type, default value: T
        ) -> Self { coded(name, type: type, isOptional: false, value: value) }

        /// A relationship to at most one object.
        public static func optional<T: ModelClass>(_ name: String, as type: T.Type) -> Self {
            toOne(name, to: type)
        }

        private static func coded<T: Codable & Sendable>(
            _ name: String, type: T.Type, isOptional: Bool, value: T?
        ) -> Self {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let data = value.flatMap { try? encoder.encode($0) }
            var attribute = AttributeDescription(
                name, type: .transformable, isOptional: isOptional, defaultValue: data.map { .data($0) } ?? .null)
            attribute.attributeValueClassName = "\(type)"
            return Self(attribute)
        }

        // MARK: Relationships

        /// A relationship to at most one object.
        public static func toOne(_ name: String, to type: any ModelClass.Type) -> Self {
            Self(.relationship(RelationshipDescription.toOne(name, to: ""), to: type))
        }

        /// A relationship to any number of objects.
        public static func toMany(
            _ name: String, to type: any ModelClass.Type, isOrdered: Bool
        ) -> Self {
            Self(.relationship(RelationshipDescription.toMany(name, to: "", isOrdered: isOrdered), to: type))
        }

        // MARK: Options

        private func with(
            attribute: (inout AttributeDescription) -> Void = { _ in },
            relationship: (inout RelationshipDescription) -> Void = { _ in }
        ) -> Self {
            var result = self
            switch content {
            case .attribute(var description):
                attribute(&description)
                result.content = .attribute(description)
            case .relationship(var description, let type):
                relationship(&description)
                result.content = .relationship(description, to: type)
            }
            return result
        }

        /// The same property, with its name in earlier versions of the model.
        public func renamed(from identifier: String?) -> Self {
            with {
                $0.renamingIdentifier = identifier
            } relationship: {
                $0.renamingIdentifier = identifier
            }
        }

        /// The same property, with a value that no other object may have.
        public func unique() -> Self {
            var result = self
            result.isUnique = true
            return result
        }

        /// The same property, with an index.
        public func indexed(as indexName: String? = nil) -> Self {
            var result = self
            result.indexName = indexName ?? name
            return result
        }

        /// The same attribute, with values of another type.
        public func ofType(_ type: AttributeType?) -> Self {
            with {
                $0.type = type ?? $0.type
                if $0.type == .uri, case .string(let text) = $0.defaultValue { $0.defaultValue = .uri(text) }
            }
        }

        /// The same attribute, left out of every store.
        public func transient() -> Self { with { $0.isTransient = true } }

        /// The same attribute, with limits of its length.
        public func lengths(minimum: Int? = nil, maximum: Int? = nil) -> Self {
            with { ($0.validation.minimumLength, $0.validation.maximumLength) = (minimum, maximum) }
        }

        /// The same attribute, with a pattern that values match as a whole.
        public func matching(_ regularExpression: String?) -> Self {
            with { $0.validation.regularExpression = regularExpression }
        }

        /// The same relationship, with the name of the relationship back.
        public func inverse(_ name: String) -> Self { with(relationship: { $0.inverseName = name }) }

        /// The same relationship, with a rule for deletes.
        public func deleteRule(_ rule: DeleteRule) -> Self { with(relationship: { $0.deleteRule = rule }) }

        /// The same to-many relationship, with limits of its count.
        public func counts(minimum: Int = 0, maximum: Int? = nil) -> Self {
            with(relationship: {
                $0.minCount = minimum
                if $0.maxCount != 1 { $0.maxCount = maximum }
            })
        }

        /// The same relationship, which is mandatory if it may not be empty.
        public func emptiness(isAllowed: Bool) -> Self {
            with(relationship: {
                $0.isOptional = isAllowed
                if !isAllowed, $0.minCount == 0 { $0.minCount = 1 }
            })
        }
    }

    /// The minimum and the maximum value of an attribute.
    public struct ModelLimits<T: AttributeValue>: Sendable {
        let minimum: T?
        let maximum: T?

        /// Creates limits, or nil for no limit.
        public init(minimum: T? = nil, maximum: T? = nil) {
            self.minimum = minimum
            self.maximum = maximum
        }
    }
#endif
