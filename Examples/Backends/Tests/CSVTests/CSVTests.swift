import CSV
import RoostConformance
import RoostCore
import Testing

private let fixture = StoreFixture(CSVStoreType()).with { $0.sample = csvSample }

@Test("A CSV file does what the contract says of stores that only read", arguments: ConformanceCheck.all)
func check(_ check: ConformanceCheck) throws { try check.run(on: fixture) }
