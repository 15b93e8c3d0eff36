/// A snapshot of one text, in which reading a list also reads the text before the list.
///
/// To read the text only once, read whole lists on one thread: first the records in the order of
/// the root entities, then the links in the order of the relationships.
package protocol SequentialSnapshot: StoreSnapshot {}
