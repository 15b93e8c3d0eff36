import CSV
import RoostConformance
import Testing

@Test("A CSV file does what the contract says of stores that only read", arguments: ConformanceCheck.all)
func check(_ check: ConformanceCheck) throws { try check.run(on: StoreFixture(CSVStoreType())) }
