internal import Foundation
public import RoostCore

// Access by name, for scripts, tests and programs without classes.

extension ManagedObject {
    /// The value of a property by name.
    ///
    /// The value of a to-one relationship is the ID of its destination. If the name is unknown or
    /// the value has the wrong type, the next save, fetch or count throws an error. Use
    /// ``value(_:)`` and ``setValue(_:for:)`` to get errors immediately. An object that has left
    /// its context ignores new values.
    public final subscript(_ name: String) -> Value {
        get { core.latching { () throws(StoreError) in try value(name) } ?? .null }
        set { _ = core.latching { () throws(StoreError) in try assign(newValue, name: name) } }
    }

    /// Returns the value of a property.
    ///
    /// - Throws: `unknownProperty`; `invalidRequest` for a to-many relationship; errors from
    ///   reading.
    public final func value(_ name: String) throws(StoreError) -> Value {
        if let attribute = info.transients[name] {
            noteAccess(.transient(name))
            return extra?.transients[name] ?? attribute.defaultValue
        }
        guard let field = info.entity.layout.field(name) else { throw unknown(name) }
        let isUnread = isFault
        let value = value(of: field)
        noteAccess(field)
        if isUnread, row == nil { try core.throwLatched() }
        return value
    }

    /// Sets the value of a property.
    ///
    /// The value of a to-one relationship is the ID of its destination.
    ///
    /// - Throws: `unknownProperty`; `invalidValue` for a value of the wrong type or out of range;
    ///   `invalidRequest` for a to-many relationship or a derived attribute; `unknownEntity` for an
    ///   ID of an unknown entity; errors from reading; `closed` if the object has left its context.
    ///   After an error, the object is unchanged.
    public final func setValue(_ value: Value, for name: String) throws(StoreError) {
        try requireContext(toSet: name)
        try assign(value, name: name)
    }

    final func requireContext(toSet name: String) throws(StoreError) {
        guard flags.contains(.orphan) else { return }
        throw StoreError(.closed, "\(objectID) has left its context, so '\(name)' cannot be set. Fetch it again.")
    }

    /// Sets the value of a property, or does nothing to an object that has left its context.
    final func assign(_ value: Value, name: String) throws(StoreError) {
        if let attribute = info.transients[name] { return try setTransient(value, attribute: attribute) }
        guard let field = info.entity.layout.field(name) else { throw unknown(name) }
        if let relationship = info.entity.relationship(name) {
            return try setReference(value, relationship: relationship)
        }
        if info.entity.attribute(name)?.derivationExpression != nil {
            throw StoreError(
                .invalidRequest,
                "Cannot set '\(info.entity.name).\(name)': it is a derived attribute, which saves compute. Change the values that it is derived from."
            )
        }
        guard let property = property(of: field) else {
            try set(value, for: field)
            return core.reportChanges()
        }
        try setting(property) { () throws(StoreError) in try set(value, for: field) }
    }

    private final func unknown(_ name: String) -> StoreError {
        if info.entity.relationship(name) != nil {
            return StoreError(
                .invalidRequest,
                "Relationship '\(info.entity.name).\(name)' is to-many; use objects(_:) or orderedObjects(_:).")
        }
        let names = info.entity.layout.fields.map(\.name) + Array(info.transients.keys)
        let hint = nearestName(to: name, among: names).map { "; did you mean '\($0)'?" } ?? "."
        return StoreError(.unknownProperty, "Entity '\(info.entity.name)' has no property '\(name)'\(hint)")
    }

    private final func setReference(
        _ value: Value, relationship: ManagedObjectModel.Relationship
    ) throws(StoreError) {
        try core.requireReference(value, relationship: relationship)
        guard case .objectID(let id) = value else { return setDestination(nil, relationship: relationship.number) }
        // An object that has left its context ignores the value.
        guard context != nil else { return }
        let destination = try core.requireDestination(id, relationship: relationship)
        setDestination(destination, relationship: relationship.number)
    }

    final func value(of field: RecordLayout.Field) -> Value { withReader { $0.value(field) } }

    final func withReader<Result>(_ body: (RecordReader) -> Result) -> Result {
        let row = firedRow
        let count = self.row == nil ? tail.tail : Int(byteCount)
        return body(RecordReader(row: row, byteCount: count, key: key, model: core.model))
    }

    final func set(_ value: Value, for field: RecordLayout.Field) throws(StoreError) {
        // Check the whole value before any change.
        guard !flags.contains(.orphan) else { return }
        _ = firedRow
        var replacements: [(field: RecordLayout.Field, value: Value)] = []
        collect(value, field: field, replacements: &replacements)
        replacements.sort { $0.field.index < $1.field.index }
        var batch = RecordBatch(model: core.model)
        let count = Int(byteCount)
        guard let row else { return try core.throwLatched() }
        try batch.append(
            RecordReader(row: row, byteCount: count, key: key, model: core.model), replacing: replacements)
        batch.withRecord(at: 0) { core.setPrivateRow(of: self, to: $0.bytes) }
    }

    /// Collects the new value of a field and, for a composite, of its elements.
    ///
    /// Missing elements become null.
    final func collect(
        _ value: Value, field: RecordLayout.Field,
        replacements: inout [(field: RecordLayout.Field, value: Value)]
    ) {
        replacements.append((field, value))
        guard field.kind == .composite else { return }
        var elements: [String: Value] = [:]
        if case .composite(let given) = value { elements = given }
        let prefix = field.name + "."
        for element in info.entity.layout.fields where element.name.hasPrefix(prefix) {
            let name = String(element.name.dropFirst(prefix.count))
            guard !name.contains(".") else { continue }
            collect(elements[name] ?? .null, field: element, replacements: &replacements)
        }
    }

    // MARK: Transient attributes

