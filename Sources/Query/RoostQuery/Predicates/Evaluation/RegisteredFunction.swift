public import RoostCore

/// A Swift function that predicates can call: `FUNCTION(target, "name", …)`.
///
/// Names are registered for the whole process. A function must always return the same value for the
/// same arguments, on every thread, because otherwise results differ between stores.
///
/// ```swift
/// try RegisteredFunction.register("decade", argumentCount: 1, returning: .integer64) { values in
///     guard case .int(let year) = values[0] else { return .null }
///     return .int(year / 10 * 10)
/// }
/// let albums = try store.fetch("Album", where: "FUNCTION(year, 'decade') == 1970")
/// ```
public struct RegisteredFunction: Sendable {
    /// The name in predicates.
    package let name: String
    package let argumentCount: Int?
    package let resultType: AttributeType
    let body: @Sendable ([Value]) throws -> Value

    private static let functions = Mutex<[String: RegisteredFunction]>([:])

    /// Registers a function under a name.
    ///
    /// - Parameters:
    ///   - name: The name in predicates.
    ///   - argumentCount: The number of arguments, including the target; nil for any number.
    ///   - resultType: The type of the results, which may also be null.
    ///   - body: The function. It runs on the thread of the fetch, while the store may be locked
    ///     for reading. If the function throws an error, the fetch fails.
    /// - Throws: `invalidRequest` if the name is empty, already registered, or the name of a
    ///   built-in function, or if the result type is composite or undefined.
    public static func register(
        _ name: String, argumentCount: Int? = nil, returning resultType: AttributeType,
        _ body: @escaping @Sendable ([Value]) throws -> Value
    ) throws(StoreError) {
        guard !name.isEmpty, FetchRequest.Function(rawValue: name) == nil else {
            throw StoreError(
                .invalidRequest,
                "A registered function cannot have the name '\(name)'; choose a name that is not empty and not the name of a built-in function."
            )
        }
        guard resultType != .composite, resultType != .undefined else {
            throw StoreError(.invalidRequest, "The function '\(name)' cannot return values of type \(resultType).")
        }
        let function = RegisteredFunction(
            name: name, argumentCount: argumentCount, resultType: resultType, body: body)
        let isNew = functions.withLock { functions in
            guard functions[name] == nil else { return false }
            functions[name] = function
            return true
        }
        guard isNew else {
            throw StoreError(.invalidRequest, "The function '\(name)' is registered already; choose another name.")
        }
    }

    package static func named(_ name: String) -> RegisteredFunction? { functions.withLock { $0[name] } }
    package static var names: [String] { functions.withLock { $0.keys.sorted() } }

    /// Calls the function; throws `invalidValue` for a result of another family than the registered
    /// type.
    func value(of arguments: [Value]) throws(StoreError) -> Value {
        let value: Value
        do {
            value = try body(arguments)
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.invalidRequest, "The function '\(name)' failed.", underlying: error)
        }
        // A transformable value is represented by its bytes.
        let expected = resultType == .transformable ? .data : PredicateType.Kind(resultType)
        guard value.isNull || PredicateType.Kind(value).family == expected.family else {
            throw StoreError(
                .invalidValue,
                "The function '\(name)' returned \(value.kindDescription), but was registered for values of type \(resultType)."
            )
        }
        return value
    }
}
