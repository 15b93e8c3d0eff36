#if PostgreSQL
    import Foundation
    import RoostConformance
    import RoostPostgreSQL

    exit(ConformancePeer.main([PostgreSQLStoreType()]))
#endif
