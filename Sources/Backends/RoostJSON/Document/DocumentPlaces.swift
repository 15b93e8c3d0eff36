internal import RoostCore
internal import RoostJSONText
internal import RoostKeyValue
internal import RoostText

/// A second reading of a document that finds the position of an error.
///
/// Some errors, such as a dangling reference, are found only after the text has been read. They are
/// rare, so the first reading does not store the position of every record.
struct DocumentPlaces {
    private let file: DocumentFile
    private let model: ManagedObjectModel

    init(_ file: DocumentFile, model: ManagedObjectModel) {
        self.file = file
        self.model = model
    }

    func error(_ dangling: KeyValueStore.DanglingReference) throws(StoreError) -> StoreError {
        guard let relationship = try? model.requireRelationship(dangling.relationship) else {
            throw StoreError(.internalInconsistency, "The relationship '\(dangling.relationship)' does not exist.")
        }
        let (source, destination) = (model.entities[relationship.source], model.entities[relationship.destination])
        let place: TextPosition?
        let what: String
        if case .field = relationship.storage {
            place = try record(dangling.source, root: source.root, property: relationship.name.name)
            what =
                "\(source.name)/p\(dangling.source) refers by '\(relationship.name.name)' to \(destination.name)/p\(dangling.target)"
        } else {
            place = try link(of: relationship, source: dangling.source, target: dangling.target)
            what =
                "a link of '\(relationship.name)' connects \(source.name)/p\(dangling.source) with \(destination.name)/p\(dangling.target)"
        }
        if let named = dangling.named {
            return located(
                place,
                message:
                    "\(source.name)/p\(dangling.source) refers by '\(relationship.name.name)' to \(model.entities[named].name)/p\(dangling.target), but the object with this key is of another entity; correct the entity or the key"
            )
        }
        let missing = dangling.lacksSource ? source : destination
        return located(
            place, message: "\(what), but no such \(missing.name) exists; correct the key, or add the object")
    }

    func error(_ violation: ConstraintViolation, error: StoreError) throws(StoreError) -> StoreError {
        let root = try model.requireEntity(violation.rejected.entity).root
        let place = try record(violation.rejected.key, root: root, property: violation.attributes.first)
        let first = try record(violation.existing.key, root: root, property: nil)
        let located = located(
            place,
            message:
                "\(violation.rejected) and \(violation.existing)\(first.map { " in line \($0.line)" } ?? "") have the same \(violation.attributes.joined(separator: ", ")), which must be unique in '\(violation.entity)'"
        )
        return error.withMessage(located.message, code: .corrupted)
    }

    /// Returns an error about the first record with a repeated key, or nil.
    func duplicate() throws(StoreError) -> StoreError? {
        var places: [Place: TextPosition] = [:]
        var found: StoreError?
        try visitRecords { (entity, key, place, _) in
            let object = Place(root: model.entities[entity].root, key: key)
            if let first = places.updateValue(place, forKey: object) {
                found = located(
                    place,
                    message:
                        "\(model.entities[entity].name)/p\(key) has the same key as the record in line \(first.line)")
                return false
            }
            return true
        }
        return found
    }

    func duplicateLink() throws(StoreError) -> StoreError? {
        var first: [Link: TextPosition] = [:]
        var found: StoreError?
        try visitLinks { (relationship, link, place) in
            let ends = Link(link.source, link.target)
            guard let earlier = first[ends] else {
                first[ends] = place
                return true
            }
            found = located(
                place,
                message:
                    "a link of '\(relationship.name)' from p\(link.source) to p\(link.target) is also in line \(earlier.line); remove one of them"
            )
            return false
        } next: {
            first = [:]
        }
        return found
    }

    private struct Place: Hashable {
        var root: Int
        var key: Int64
    }

    private func located(_ place: TextPosition?, message: String) -> StoreError {
        StoreError(.corrupted, "\(file.path)\(place.map { ", \($0)" } ?? ""): \(message).")
    }

    // MARK: Walking

    /// Returns the position of a record's property, or of the record if the property is nil or
    /// missing.
    private func record(_ key: Int64, root: Int, property: String?) throws(StoreError) -> TextPosition? {
        var found: TextPosition?
        try visitRecords { (entity, recordKey, place, properties) in
            guard recordKey == key, model.entities[entity].root == root else { return true }
            found = property.flatMap { properties[$0] ?? properties[$0 + "#value"] } ?? place
            return false
        }
        return found
    }

    /// Calls `body` for each record until `body` returns false.
    private func visitRecords(
        _ body: (_ entity: Int, _ key: Int64, _ place: TextPosition, _ properties: [String: TextPosition]) -> Bool
    ) throws(StoreError) {
        var text = file.reader()
        guard try enter(.records, text: &text) else { return }
        while try text.nextKey() {
            let name = text.text
            guard let entity = model.entities.first(where: { $0.name.text == name }) else { return }
            try text.expect(.beginArray, "a list of records")
            while try text.nextElement() {
                let place = text.tokenPosition
                var properties: [String: TextPosition] = [:]
                var key: Int64?
                while try text.nextKey() {
                    let property = text.text
                    properties[property] = text.tokenPosition
                    _ = try text.next()
                    if property == "id" { key = text.integer }
                    try text.skipRest()
                }
                guard let key, body(entity.number, key, place, properties) else { return }
            }
        }
    }

    private func link(
        of relationship: ManagedObjectModel.Relationship, source: Int64, target: Int64
    ) throws(StoreError) -> TextPosition? {
        var found: TextPosition?
        try visitLinks { (owner, link, place) in
            guard owner.number == relationship.number, link.source == source, link.target == target else { return true }
            found = place
            return false
        }
        return found
    }

    /// Calls `next` before each list, and `body` for each normalized link, until `body` returns
    /// false.
    private func visitLinks(
        _ body: (ManagedObjectModel.Relationship, Link, TextPosition) -> Bool, next: () -> Void = {}
    ) throws(StoreError) {
        var text = file.reader()
        guard try enter(.links, text: &text) else { return }
        while try text.nextKey() {
            let name = text.text
            guard let relationship = model.linkRelationships.first(where: { $0.name.description == name }) else {
                return
            }
            next()
            try text.expect(.beginArray, "a list of links")
            while try text.nextElement() {
                let place = text.tokenPosition
                let link = relationship.normalized(try LinkText.read(from: &text, of: relationship))
                guard body(relationship, link, place) else { return }
            }
        }
    }

    /// Moves into the object in a member, or returns false if the document lacks the member.
    private func enter(_ member: DocumentFormat.Member, text: inout JSONTokenReader) throws(StoreError) -> Bool {
        try text.expect(.beginObject, "a document")
        while try text.nextKey() {
            if text.text == member.key {
                try text.expect(.beginObject, "an object")
                return true
            }
            if text.text == DocumentFormat.Member.metadata.key {
                // Keys in the metadata may be longer than `skipValue()` permits.
                _ = try text.captureValue(byteCountLimit: JSONTokenReader.maximumTokenByteCount)
            } else {
                try text.skipValue()
            }
        }
        return false
    }
}
