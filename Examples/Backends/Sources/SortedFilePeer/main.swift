import Foundation
import RoostConformance
import SortedFile

exit(ConformancePeer.main([SortedFileStoreType()]))
