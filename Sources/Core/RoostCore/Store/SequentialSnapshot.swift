/// A snapshot that reads its records and links from one text, always from the beginning.
///
/// Reading any list of records or links also reads all text before the list. To read everything
/// efficiently, read whole lists on one thread, in the order of root entities, then of
/// relationships.
package protocol SequentialSnapshot: StoreSnapshot {}
