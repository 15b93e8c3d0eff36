import RoostConformance
import SortedFile
import Testing

private let fixture = StoreFixture(SortedFileStoreType(), peer: .besideTests("SortedFilePeer"))

@Test("A sorted file does what the contract says", arguments: ConformanceCheck.all)
func check(_ check: ConformanceCheck) throws { try check.run(on: fixture) }

@Test("Random change sets affect a sorted file and a plain model alike", arguments: [UInt64.random(in: 1...999_999)])
func lockStep(seed: UInt64) throws { try LockStep.run(on: [fixture], seed: seed, operationCount: 2000) }
