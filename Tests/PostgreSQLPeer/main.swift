#if PostgreSQL
    import Foundation
    import RoostConformance
    import RoostPostgreSQL

    // Without the arguments of a writer process, the program follows the commands of a conformance check.
    if let writers = WriterProcess(arguments: CommandLine.arguments.dropFirst()) { exit(writers.run()) }
    exit(ConformancePeer.main([PostgreSQLStoreType()]))
#endif
