internal import RoostCore

/// An operand that owns its bytes.
struct OwnedOperand {
    private let constant: Bytes?
    /// The operand, whose bytes are valid as long as this value exists.
    let operand: PredicateOperand

    /// Bytes at a fixed address.
    private final class Bytes {
        let memory: UnsafeMutableRawBufferPointer

        init(_ bytes: UnsafeRawBufferPointer) {
            memory = .allocate(byteCount: bytes.count, alignment: 1)
            memory.copyMemory(from: bytes)
        }

        deinit { memory.deallocate() }
    }

    init() { (constant, operand) = (nil, .null) }

    init(_ operand: PredicateOperand) {
        guard case .bytes(let bytes) = operand else {
            (constant, self.operand) = (nil, operand)
            return
        }
        // SAFETY: the operand is used only together with this value, which owns the bytes.
        let copy = Bytes(bytes)
        (constant, self.operand) = (copy, .bytes(UnsafeRawBufferPointer(copy.memory)))
    }

    /// Runs `body` with the operand, and keeps the operand's bytes valid until `body` returns.
    func withOperand<Result>(_ body: (PredicateOperand) -> Result) -> Result {
        withExtendedLifetime(constant) { body(operand) }
    }
}
