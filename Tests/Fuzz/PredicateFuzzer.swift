import RoostCore
import RoostQuery

/// Reads one input of libFuzzer as a text; a trap is a finding.
///
/// A predicate must be the same after printing and reading, with and without a model. Each text is
/// also read with arguments and as an expression.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPredicate(_ bytes: UnsafePointer<UInt8>, count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    if let predicate = try? FetchRequest.Predicate(format: text) {
        guard let printed = try? predicate.format(), let again = try? FetchRequest.Predicate(format: printed),
            again == predicate
        else { fatalError("reads back as another predicate: \(text)") }
    }
    if let predicate = try? FetchRequest.Predicate(text, for: "Thing", model: model) {
        guard let printed = try? predicate.format(for: "Thing", model: model),
            let again = try? FetchRequest.Predicate(printed, for: "Thing", model: model), again == predicate
        else { fatalError("reads back as another predicate for an entity: \(text)") }
    }
    _ = try? FetchRequest.Predicate(format: text, "a.b", 1, [1.5])
    _ = try? FetchRequest.Expression(format: text)
    return 0
}

private let model: ManagedObjectModel = {
    let things: [AttributeDescription] = AttributeType.allCases.compactMap { type in
        type == .undefined || type == .composite ? nil : AttributeDescription("a\(type)", type: type)
    }
    let entities = [
        EntityDescription(
            "Thing",
            attributes: things + [
                .init("c", type: .composite, elements: [.init("x", type: .double), .init("y", type: .string)])
            ],
            relationships: [.toOne("one", to: "Thing", inverse: "many"), .toMany("many", to: "Thing", inverse: "one")])
    ]
    guard let model = try? ManagedObjectModel(entities: entities) else { fatalError("the fuzzer's model is wrong") }
    return model
}()
