internal import RoostCore
internal import RoostMigration

/// A text that the checks store, and that must not appear in an error message.
let plantedSecret = "tr0ub4dor-secret"

func expect(_ condition: Bool, _ expected: String, otherwise actual: @autoclosure () -> String = "it is not so") throws
{
    guard condition else { throw Mismatch(expected: expected, actual: actual()) }
}

/// Fails unless both values are equal, and shows both.
func expectEqual<T: Equatable>(_ actual: T, _ expected: T, _ what: String) throws {
    guard actual != expected else { return }
    throw Mismatch(expected: "\(what): \(shortened("\(expected)"))", actual: shortened("\(actual)"))
}

/// Fails unless both lists are equal, and shows the first difference.
func expectEqual<T: Equatable>(_ actual: [T], _ expected: [T], _ what: String) throws {
    guard actual != expected else { return }
    // The search is slow, so it runs only after a failure.
    let index = zip(actual, expected).enumerated().first { $1.0 != $1.1 }?.offset ?? min(actual.count, expected.count)
    func around(_ list: [T]) -> String {
        let (from, to) = (max(0, index - 2), min(list.count, index + 6))
        guard list.count > 10 else { return "\(list)" }
        return "\(list.count) elements, from number \(from) on: \(from < to ? Array(list[from..<to]) : [])"
    }
    throw Mismatch(expected: "\(what): \(shortened(around(expected)))", actual: shortened(around(actual)))
}

/// Fails unless both contents are equal, and shows one difference.
func expectEqual(_ actual: StoreContents, _ expected: StoreContents, _ what: String) throws {
    if let difference = actual.difference(from: expected) { throw Mismatch(expected: what, actual: difference) }
}

/// Fails unless `body` throws a store error with one of the codes, and returns the error.
///
/// The message must be one line, and the error must not show ``plantedSecret``.
@discardableResult
func expectError(_ codes: StoreError.Code..., in what: String, _ body: () throws -> Void) throws -> StoreError {
    let wanted = codes.map(\.description).joined(separator: " or ")
    do {
        try body()
    } catch let error as StoreError {
        guard codes.contains(error.code) else {
            throw Mismatch(expected: "\(what) fails with \(wanted)", actual: "\(error)")
        }
        guard !error.message.isEmpty, !error.message.contains("\n") else {
            throw Mismatch(expected: "\(what) fails with a message of one line", actual: "'\(error.message)'")
        }
        guard !"\(error)".contains(plantedSecret) else {
            throw Mismatch(expected: "\(what) fails without showing stored values", actual: "\(error)")
        }
        return error
    }
    throw Mismatch(expected: "\(what) fails with \(wanted)", actual: "it succeeded")
}

/// Fails unless a generation differs from an earlier one, and is later if generations have an
/// order.
func expectLater(
    _ generation: Generation, than earlier: Generation, on bench: Workbench, what: String
) throws {
    try expect(generation != earlier, "\(what): another one than \(earlier)", otherwise: "\(generation)")
    let capabilities = bench.fixture.capabilities
    try expectEqual(
        capabilities.isEarlier(earlier, than: generation), capabilities.contains(.totalOrder) ? true : nil,
        "whether \(what), \(generation), is later than \(earlier)")
}

func shortened(_ text: String) -> String {
    text.count <= 600 ? text : text.prefix(600) + " … (\(text.count) characters)"
}

func require<T>(_ value: T?, _ what: String) throws -> T {
    guard let value else { throw Mismatch(expected: what, actual: "nothing") }
    return value
}