    private final func setTransient(_ value: Value, attribute: AttributeDescription) throws(StoreError) {
        guard value.isNull || value.fits(attribute.type) else {
            throw StoreError(
                .invalidValue,
                "'\(info.entity.name).\(attribute.name)' has type \(attribute.type.name), which cannot be \(value.kindDescription)."
            )
        }
        guard !flags.contains(.orphan) else { return }
        setting(.transient(attribute.name)) {
            core.noteTransient(attribute.name, of: self)
            core.note(self)
            requireExtra().transients[attribute.name] = value
        }
    }

    /// Returns the value of a transient attribute.
    public final func transient<T: AttributeValue>(slot: Int) -> T? {
        guard info.slots.indices.contains(slot), info.slots[slot].isTransient else { return nil }
        return core.latching { () throws(StoreError) in try value(info.slots[slot].name) }.flatMap { T(attribute: $0) }
    }

    /// Sets a transient attribute.
    public final func setTransient<T: AttributeValue>(_ value: T?, slot: Int) {
        guard info.slots.indices.contains(slot), info.slots[slot].isTransient else { return }
        self[info.slots[slot].name] = value?.attributeValue ?? .null
    }

    // MARK: Transformable attributes

    /// Returns the value of a transformable attribute, decoded from JSON.
    ///
    /// The decoded value is cached until the attribute is set or the row is replaced. If the bytes
    /// cannot be decoded, the next save, fetch or count throws an error.
    public final func coded<T: Codable & Sendable>(slot: Int) -> T? {
        guard let field = field(slot) else { return nil }
        let row = firedRow
        noteAccess(field)
        guard !RowAccess.isNull(row, field: field.index) else { return nil }
        if let known = extra?.decoded[slot] as? T { return known }
        guard let data = optionalData(at: field.byteOffset, field: field.index) else { return nil }
        do {
            let value = try JSONDecoder().decode(T.self, from: data)
            if !flags.contains(.orphan) { requireExtra().decoded[slot] = value }
            return value
        } catch {
            core.latch(
                StoreError(
                    .invalidValue,
                    "'\(field.name)' of \(objectID) does not hold a value of type '\(T.self)': \(type(of: error))."))
            return nil
        }
    }

    /// Sets a transformable attribute.
    ///
    /// JSON objects are encoded with sorted keys, so that equal dictionaries have equal bytes.
    public final func setCoded<T: Codable & Sendable>(_ value: T?, slot: Int) {
        guard let field = field(slot) else { return }
        guard let value else {
            extra?.decoded[slot] = nil
            return setOptionalData(nil, at: field.byteOffset, field: field.index)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let data = try encoder.encode(value)
            extra?.decoded[slot] = nil
            setData(data, at: field.byteOffset, field: field.index)
            if !flags.contains(.orphan) { requireExtra().decoded[slot] = value }
        } catch {
            core.latch(
                StoreError(
                    .invalidValue, "A value of type '\(T.self)' for '\(field.name)' of \(objectID) has no JSON form."))
        }
    }

    // MARK: Changes

    /// Returns the current values that differ from the saved values, by property name.
    ///
    /// The result contains stored attributes and to-one relationships. For a new object, it
    /// contains all values except null.
    public final func changedValues() -> [String: Value] {
        guard state.contains(.privateRow), let row else { return [:] }
        return differences(of: row, count: Int(byteCount), from: PrivateRow.committed(row), current: true)
    }

    /// Returns the pre-event values of the stored properties that changed in this event.
    public final func changedValuesForCurrentEvent() -> [String: Value] {
        guard state.contains(.touched), state.contains(.privateRow), let row else { return [:] }
        let old = extra?.eventRow ?? PrivateRow.committed(row)
        return differences(of: row, count: Int(byteCount), from: old, current: false)
    }

    /// Returns the saved values of the given properties; if `names` is nil, all saved values except
    /// null.
    ///
    /// - Throws: `unknownProperty`; errors from reading a fault.
    public final func committedValues(_ names: [String]? = nil) throws(StoreError) -> [String: Value] {
        if let names { for name in names where info.entity.layout.field(name) == nil { throw unknown(name) } }
        _ = firedRow
        if row == nil { try core.throwLatched() }
        guard let committed = committedRow else { return [:] }
        let reader = RecordReader(
            row: committed, byteCount: tail.byteCount(committed), key: key, model: core.model)
        guard let names else { return reader.values() }
        var values: [String: Value] = [:]
        for name in names { values[name] = try reader.value(name) }
        return values
    }

    private final func differences(
        of row: UnsafeRawPointer, count: Int, from old: UnsafeRawPointer?, current: Bool
    ) -> [String: Value] {
        let new = RecordReader(row: row, byteCount: count, key: key, model: core.model)
        let former = old.map {
            RecordReader(row: $0, byteCount: tail.byteCount($0), key: key, model: core.model)
        }
        var values: [String: Value] = [:]
        for field in info.entity.layout.fields where field.kind != .order && !field.name.contains(".") {
            let (newValue, oldValue) = (new.value(field), former?.value(field) ?? .null)
            if newValue != oldValue { values[field.name] = current ? newValue : oldValue }
        }
        return values
    }

    /// The properties as dynamic members, for scripts and tests.
    ///
    /// ```swift
    /// album.dynamic.title = "Blue"
    /// ```
    public final var dynamic: DynamicProperties {
        get { DynamicProperties(object: self) }
        set {}
    }
}

/// The properties of an object as dynamic members.
@dynamicMemberLookup
public struct DynamicProperties {
    let object: ManagedObject

    /// The value of the property with the member's name.
    public subscript(dynamicMember name: String) -> Value {
        get { object[name] }
        nonmutating set { object[name] = newValue }
    }
}
