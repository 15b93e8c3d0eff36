import Observation
import Roost
import RoostCore
import RoostGraph

/// A signal that code on any thread can set.
final class Signal: Sendable {
    private let value = Mutex(0)
    var count: Int { value.withLock { $0 } }
    var isSet: Bool { count > 0 }
    func set() { value.withLock { $0 += 1 } }
}

/// All properties of the objects of a context, each observed alone.
@MainActor
struct ObservationWatch {
    private struct Reading {
        let object: ManagedObject
        let property: String
        let text: String
        let signal: Signal
    }

    private let readings: [Reading]

    /// Fetches `entities`, and observes the context's objects that are not deleted.
    init(_ context: ManagedObjectContext, fetching entities: [String] = PlainGraph.entities) throws {
        var readings: [Reading] = []
        let fetched = try entities.map { try context.fetch(FetchRequest(EntityName($0))) }
        defer { withExtendedLifetime(fetched) {} }
        for object in context.registeredObjects where !object.isDeleted {
            for property in Self.properties(of: object) {
                let signal = Signal()
                let text = withObservationTracking {
                    Self.text(property, of: object)
                } onChange: {
                    signal.set()
                }
                readings.append(Reading(object: object, property: property, text: text, signal: signal))
            }
        }
        self.readings = readings
    }

    private static func properties(of object: ManagedObject) -> [String] {
        object.entity.attributes.map(\.name) + object.entity.relationships.map(\.name.name) + ["isDeleted"]
    }

    private static func text(_ property: String, of object: ManagedObject) -> String {
        if property == "isDeleted" { return "\(object.isDeleted)" }
        do throws(StoreError) {
            guard let relationship = object.entity.relationship(property), relationship.isToMany else {
                return "\(try object.value(property))"
            }
            if relationship.isOrdered { return "\(try object.orderedObjects(property).map(\.objectID.key))" }
            return "\(try object.objects(property).map(\.objectID.key))"
        } catch { return "\(error.code)" }
    }

    /// Throws if a property changed or its object left the context without a report.
    func check() throws {
        for reading in readings where !reading.signal.isSet {
            guard reading.object.context != nil else {
                throw Problem("\(reading.object.objectID) left the context without a report")
            }
            let text = Self.text(reading.property, of: reading.object)
            guard text != reading.text else { continue }
            throw Problem(
                "\(reading.property) of \(reading.object.objectID) was \(reading.text), is \(text), without a report")
        }
    }
}
