#if Macros
    internal import Foundation
    public import RoostCore
    public import RoostGraph

    /// A property of a `@Model` class, as the macro describes it.
    public struct ModelProperty: Sendable {
        enum Content: Sendable {
            case attribute(AttributeDescription)
            /// The description gets its destination entity later, because two classes may refer to
            /// each other.
            case relationship(RelationshipDescription, to: any ModelClass.Type)
        }

        private(set) var content: Content
        private(set) var isUnique = false
        private(set) var indexName: String?
        /// The reason why the description cannot be part of a model, or nil.
        private(set) var problem: String?

        var name: String {
            switch content {
            case .attribute(let attribute): attribute.name
            case .relationship(let relationship, _): relationship.name
            }
        }

        private init(_ content: Content) { self.content = content }

        private init(_ attribute: AttributeDescription) { self.init(.attribute(attribute)) }

        // MARK: Attributes

        /// Returns an attribute of a simple type.
        public static func attribute<T: AttributeValue>(
            _ name: String, as type: T.Type, isOptional: Bool, default value: T? = nil, limits: ModelLimits<T>? = nil
        ) -> Self {
            var attribute = AttributeDescription(
                name, type: attributeType(type), isOptional: isOptional, defaultValue: value?.attributeValue ?? .null)
            attribute.validation.minimum = limits?.minimum?.attributeValue ?? .null
            attribute.validation.maximum = limits?.maximum?.attributeValue ?? .null
            return Self(attribute)
        }

        /// Returns an attribute that each save computes.
        public static func derived<T: AttributeValue>(
            _ name: String, as type: T.Type, from expression: String
        ) -> Self {
            Self(AttributeDescription.derived(name, type: attributeType(type), from: expression))
        }

        /// Returns an attribute with IDs of objects as values.
        public static func reference(_ name: String) -> Self { Self(AttributeDescription(name, type: .objectID)) }

        /// Returns a composite attribute.
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

        // MARK: Types that only the compiler can distinguish

        /// Returns an optional attribute whose type is an alias of a simple type.
        public static func optional<T: AttributeValue>(_ name: String, as type: T.Type, default value: T? = nil) -> Self
        {
            attribute(name, as: type, isOptional: true, default: value)
        }

        /// Returns a mandatory attribute whose type is an alias of a simple type.
        public static func mandatory<T: AttributeValue>(_ name: String, as type: T.Type, default value: T) -> Self {
            attribute(name, as: type, isOptional: false, default: value)
        }

        /// Returns an optional enumeration, stored as its raw value.
        public static func optional<T: RawRepresentable>(
            _ name: String, as type: T.Type, default value: T? = nil
        ) -> Self where T.RawValue: AttributeValue {
            attribute(name, as: T.RawValue.self, isOptional: true, default: value?.rawValue)
        }

        /// Returns a mandatory enumeration, stored as its raw value.
        public static func mandatory<T: RawRepresentable>(
            _ name: String, as type: T.Type, default value: T
        ) -> Self where T.RawValue: AttributeValue {
            attribute(name, as: T.RawValue.self, isOptional: false, default: value.rawValue)
        }

        /// Returns an optional value, stored as JSON.
        @_disfavoredOverload
        public static func optional<T: Codable & Sendable>(
            _ name: String, as type: T.Type, default value: T? = nil
        ) -> Self { coded(name, type: type, isOptional: true, value: value) }

        /// Returns a mandatory value, stored as JSON.
        @_disfavoredOverload
        public static func mandatory<T: Codable & Sendable>(
            _ name: String, as type: T.Type, default value: T
        ) -> Self { coded(name, type: type, isOptional: false, value: value) }

        /// Returns a to-one relationship.
        public static func optional<T: ModelClass>(_ name: String, as type: T.Type) -> Self {
            toOne(name, to: type)
        }

        private static func coded<T: Codable & Sendable>(
            _ name: String, type: T.Type, isOptional: Bool, value: T?
        ) -> Self {
            var attribute = AttributeDescription(name, type: .transformable, isOptional: isOptional)
            attribute.attributeValueClassName = "\(type)"
            guard let value else { return Self(attribute) }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            do {
                attribute.defaultValue = .data(try encoder.encode(value))
                return Self(attribute)
            } catch {
                var property = Self(attribute)
                property.problem = "Its initial value of type '\(type)' has no JSON form; give another initial value."
                return property
            }
        }

        // MARK: Relationships

        /// Returns a to-one relationship.
        public static func toOne(_ name: String, to type: any ModelClass.Type) -> Self {
            Self(.relationship(RelationshipDescription.toOne(name, to: ""), to: type))
        }

        /// Returns a to-many relationship.
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

        /// Returns a copy with the property's name in earlier versions of the model.
        public func renamed(from identifier: String?) -> Self {
            with {
                $0.renamingIdentifier = identifier
            } relationship: {
                $0.renamingIdentifier = identifier
            }
        }

        /// Returns a copy that requires unique values.
        public func unique() -> Self {
            var result = self
            result.isUnique = true
            return result
        }

        /// Returns a copy with an index.
        public func indexed(as indexName: String? = nil) -> Self {
            var result = self
            result.indexName = indexName ?? name
            return result
        }

        /// Returns a copy with another attribute type.
        public func ofType(_ type: AttributeType?) -> Self {
            with {
                $0.type = type ?? $0.type
                if $0.type == .uri, case .string(let text) = $0.defaultValue { $0.defaultValue = .uri(text) }
            }
        }

        /// Returns a transient copy, which is not stored.
        public func transient() -> Self { with { $0.isTransient = true } }

        /// Returns a copy with limits of the string length.
        public func lengths(minimum: Int? = nil, maximum: Int? = nil) -> Self {
            with { ($0.validation.minimumLength, $0.validation.maximumLength) = (minimum, maximum) }
        }

        /// Returns a copy with a pattern that whole values must match.
        public func matching(_ regularExpression: String?) -> Self {
            with { $0.validation.regularExpression = regularExpression }
        }

        /// Returns a copy with the name of the inverse.
        public func inverse(_ name: String) -> Self { with(relationship: { $0.inverseName = name }) }

        /// Returns a copy with a delete rule.
        public func deleteRule(_ rule: DeleteRule) -> Self { with(relationship: { $0.deleteRule = rule }) }

        /// Returns a copy with limits of the number of destinations.
        public func counts(minimum: Int = 0, maximum: Int? = nil) -> Self {
            with(relationship: {
                $0.minCount = minimum
                if $0.maxCount != 1 { $0.maxCount = maximum }
            })
        }

        /// Returns a copy of the relationship, which may be empty if `isAllowed` is true.
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

        /// Creates limits.
        ///
        /// Nil means no limit.
        public init(minimum: T? = nil, maximum: T? = nil) {
            self.minimum = minimum
            self.maximum = maximum
        }
    }
#endif
