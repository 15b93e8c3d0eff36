#if SQLite
    import Foundation
    import PlainSQL
    import RoostConformance

    exit(ConformancePeer.main([PlainSQLStoreType()]))
#endif
