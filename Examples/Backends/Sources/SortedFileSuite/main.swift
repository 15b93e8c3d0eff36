import Foundation
import RoostConformance
import SortedFile

exit(ConformanceRunner.main([StoreFixture(SortedFileStoreType())]))
