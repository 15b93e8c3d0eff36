// swift-format-ignore-file: OrderedImports

// This file exports what a program uses from other modules. Authors of backends import RoostCore and other modules
// directly instead.
//
// Cursors, batches of records, snapshots and change sets are exported for programs that use a
// `PersistentStore` directly.

// MARK: Models

@_exported public import struct RoostCore.ManagedObjectModel
@_exported public import protocol RoostCore.Adjustable
@_exported public import struct RoostCore.EntityDescription
@_exported public import struct RoostCore.AttributeDescription
@_exported public import struct RoostCore.AttributeValidation
@_exported public import enum RoostCore.AttributeType
@_exported public import struct RoostCore.RelationshipDescription
@_exported public import enum RoostCore.DeleteRule
@_exported public import struct RoostCore.FetchIndexDescription
@_exported public import struct RoostCore.FetchedPropertyDescription
@_exported public import struct RoostCore.FetchRequestTemplate
@_exported public import struct RoostCore.EntityName
@_exported public import struct RoostCore.RelationshipName

// MARK: Values and objects

@_exported public import enum RoostCore.Value
@_exported public import struct RoostCore.ObjectID
@_exported public import struct RoostCore.StoreUUID
@_exported public import struct RoostCore.Record
@_exported public import struct RoostCore.RecordBatch
@_exported public import struct RoostCore.Link
@_exported public import struct RoostCore.LinkBatch

// MARK: Fetching

@_exported public import struct RoostCore.FetchRequest
@_exported public import struct RoostCore.RowRequest
@_exported public import struct RoostCore.FetchPlan
@_exported public import protocol RoostCore.RecordCursor
@_exported public import protocol RoostCore.LinkCursor
@_exported public import protocol RoostQuery.RowCursor
@_exported public import struct RoostQuery.RowBatch
// The whole module, because an operator cannot be exported alone.
@_exported public import RoostPredicates
@_exported public import protocol RoostQuery.PredicateArgument
@_exported public import struct RoostQuery.Assignments
@_exported public import struct RoostQuery.RegisteredFunction

// MARK: Stores

@_exported public import class RoostCore.StoreRegistry
@_exported public import struct RoostCore.StoreLocation
@_exported public import struct RoostCore.StoreOptions
@_exported public import struct RoostCore.HistoryToken
@_exported public import struct RoostCore.HistoryTransaction
@_exported public import struct RoostCore.HistoryChange
@_exported public import struct RoostCore.HistoryLinkChange
@_exported public import struct RoostCore.HistoryRequest
@_exported public import struct RoostCore.HistoryRetention
@_exported public import struct RoostCore.PersistentStoreDescription
@_exported public import protocol RoostCore.PersistentStoreType
@_exported public import protocol RoostCore.PersistentStore
@_exported public import protocol RoostCore.StoreSnapshot
@_exported public import struct RoostCore.StoreMetadata
@_exported public import enum RoostCore.MetadataValue
@_exported public import struct RoostCore.StoreCapabilities
@_exported public import struct RoostCore.StoreCapability
@_exported public import struct RoostCore.StoreTally
@_exported public import struct RoostCore.Tally
@_exported public import struct RoostCore.StoreDigest
@_exported public import struct RoostCore.Generation
@_exported public import struct RoostCore.ExternalChanges
@_exported public import struct RoostCore.StoreFinding
@_exported public import class RoostStores.Store
@_exported public import class RoostStores.StoreView
@_exported public import struct RoostStores.StoreRecords
@_exported public import func RoostStores.checkStore
@_exported public import struct RoostStores.RoostConfiguration
@_exported public import struct RoostStores.StoreMaintenance
@_exported public import struct RoostStores.CompactionReport

// MARK: Changing

@_exported public import struct RoostCore.ChangeSet
@_exported public import struct RoostCore.CommitReceipt
@_exported public import struct RoostCore.SaveNotice
@_exported public import struct RoostStores.SaveNotices
@_exported public import protocol RoostCore.BulkLoader
@_exported public import struct RoostCore.BulkLoadOptions
@_exported public import struct RoostCore.BatchInsertRequest
@_exported public import struct RoostCore.BatchUpdateRequest
@_exported public import struct RoostCore.BatchDeleteRequest
@_exported public import enum RoostCore.ConflictRule
@_exported public import enum RoostCore.BatchResultType
@_exported public import struct RoostCore.BatchResult

// MARK: Errors

@_exported public import struct RoostCore.StoreError
@_exported public import struct RoostCore.ObjectConflict
@_exported public import struct RoostCore.ConstraintViolation
@_exported public import struct RoostCore.DeleteDenial
@_exported public import struct RoostCore.ValidationFailure

// MARK: Conversion

@_exported public import struct RoostMigration.MigrationManager
@_exported public import enum RoostMigration.ConversionEndpoint
@_exported public import struct RoostMigration.ConversionOptions
@_exported public import class RoostMigration.ConversionCancellation
@_exported public import struct RoostMigration.ConversionProgress
@_exported public import struct RoostMigration.ConversionPlan
@_exported public import struct RoostMigration.ConversionReport
@_exported public import enum RoostMigration.StoreComparison
@_exported public import struct RoostMigration.StoreDifference

// MARK: Migration

@_exported public import struct RoostMigration.MigrationOptions
@_exported public import struct RoostMigration.MigrationPlan
@_exported public import struct RoostMigration.MigrationReport
@_exported public import struct RoostMigration.MigrationLoss
@_exported public import struct RoostMigration.MigrationLossRefusal
@_exported public import enum RoostMigration.IncompatibleStoreRule
@_exported public import struct RoostMigration.ModelHistory
@_exported public import struct RoostMigration.MappingModel
@_exported public import struct RoostMigration.EntityMapping
@_exported public import struct RoostMigration.PropertyMapping
@_exported public import class RoostMigration.EntityMigrationPolicy
@_exported public import class RoostMigration.MigrationSession
@_exported public import protocol RoostMigration.ObjectValues
@_exported public import struct RoostMigration.SourceObject
@_exported public import struct RoostMigration.DestinationObject
@_exported public import struct RoostMigration.StagedMigrationManager
@_exported public import enum RoostMigration.MigrationStage
@_exported public import struct RoostMigration.CustomMigrationStage
@_exported public import struct RoostMigration.LightweightMigrationStage

// MARK: Objects in contexts

@_exported public import RoostGraph
