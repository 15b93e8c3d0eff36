import Testing

@testable import RoostMigration

@Suite("Paths through versions")
struct VersionPathTests {
    private func inferred(_ from: Int, to: Int) -> VersionStep { VersionStep(from: from, to: to, kind: .inferred) }
    private func mapping(_ from: Int, to: Int, number: Int = 0) -> VersionStep {
        VersionStep(from: from, to: to, kind: .mapping(number))
    }
    private func same(_ from: Int) -> VersionStep { VersionStep(from: from, to: from + 1, kind: .same) }

    @Test("a path through versions goes from neighbor to neighbor")
    func neighbors() {
        let steps = (0..<4).map { inferred($0, to: $0 + 1) }
        #expect(VersionPath.shortest(from: 0, to: 4, steps: steps) == steps)
        #expect(VersionPath.shortest(from: 2, to: 4, steps: steps) == Array(steps[2...]))
        #expect(VersionPath.shortest(from: 2, to: 2, steps: steps) == [])
    }

    @Test("a path through versions takes a mapping model that skips versions if the path becomes shorter")
    func skipping() {
        let steps = (0..<4).map { inferred($0, to: $0 + 1) }
        #expect(
            VersionPath.shortest(from: 0, to: 4, steps: steps + [mapping(0, to: 3)]) == [
                mapping(0, to: 3), inferred(3, to: 4),
            ])
        #expect(VersionPath.shortest(from: 1, to: 4, steps: steps + [mapping(0, to: 3)]) == Array(steps[1...]))
        // No path passes through its target and returns.
        #expect(VersionPath.shortest(from: 0, to: 2, steps: steps + [mapping(0, to: 3)]) == Array(steps[..<2]))
    }

    @Test("a path through versions prefers mapping models, and equally short paths have a fixed order")
    func preferences() {
        #expect(
            VersionPath.shortest(
                from: 0, to: 2,
                steps: [inferred(0, to: 1), inferred(1, to: 2), mapping(0, to: 1), mapping(1, to: 2, number: 1)])
                == [mapping(0, to: 1), mapping(1, to: 2, number: 1)])
        #expect(
            VersionPath.shortest(from: 0, to: 1, steps: [mapping(0, to: 1, number: 1), mapping(0, to: 1, number: 0)])
                == [mapping(0, to: 1, number: 0)])
        #expect(
            VersionPath.shortest(
                from: 0, to: 3,
                steps: [
                    mapping(0, to: 1, number: 0), mapping(1, to: 3, number: 1), mapping(0, to: 2, number: 2),
                    mapping(2, to: 3, number: 3),
                ])
                == [mapping(0, to: 2, number: 2), mapping(2, to: 3, number: 3)])
    }

    @Test("a path through versions has the fewest inferred steps of equally short paths")
    func fewerInferred() {
        let steps = [inferred(0, to: 2), inferred(2, to: 3), mapping(0, to: 1), inferred(1, to: 3)]
        #expect(VersionPath.shortest(from: 0, to: 3, steps: steps) == [mapping(0, to: 1), inferred(1, to: 3)])
    }

    @Test("a step between versions with equal storage does not count in the length of a path")
    func sameVersions() {
        let steps = [inferred(0, to: 1), same(1), inferred(2, to: 3), mapping(0, to: 3)]
        #expect(VersionPath.shortest(from: 0, to: 3, steps: steps) == [mapping(0, to: 3)])
        #expect(VersionPath.shortest(from: 0, to: 2, steps: steps) == [inferred(0, to: 1), same(1)])
        #expect(VersionPath.shortest(from: 1, to: 2, steps: steps) == [same(1)])
    }

    @Test("a path through versions has no gap, no backward step and no circle")
    func nowhere() {
        #expect(VersionPath.shortest(from: 0, to: 3, steps: [inferred(0, to: 1), inferred(2, to: 3)]) == nil)
        #expect(VersionPath.shortest(from: 3, to: 0, steps: [mapping(3, to: 0)]) == nil)
        let circle = [inferred(0, to: 1), mapping(1, to: 0), mapping(1, to: 1), inferred(1, to: 2)]
        #expect(VersionPath.shortest(from: 0, to: 2, steps: circle) == [inferred(0, to: 1), inferred(1, to: 2)])
    }

    @Test("a path through random steps is as short as one found by exhaustive search", arguments: UInt64(0)..<60)
    func random(seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        let count = 2 + numbers.below(7)
        let steps = (0..<numbers.below(16)).map { number in
            let (from, to) = (numbers.below(count), numbers.below(count))
            return numbers.below(2) == 0 ? inferred(from, to: to) : mapping(from, to: to, number: number)
        }
        func best(_ from: Int) -> (Int, Int)? {
            guard from != count - 1 else { return (0, 0) }
            return steps.filter { $0.from == from && $0.to > from }.compactMap { step in
                best(step.to).map { ($0.0 + 1, $0.1 + (step.kind == .inferred ? 1 : 0)) }
            }.min { $0 < $1 }
        }
        let path = VersionPath.shortest(from: 0, to: count - 1, steps: steps)
        let expected = best(0)
        #expect(path?.count == expected?.0)
        #expect(path?.filter { $0.kind == .inferred }.count == expected?.1)
        guard let path else { return }
        #expect(path.allSatisfy(steps.contains) && path.first?.from == 0 && path.last?.to == count - 1)
        #expect(zip(path, path.dropFirst()).allSatisfy { $0.to == $1.from })
    }
}

struct SeededNumbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func below(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % limit
    }
}
