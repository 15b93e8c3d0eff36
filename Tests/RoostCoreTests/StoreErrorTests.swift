import RoostCore
import Testing

@Suite("Changed store errors")
struct StoreErrorTests {
    private struct SystemCode: Error, Equatable { let number: Int }

    private let full = StoreError(
        .conflict, "first",
        damagedObject: ObjectID("Album", key: 5), underlying: SystemCode(number: 28)
    ).with {
        $0.conflicts = [ObjectConflict(id: ObjectID("Album", key: 1), expectedVersion: 3, current: nil)]
        $0.violations = [
            ConstraintViolation(
                entity: "Album", attributes: ["title"], rejected: ObjectID("Album", key: 2),
                existing: ObjectID("Album", key: 3))
        ]
        $0.denials = [
            DeleteDenial(
                relationship: RelationshipName("Album", name: "artist"), deleted: ObjectID("Artist", key: 1),
                remaining: ObjectID("Album", key: 4), reason: .mandatory)
        ]
        $0.textColumn = 7
        $0.missingObjects = [ObjectID("Artist", key: 6)]
        $0.failures = [ValidationFailure(.row(2), entity: "Album", property: "title", kind: .missing)]
    }

    /// Returns an error's stored properties by name, except `names`.
    private func payloads(_ error: StoreError, without names: Set<String>) -> [String: String] {
        var payloads: [String: String] = [:]
        for child in Mirror(reflecting: error).children {
            guard let name = child.label, !names.contains(name) else { continue }
            payloads[name] = String(reflecting: child.value)
        }
        return payloads
    }

    @Test("an error with another message keeps its code and every payload")
    func messages() {
        let changed = full.withMessage("second")
        #expect(changed.message == "second" && changed.code == .conflict)
        let expected = payloads(full, without: ["message"])
        #expect(payloads(changed, without: ["message"]) == expected)
        #expect(payloads(full.located(in: "line 3"), without: ["message"]) == expected)
        #expect(full.located(in: "line 3").message == "line 3: first")
        // Every payload of `full` has a value, so a lost payload is noticed.
        let empty = payloads(StoreError(.conflict, "first"), without: ["code", "message"])
        for (name, value) in empty { #expect(expected[name] != value, "\(name)") }
    }

    @Test("an error with another message and code keeps every payload")
    func codes() {
        let changed = full.withMessage("second", code: .corrupted)
        #expect(changed.message == "second" && changed.code == .corrupted)
        let names: Set = ["code", "message"]
        #expect(payloads(changed, without: names) == payloads(full, without: names))
        #expect(changed.underlying as? SystemCode == SystemCode(number: 28))
    }

    @Test("an error that names another damaged object keeps the rest")
    func damage() {
        let changed = full.naming(damagedObject: ObjectID("Track", key: 9))
        #expect(changed.damagedObject == ObjectID("Track", key: 9))
        let names: Set = ["damagedObject"]
        #expect(payloads(changed, without: names) == payloads(full, without: names))
    }

    @Test("an error without its damaged object keeps the rest")
    func undamaged() {
        let changed = full.withoutDamagedObject
        #expect(changed.damagedObject == nil)
        let names: Set = ["damagedObject"]
        #expect(payloads(changed, without: names) == payloads(full, without: names))
    }

    @Test("a replaced error message is cleaned and shortened like the first message")
    func lines() {
        #expect(full.withMessage("a\u{7}b\nc").message == StoreError(.conflict, "a\u{7}b\nc").message)
        #expect(full.withMessage(String(repeating: "x", count: 1 << 20)).message.utf8.count < 1 << 17)
    }
}
