// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The declarations of the module Roost that generated classes use, with bodies that do nothing.
// Tests type-check generated code against them. They must match Sources/Graph/RoostGraph.

import Foundation

public struct EntityName: Hashable, Sendable {
    public let text: String
    public init(_ text: String) { self.text = text }
}

public struct StoreError: Error, Sendable {}
public struct ValidationFailure: Error, Sendable {}
public enum Value: Hashable, Sendable { case null }
public struct ObjectID: Hashable, Sendable {}

public enum AttributeType: Sendable {
    case undefined, integer16, integer32, integer64, decimal, double, float, string, boolean, date, binaryData, uuid
    case uri, transformable, objectID, composite
}

public enum RecordLayout {
    public enum Field {
        public enum Kind: Sendable {
            case decimal, uuid, objectID, polymorphicReference, reference, order, integer64, double, date, integer32
            case float, integer16, boolean, composite, string, uri, data, transformable
        }
    }
}

public struct ManagedObjectModel: Sendable {
    public struct Entity: Sendable {}
    public init(document: [UInt8]) throws(StoreError) {}
}

public protocol PropertyNaming {
    static func propertyName(of keyPath: AnyKeyPath) -> String?
}

public protocol EntityRepresentable: PropertyNaming {
    static var entityName: EntityName { get }
}

public struct ClassShape: Sendable {
    public struct Property: Sendable {
        public let name: String
        public static func field(
            _ name: String, as kind: RecordLayout.Field.Kind, at offset: Int, field index: Int
        ) -> Property { Property(name: name) }
        public static func field(_ name: String, as kind: RecordLayout.Field.Kind) -> Property { Property(name: name) }
        public static func toMany(_ name: String, isOrdered: Bool) -> Property { Property(name: name) }
        public static func transient(_ name: String, as type: AttributeType) -> Property { Property(name: name) }
    }
    public let properties: [Property]
    public init(_ entity: EntityName, properties: [Property]) { self.properties = properties }
}

public final class ManagedObjectContext {}
public struct ObjectSeat {}
public struct ManagedObjectID<Object>: Hashable, Sendable {}
public struct Fetch<Object>: Sendable {}
public struct ToMany<Element: ManagedObject> {}
public struct OrderedToMany<Element: ManagedObject> {}
public struct DynamicProperties {}

public protocol ManagedObjectClass: ManagedObject, EntityRepresentable {
    static var shape: ClassShape { get }
}

extension ManagedObjectClass {
    public init(context: ManagedObjectContext) { self.init(place: ObjectSeat()) }
    public var id: ManagedObjectID<Self> { ManagedObjectID() }
    public static func fetch() -> Fetch<Self> { Fetch() }
}

open class ManagedObject {
    public required init(place: ObjectSeat) {}

    public final var objectID: ObjectID { ObjectID() }
    public final var entity: ManagedObjectModel.Entity { ManagedObjectModel.Entity() }
    public final var context: ManagedObjectContext? { nil }
    public final var isFault: Bool { false }
    public final var isInserted: Bool { false }
    public final var isUpdated: Bool { false }
    public final var isDeleted: Bool { false }
    public final var hasChanges: Bool { false }
    public final var hasPersistentChangedValues: Bool { false }
    public final var version: UInt32 { 0 }
    public final var dynamic: DynamicProperties { DynamicProperties() }

    public final subscript(_ name: String) -> Value {
        get { .null }
        set {}
    }
    public final func value(_ name: String) throws(StoreError) -> Value { .null }
    public final func setValue(_ value: Value, for name: String) throws(StoreError) {}
    public final func object(_ relationship: String) throws(StoreError) -> ManagedObject? { nil }
    public final func objects(_ relationship: String) throws(StoreError) -> ToMany<ManagedObject> { ToMany() }
    public final func orderedObjects(_ relationship: String) throws(StoreError) -> OrderedToMany<ManagedObject> {
        OrderedToMany()
    }
    public final func hasFault(for relationship: String) -> Bool { false }
    public final func changedValues() -> [String: Value] { [:] }
    public final func changedValuesForCurrentEvent() -> [String: Value] { [:] }
    public final func committedValues(_ names: [String]? = nil) throws(StoreError) -> [String: Value] { [:] }

