import RoostCore

@testable import RoostAppleModels
@testable import RoostCoreData
@testable import RoostMigration

/// Reads one input of libFuzzer; a trap, more than ten seconds or more than 512 MiB is a finding.
///
/// The first byte of an input selects its readers: `b` for binary property lists and archives, `<`
/// for XML, and any other byte for model and mapping documents.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzModelFile(_ start: UnsafePointer<UInt8>, count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    switch bytes.first {
    case UInt8(ascii: "b"):
        use { () throws(StoreError) in try ModelCacheReader.read(archive: bytes, file: "fuzz").model }
        _ = try? ArchivedExpression.expression(in: KeyedArchive(bytes, file: "fuzz"))
        _ = try? PredicateText.predicate(KeyedArchive(bytes, file: "fuzz").rootObject())
        _ = try? ModelOutline(archive: bytes, file: "fuzz", budget: DecodingBudget())
        _ = try? PropertyListValue.read(bytes, file: "fuzz")
    case UInt8(ascii: "<"):
        use { () throws(StoreError) in try CoreDataModelReader.read(xml: bytes, file: "fuzz").model }
        _ = try? CoreDataMappingReader.read(xml: bytes, file: "fuzz")
        _ = try? PropertyListValue.read(bytes, file: "fuzz")
    default:
        use { () throws(StoreError) in try ManagedObjectModel(document: bytes) }
        _ = try? MappingModel(document: bytes)
    }
    return 0
}

/// Reads a model and writes it as a document, which must be read as the same model.
private func use(_ read: () throws(StoreError) -> ManagedObjectModel) {
    guard let model = try? read() else { return }
    guard (try? ManagedObjectModel(document: model.document())) == model else { fatalError("reads back differently") }
}
