internal import RoostCore

/// A value in the form in which it compares, with bytes of its own.
struct OwnedOperand {
    private let constant: Bytes?
    /// The value; its bytes last as long as this.
    let operand: PredicateOperand

    /// Bytes that never move.
    private final class Bytes {
        let memory: UnsafeMutableRawBufferPointer

        init(_ bytes: UnsafeRawBufferPointer) {
            memory = .allocate(byteCount: bytes.count, alignment: 1)
            memory.copyMemory(from: bytes)
        }

        deinit { memory.deallocate() }
    }

    /// Null.
    init() { (constant, operand) = (nil, .null) }

    /// A copy.
    init(_ operand: PredicateOperand) {
        guard case .bytes(let bytes) = operand else {
            (constant, self.operand) = (nil, operand)
            return
        }
        // SAFETY: the operand is of use only together with this, which holds its bytes.
        let copy = Bytes(bytes)
        (constant, self.operand) = (copy, .bytes(UnsafeRawBufferPointer(copy.memory)))
    }

    /// Runs `body` with the value, whose bytes are held meanwhile.
    func withOperand<Result>(_ body: (PredicateOperand) -> Result) -> Result {
        withExtendedLifetime(constant) { body(operand) }
    }
}
