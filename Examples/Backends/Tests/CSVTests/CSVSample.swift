import Foundation
import RoostConformance
import RoostCore

/// Writes a CSV file of 1200 rows, and returns its location and expected content.
@Sendable
func csvSample(in directory: String) throws -> StoreSample {
    let model = try ManagedObjectModel(entities: [
        EntityDescription(
            "Reading", attributes: [.string("place"), .integer64("number"), .double("degrees"), .boolean("valid")])
    ])
    var (text, changes) = ("number,place,valid,degrees\r\n", ChangeSet(model: model))
    for key in 1...1200 {
        let place = key % 5 == 0 ? nil : "station \(key % 7), \"north\""
        let degrees = key % 11 == 0 ? nil : Double(key % 400) / 8 - 20
        var values: [String: Value] = ["number": .int(Int64(key * 37 % 1000)), "valid": .bool(key % 3 == 0)]
        values["place"] = place.map(Value.string)
        values["degrees"] = degrees.map(Value.double)
        try changes.insert(ObjectID("Reading", key: Int64(key)), values: values)
        let quoted = place.map { "\"\($0.replacingOccurrences(of: "\"", with: "\"\""))\"" } ?? ""
        text += "\(key * 37 % 1000),\(quoted),\(key % 3 == 0),\(degrees.map { "\($0)" } ?? "")\r\n"
    }
    var content = ReferenceStore(model: model)
    try content.commit(changes)
    try Data(text.utf8).write(to: URL(fileURLWithPath: directory + "/sample.csv"))
    return StoreSample(
        StoreLocation(type: "csv", path: directory + "/sample.csv"), options: StoreOptions(model: model),
        holding: content)
}