    open func awakeFromInsert() {}
    open func awakeFromFetch() {}
    open func prepareForDeletion() {}
    open func willSave() {}
    open func didSave() {}
    open func willTurnIntoFault() {}
    open func didTurnIntoFault() {}
    open func validate(_ value: inout Value, for property: String) throws(ValidationFailure) {}
    open func validateForInsert() -> [ValidationFailure] { [] }
    open func validateForUpdate() -> [ValidationFailure] { [] }
    open func validateForDelete() -> [ValidationFailure] { [] }
}

extension ManagedObject: Hashable {
    public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }
    public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ManagedObject: CustomStringConvertible {
    public final var description: String { "" }
}

// MARK: Accessors

extension ManagedObject {
    public final func int16(at offset: Int) -> Int16 { 0 }
    public final func optionalInt16(at offset: Int, field: Int) -> Int16? { nil }
    public final func setInt16(_ value: Int16, at offset: Int, field: Int) {}
    public final func setOptionalInt16(_ value: Int16?, at offset: Int, field: Int) {}
    public final func int16(slot: Int) -> Int16 { 0 }
    public final func optionalInt16(slot: Int) -> Int16? { nil }
    public final func setInt16(_ value: Int16, slot: Int) {}
    public final func setOptionalInt16(_ value: Int16?, slot: Int) {}
    public final func int32(at offset: Int) -> Int32 { 0 }
    public final func optionalInt32(at offset: Int, field: Int) -> Int32? { nil }
    public final func setInt32(_ value: Int32, at offset: Int, field: Int) {}
    public final func setOptionalInt32(_ value: Int32?, at offset: Int, field: Int) {}
    public final func int32(slot: Int) -> Int32 { 0 }
    public final func optionalInt32(slot: Int) -> Int32? { nil }
    public final func setInt32(_ value: Int32, slot: Int) {}
    public final func setOptionalInt32(_ value: Int32?, slot: Int) {}
    public final func int64(at offset: Int) -> Int64 { 0 }
    public final func optionalInt64(at offset: Int, field: Int) -> Int64? { nil }
    public final func setInt64(_ value: Int64, at offset: Int, field: Int) {}
    public final func setOptionalInt64(_ value: Int64?, at offset: Int, field: Int) {}
    public final func int64(slot: Int) -> Int64 { 0 }
    public final func optionalInt64(slot: Int) -> Int64? { nil }
    public final func setInt64(_ value: Int64, slot: Int) {}
    public final func setOptionalInt64(_ value: Int64?, slot: Int) {}
    public final func double(at offset: Int) -> Double { 0 }
    public final func optionalDouble(at offset: Int, field: Int) -> Double? { nil }
    public final func setDouble(_ value: Double, at offset: Int, field: Int) {}
    public final func setOptionalDouble(_ value: Double?, at offset: Int, field: Int) {}
    public final func double(slot: Int) -> Double { 0 }
    public final func optionalDouble(slot: Int) -> Double? { nil }
    public final func setDouble(_ value: Double, slot: Int) {}
    public final func setOptionalDouble(_ value: Double?, slot: Int) {}
    public final func float(at offset: Int) -> Float { 0 }
    public final func optionalFloat(at offset: Int, field: Int) -> Float? { nil }
    public final func setFloat(_ value: Float, at offset: Int, field: Int) {}
    public final func setOptionalFloat(_ value: Float?, at offset: Int, field: Int) {}
    public final func float(slot: Int) -> Float { 0 }
    public final func optionalFloat(slot: Int) -> Float? { nil }
    public final func setFloat(_ value: Float, slot: Int) {}
    public final func setOptionalFloat(_ value: Float?, slot: Int) {}
    public final func bool(at offset: Int) -> Bool { false }
    public final func optionalBool(at offset: Int, field: Int) -> Bool? { nil }
    public final func setBool(_ value: Bool, at offset: Int, field: Int) {}
    public final func setOptionalBool(_ value: Bool?, at offset: Int, field: Int) {}
    public final func bool(slot: Int) -> Bool { false }
    public final func optionalBool(slot: Int) -> Bool? { nil }
    public final func setBool(_ value: Bool, slot: Int) {}
    public final func setOptionalBool(_ value: Bool?, slot: Int) {}
    public final func date(at offset: Int) -> Date { Date() }
    public final func optionalDate(at offset: Int, field: Int) -> Date? { nil }
    public final func setDate(_ value: Date, at offset: Int, field: Int) {}
    public final func setOptionalDate(_ value: Date?, at offset: Int, field: Int) {}
    public final func date(slot: Int) -> Date { Date() }
    public final func optionalDate(slot: Int) -> Date? { nil }
    public final func setDate(_ value: Date, slot: Int) {}
    public final func setOptionalDate(_ value: Date?, slot: Int) {}
    public final func text(at offset: Int, field: Int) -> String { "" }
    public final func optionalText(at offset: Int, field: Int) -> String? { nil }
    public final func setText(_ value: String, at offset: Int, field: Int) {}
    public final func setOptionalText(_ value: String?, at offset: Int, field: Int) {}
    public final func text(slot: Int) -> String { "" }
    public final func optionalText(slot: Int) -> String? { nil }
    public final func setText(_ value: String, slot: Int) {}
    public final func setOptionalText(_ value: String?, slot: Int) {}
    public final func data(at offset: Int, field: Int) -> Data { Data() }
    public final func optionalData(at offset: Int, field: Int) -> Data? { nil }
    public final func setData(_ value: Data, at offset: Int, field: Int) {}
    public final func setOptionalData(_ value: Data?, at offset: Int, field: Int) {}
    public final func data(slot: Int) -> Data { Data() }
    public final func optionalData(slot: Int) -> Data? { nil }
    public final func setData(_ value: Data, slot: Int) {}
    public final func setOptionalData(_ value: Data?, slot: Int) {}
    public final func uuid(slot: Int) -> UUID { UUID() }
    public final func optionalUUID(slot: Int) -> UUID? { nil }
    public final func setUUID(_ value: UUID, slot: Int) {}
    public final func setOptionalUUID(_ value: UUID?, slot: Int) {}
    public final func decimal(slot: Int) -> Decimal { 0 }
    public final func optionalDecimal(slot: Int) -> Decimal? { nil }
    public final func setDecimal(_ value: Decimal, slot: Int) {}
    public final func setOptionalDecimal(_ value: Decimal?, slot: Int) {}
    public final func reference(slot: Int) -> ObjectID? { nil }
    public final func setReference(_ value: ObjectID?, slot: Int) {}
    public final func composite(slot: Int) -> [String: Value]? { nil }
    public final func setComposite(_ value: [String: Value]?, slot: Int) {}
    public final func coded<T: Codable & Sendable>(slot: Int) -> T? { nil }
    public final func setCoded<T: Codable & Sendable>(_ value: T?, slot: Int) {}
    public final func transient<T>(slot: Int) -> T? { nil }
    public final func setTransient<T>(_ value: T?, slot: Int) {}
    public final func toOne<T: ManagedObject>(at offset: Int, field: Int) -> T? { nil }
    public final func setToOne<T: ManagedObject>(_ value: T?, at offset: Int, field: Int) {}
    public final func toOne<T: ManagedObject>(slot: Int) -> T? { nil }
    public final func setToOne<T: ManagedObject>(_ value: T?, slot: Int) {}
    public final func toMany<T: ManagedObject>(slot: Int) -> ToMany<T> { ToMany() }
    public final func setToMany<T: ManagedObject>(_ value: ToMany<T>, slot: Int) {}
    public final func orderedToMany<T: ManagedObject>(slot: Int) -> OrderedToMany<T> { OrderedToMany() }
    public final func setOrderedToMany<T: ManagedObject>(_ value: OrderedToMany<T>, slot: Int) {}
}
