internal import RoostCore

extension RecordDecoder {
    /// Returns a value of type `Known` as a value of type `T`, and throws if the types differ.
    @inline(__always)
    func identical<Known, T>(_ value: Known, property: CodedProperty) throws(StoreError) -> T {
        guard Known.self == T.self else { throw mismatch(T.self, property: property) }
        // SAFETY: the guard ensures that the types are equal. A dynamic cast would cost more than
        // reading the field.
        return unsafeBitCast(value, to: T.self)
    }
}
