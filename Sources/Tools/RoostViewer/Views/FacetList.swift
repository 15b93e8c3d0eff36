#if Interactive
    internal import RoostCore
    internal import RoostJSONText
    internal import RoostQuery

    /// The most frequent values of a property among the objects of a request.
    struct FacetList {
        private static let valueCount = 30
        private static let conditionByteCount = 8192

        private let name: String
        private let request: FetchRequest
        private let entity: ManagedObjectModel.Entity
        private let model: ManagedObjectModel
        private let type: AttributeType?

        init(
            _ name: String, request: FetchRequest, entity: ManagedObjectModel.Entity, model: ManagedObjectModel
        ) throws(ViewerError) {
            (self.name, self.request, self.entity, self.model) = (name, request, entity, model)
            guard let column = TableColumn.all(of: entity).first(where: { $0.name == name }) else {
                throw ViewerError(
                    .badRequest, code: "unknownProperty", message: "'\(entity.name)' has no property '\(name)'.")
            }
            if case .toMany = column.content {
                throw ViewerError(
                    .badRequest, message: "'\(name)' is a to-many relationship, whose values cannot be counted.")
            }
            guard column.type != .composite else {
                throw ViewerError(.badRequest, message: "'\(name)' is a composite, whose values cannot be counted.")
            }
            type = column.type
        }

        /// Returns the values with their counts, the most frequent first.
        func answer(_ snapshot: any StoreSnapshot) throws -> JSONNode {
            var rows = RowRequest(
                request.with { $0.sortDescriptors = [FetchRequest.SortDescriptor("objects", ascending: false)] },
                propertiesToFetch: [
                    FetchRequest.FetchedProperty("value", expression: .keyPath([name])),
                    FetchRequest.FetchedProperty("objects", expression: .keyPath(["@count"])),
                ], propertiesToGroupBy: [.keyPath([name])])
            rows.fetchLimit = Self.valueCount + 1
            let cursor = try snapshot.rows(rows)
            var (values, batch) = ([(Value, Value)](), RowBatch())
            while try cursor.next(into: &batch) {
                for row in 0..<batch.count { values.append((batch[row, 0], batch[row, 1])) }
            }
            var titles = ObjectTitles(model)
            try titles.read(
                values.compactMap { if case .objectID(let id) = $0.0 { id } else { nil } }, from: snapshot)
            let writer = CellWriter(titles: titles)
            let isComplete = values.count <= Self.valueCount
            let required = request.predicate?.conjuncts ?? []
            let list = try values.prefix(Self.valueCount).map { value, count in
                let text = try condition(value)
                return JSONNode([
                    "value": writer.node(value, type: type), "count": writer.node(count),
                    "where": JSONNode(text), "isApplied": JSONNode(isApplied(text, among: required)),
                ])
            }
            return JSONNode([
                "name": JSONNode(name), "values": JSONNode(list: list), "isComplete": JSONNode(isComplete),
            ])
        }

        /// Returns the condition for a value, or nil if the condition is too long for an address.
        private func condition(_ value: Value) throws(StoreError) -> String? {
            let text = try PredicateHelp.text(name, isEqualTo: value, entity: entity, model: model)
            return text.utf8.count <= Self.conditionByteCount ? text : nil
        }

        /// Returns whether the condition for a value is one of the required conditions.
        private func isApplied(_ text: String?, among required: [FetchRequest.Predicate]) -> Bool {
            guard let text, !required.isEmpty,
                let condition = try? FetchRequest.Predicate(text, for: entity.name, model: model)
            else { return false }
            return required.contains(condition)
        }
    }
#endif
