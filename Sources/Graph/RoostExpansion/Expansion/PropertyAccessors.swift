#if Macros
    /// The code of a property's getter and setter.
    ///
    /// The code identifies the property by its position in the class, because macros do not know
    /// the offsets in records.
    struct PropertyAccessors {
        private let getter: String
        private let setter: String
        private let isDerived: Bool

        /// Creates the accessors of a property, with the expression `slot` for its position.
        init(_ property: ModelPropertySyntax, slot: String) {
            let (type, place) = (property.type, "slot: \(slot)")
            let fallback = property.initialValue.map { " ?? (\($0.text))" } ?? ""
            switch type.kind {
            case .scalar where property.isTransient, .objectID where property.isTransient:
                getter = "transient(\(place))" + (type.isOptional ? "" : fallback)
                setter = "setTransient(newValue, \(place))"
            case .scalar(.int):
                // Models have no attribute type `Int`, so the accessor converts from `Int64`.
                getter =
                    type.isOptional
                    ? "optionalInt64(\(place)).map { Int(truncatingIfNeeded: $0) }"
                    : "Int(truncatingIfNeeded: int64(\(place)))"
                setter =
                    type.isOptional
                    ? "setOptionalInt64(newValue.map { Int64($0) }, \(place))" : "setInt64(Int64(newValue), \(place))"
            case .scalar(let scalar):
                let optional = type.isOptional ? "Optional" : ""
                getter = (type.isOptional ? "optional\(scalar.accessor)" : scalar.getter) + "(\(place))"
                setter = "set\(optional)\(scalar.accessor)(newValue, \(place))"
            case .objectID:
                getter = "reference(\(place))"
                setter = "setReference(newValue, \(place))"
            case .composite:
                getter = "composite(\(place))"
                setter = "setComposite(newValue, \(place))"
            case .toMany(_, let isOrdered):
                getter = (isOrdered ? "orderedToMany" : "toMany") + "(\(place))"
                setter = (isOrdered ? "setOrderedToMany" : "setToMany") + "(newValue, \(place))"
            case .other where property.isRelationship:
                getter = "toOne(\(place))"
                setter = "setToOne(newValue, \(place))"
            case .other:
                getter = "modelValue(\(place))" + (type.isOptional ? "" : fallback)
                setter = "setModelValue(newValue, \(place))"
            }
            isDerived = property.isDerived
        }

        /// The accessor block, which follows the property's type.
        var code: String {
            var lines = ["{", "    get { \(getter) }"]
            if !isDerived { lines.append("    set { \(setter) }") }
            return (lines + ["}"]).joined(separator: "\n")
        }
    }
#endif
