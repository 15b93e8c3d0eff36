internal import Roost
internal import RoostCore

/// A writer of one entity's records, which resolves the properties once.
struct RecordWriter {
    private let entity: ManagedObjectModel.Entity
    private let fields: [RecordLayout.Field]
    /// The positions of the values, sorted by the index of each value's field.
    private let order: [Int]

    /// Creates a writer; dotted paths in `properties` refer to elements of composites.
    init(_ entity: EntityName, properties: [String], model: ManagedObjectModel) throws(StoreError) {
        self.entity = try model.requireEntity(entity)
        var fields: [RecordLayout.Field] = []
        for property in properties { fields.append(try self.entity.layout.requireField(property)) }
        self.fields = fields
        order = fields.indices.sorted { fields[$0].index < fields[$1].index }
    }

    /// Appends a record; `values` are in the order of the initializer's `properties`.
    func append(_ key: Int, values: [Value], to batch: inout RecordBatch) throws(StoreError) {
        batch.beginRecord(entity.layout, key: Int64(key), version: 1)
        do throws(StoreError) {
            for position in order { try batch.set(values[position], for: fields[position]) }
        } catch {
            batch.abandonRecord()
            throw error
        }
        batch.endRecord()
    }
}
