#if Macros
    public import RoostGraph

    // Accessors for properties whose kind the macro cannot determine. The compiler selects an
    // overload by the property's type.

    extension ManagedObject {
        /// Returns the destination of a to-one relationship.
        public final func modelValue<Object: ManagedObject>(slot: Int) -> Object? { toOne(slot: slot) }

        /// Sets a to-one relationship, and updates the inverse.
        public final func setModelValue<Object: ManagedObject>(_ object: Object?, slot: Int) {
            setToOne(object, slot: slot)
        }

        /// Returns the value of a simple attribute.
        public final func modelValue<T: AttributeValue>(slot: Int) -> T? { T(attribute: value(slot: slot)) }

        /// Sets a simple attribute.
        public final func setModelValue<T: AttributeValue>(_ value: T?, slot: Int) {
            setValue(value?.attributeValue ?? .null, slot: slot)
        }

        /// Returns an enumeration's value, or nil if the raw value is null or matches no case.
        public final func modelValue<T: RawRepresentable>(slot: Int) -> T? where T.RawValue: AttributeValue {
            T.RawValue(attribute: value(slot: slot)).flatMap { T(rawValue: $0) }
        }

        /// Sets an enumeration.
        public final func setModelValue<T: RawRepresentable>(_ value: T?, slot: Int) where T.RawValue: AttributeValue {
            setValue(value?.rawValue.attributeValue ?? .null, slot: slot)
        }

        /// Returns the value of an attribute that is stored as JSON.
        @_disfavoredOverload
        public final func modelValue<T: Codable & Sendable>(slot: Int) -> T? { coded(slot: slot) }

        /// Sets an attribute that is stored as JSON.
        @_disfavoredOverload
        public final func setModelValue<T: Codable & Sendable>(_ value: T?, slot: Int) { setCoded(value, slot: slot) }
    }
#endif
