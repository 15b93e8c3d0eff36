import CSV
import Foundation
import RoostConformance
import RoostCore
import Testing

private let fixture = StoreFixture(
    CSVStoreType(),
    exclusions: [
        ConformanceExclusion("opening.open.foreign-file", because: "CSV has no mark of its own: any text is one.")
    ],
    sample: sample)

@Test("A CSV file does what the contract says of stores that only read", arguments: ConformanceCheck.all)
func check(_ check: ConformanceCheck) throws { try check.run(on: fixture) }

/// A file with nulls, equal values and more rows than a batch holds, and what it holds.
@Sendable private func sample(in directory: String) throws -> StoreSample {
    let model = try ManagedObjectModel(entities: [
        EntityDescription("Row", attributes: [.string("city"), .string("name")])
    ])
    var (text, changes) = ("city,name\n", ChangeSet(model: model))
    for key in 1...3000 {
        let (city, name) = (key % 5 == 0 ? "" : "city \(key % 9)", "name \(key * 7 % 800)")
        text += "\(city),\(name)\n"
        let values: [String: Value] = ["city": city.isEmpty ? .null : .string(city), "name": .string(name)]
        try changes.insert(ObjectID("Row", Int64(key)), values: values)
    }
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory)/sample.csv"))
    var content = ReferenceStore(model: model)
    try content.commit(changes)
    return StoreSample(StoreURL(type: "csv", path: "\(directory)/sample.csv"), holding: content)
}
