internal import RoostCore

/// A hash set of constants.
final class OperandSet: @unchecked Sendable {
    // Proof of Sendable: nothing changes after `init`. The bytes of operands belong to `constants`.

    private let constants: [PredicateConstant]
    /// A hash table of indexes into ``constants`` with linear probing; −1 marks a free slot.
    private let table: PlainArray<Int32>
    private let operands: PlainArray<Element>
    private let mask: Int
    let containsNull: Bool

    private struct Element: @unchecked Sendable {
        // Proof of Sendable: a value that never changes. The bytes belong to the set's constants.
        let operand: PredicateOperand
    }

    init(_ constants: [PredicateConstant]) {
        self.constants = constants
        var capacity = 16
        while capacity < constants.count * 2 { capacity *= 2 }
        var table = [Int32](repeating: -1, count: capacity)
        var containsNull = false
        for (position, constant) in constants.enumerated() {
            if case .null = constant.operand { containsNull = true }
            // NaN equals no value, not even itself.
            guard PredicateOperand.equal(constant.operand, constant.operand) else { continue }
            var place = Self.hash(constant.operand) & (capacity - 1)
            // A repeated constant reuses its slot, because a second slot would lengthen runs.
            while table[place] >= 0, !Self.isSame(constants[Int(table[place])].operand, constant.operand) {
                place = (place + 1) & (capacity - 1)
            }
            table[place] = Int32(truncatingIfNeeded: position)
        }
        mask = capacity - 1
        self.table = PlainArray(table)
        operands = PlainArray(constants.map { Element(operand: $0.operand) })
        self.containsNull = containsNull
    }

    func contains(_ operand: PredicateOperand) -> Bool {
        if case .null = operand { return containsNull }
        var place = Self.hash(operand) & mask
        while table[place] >= 0 {
            if PredicateOperand.equal(operands[Int(table[place])].operand, operand) { return true }
            place = (place + 1) & mask
        }
        return false
    }

    /// The length of the longest run of used slots, which limits the comparisons of a lookup.
    var longestRun: Int {
        var (longest, run) = (0, 0)
        for place in 0...mask {
            run = table[place] >= 0 ? run + 1 : 0
            longest = max(longest, run)
        }
        return longest
    }

    /// Returns the hash of an operand, which is the same for equal operands.
    ///
    /// A number of any type is hashed as its nearest double.
    static func hash(_ operand: PredicateOperand) -> Int {
        switch operand {
        case .null: return 0
        case .integer(let number): return mix(Double(number).bitPattern)
        case .double(let number): return mix((number.isNaN ? .nan : number == 0 ? 0 : number).bitPattern)
        case .decimal(let number):
            return mix(number.isNaN ? 0 : (number.mantissa == 0 ? 0 : number.nearestDouble).bitPattern)
        case .bytes(let bytes): return Int(truncatingIfNeeded: RecordHash.bytes(bytes) >> 1)
        case .object(let root, let key): return mix(UInt64(bitPattern: key) ^ UInt64(truncatingIfNeeded: root) << 48)
        case .present: return 1
        }
    }

    /// Whether both operands are the same value in the same case of ``PredicateOperand``.
    ///
    /// Equal values of different cases must all be in the set, because equality between cases is
    /// not transitive: two different decimals can equal the same double.
    private static func isSame(_ left: PredicateOperand, _ right: PredicateOperand) -> Bool {
        switch (left, right) {
        case (.integer, .integer), (.double, .double), (.decimal, .decimal), (.bytes, .bytes), (.object, .object):
            PredicateOperand.equal(left, right)
        case (.null, .null), (.present, .present): true
        default: false
        }
    }

    private static func mix(_ bits: UInt64) -> Int {
        var bits = bits
        bits = (bits ^ bits >> 32) &* 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ bits >> 29) &* 0xBF58_476D_1CE4_E5B9
        return Int(truncatingIfNeeded: (bits ^ bits >> 32) >> 1)
    }
}
